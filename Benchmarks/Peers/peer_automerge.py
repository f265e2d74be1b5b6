"""automerge (PyPI ``automerge==1.0.0rc1``, bindings of automerge-rs 0.5.7) on the record-sync workloads.
Usage: peer_automerge.py [workload ...]

The binding has no ``apply_changes``, so a batch of changes travels as an automerge sync message
(``sync_message``), which is what a peer would receive. ``ScalarType.Counter`` panics in this binding
("not yet implemented"), so there is no counter workload.
"""
from __future__ import annotations

import common as c
from automerge.core import ROOT, Document, Message, ObjType, ScalarType, SyncState

P = "automerge"
STR, BOOL, INT = ScalarType.Str, ScalarType.Boolean, ScalarType.Int


def uleb(n: int) -> bytes:
    out = bytearray()
    while True:
        low, n = n & 127, n >> 7
        if n:
            out.append(low | 128)
        else:
            out.append(low)
            return bytes(out)


def sync_message(changes: list[bytes]) -> bytes:
    """A sync message with no heads, no needs, no haves and these changes."""
    return b"\x42\x00\x00\x00" + uleb(len(changes)) + b"".join(uleb(len(x)) + x for x in changes)


def apply(d: Document, msg: bytes) -> None:
    d.receive_sync_message(SyncState(), Message.decode(msg))


def doc(actor: int) -> Document:
    return Document(actor_id=actor.to_bytes(16, "big"))


def base(actor: int = 1, nrec: int = c.R):
    d = doc(actor)
    ids = []
    with d.transaction() as t:
        root = t.put_object(ROOT, "records", ObjType.Map)
        for i in range(nrec):
            o = t.put_object(root, c.rec(i), ObjType.Map)
            for j, f in enumerate(c.FIELDS):
                t.put(o, f, STR, c.value(i, j))
            ids.append(o)
    return d, ids


def ffi() -> None:
    d = doc(1)
    n = 100_000

    def run(_):
        f = d.get_actor
        for _ in range(n):
            f()

    c.emit(P, "ffi_call", n, c.bench(run))


def lww_fresh(length: int = 12) -> None:
    vals = c.values(length)
    names = [c.rec(i) for i in range(c.R)]

    def run(d):
        with d.transaction() as t:
            root = t.put_object(ROOT, "records", ObjType.Map)
            for i in range(c.R):
                o = t.put_object(root, names[i], ObjType.Map)
                v = vals[i]
                for j in range(c.F):
                    t.put(o, c.FIELDS[j], STR, v[j])

    c.emit(P, "lww_fresh_1e5" + ("" if length == 12 else f"_{length}"), 100_000, c.bench(run, lambda: doc(1)))


def lww_fresh_24() -> None:
    lww_fresh(24)


def flat_insert(d, keys, vals, kind=STR):
    with d.transaction() as t:
        for k, v in zip(keys, vals):
            t.put(ROOT, k, kind, v)
    return d


def lww_overwrite() -> None:
    idx = c.order(100_000, c.R * c.F)
    d, ids = base()

    def run(vals):
        with d.transaction() as t:
            for k, v in zip(idx, vals):
                t.put(ids[k // 10], c.FIELDS[k % 10], STR, v)

    c.emit(P, "lww_overwrite_1e5", 100_000, c.bench(run, c.new_values(idx)))


def lww_autocommit() -> None:
    d, ids = base()
    idx = c.order(1_000, c.R * c.F)

    def run(vals):
        for k, v in zip(idx, vals):
            with d.transaction() as t:
                t.put(ids[k // 10], c.FIELDS[k % 10], STR, v)

    c.emit(P, "lww_autocommit_1e3", 1_000, c.bench(run, c.new_values(idx)))


def read() -> None:
    d, ids = base()
    idx = c.order(100_000, c.R * c.F)

    def run(_):
        for k in idx:
            d.get(ids[k // 10], c.FIELDS[k % 10])

    c.emit(P, "read_1e5", 100_000, c.bench(run))


def orset() -> None:
    keys = [f"{k:x}" for k in c.order(100_000, 1 << 60, 7)]
    ones = [True] * 100_000

    def tags(d):
        """The map that stands in for the set of a record."""
        with d.transaction() as t:
            record = t.put_object(t.put_object(ROOT, "records", ObjType.Map), "r", ObjType.Map)
            return d, t.put_object(record, "tags", ObjType.Map)

    def insert(found):
        d, m = found
        with d.transaction() as t:
            for k in keys[:10_000]:
                t.put(m, k, BOOL, True)
        return found

    def rm(found):
        d, m = found
        with d.transaction() as t:
            for k in keys[:5_000]:
                t.delete(m, k)

    c.emit(P, "set_insert_1e4 (map as set)", 10_000, c.bench(insert, lambda: tags(doc(1))))
    c.emit(P, "set_remove_5e3 (map as set)", 5_000, c.bench(rm, lambda: insert(tags(doc(1)))))
    a = flat_insert(doc(1), keys[:90_000], ones, BOOL)
    heads0 = a.get_heads()
    b = Document.load(a.save())
    b.set_actor((2).to_bytes(16, "big"))
    for seed, d in ((8, a), (9, b)):
        flat_insert(d, [f"{k:x}" for k in c.order(10_000, 1 << 60, seed)], ones, BOOL)
    save_a, full_b = a.save(), sync_message([x.raw_bytes for x in b.get_changes([])])
    delta_b = sync_message([x.raw_bytes for x in b.get_changes(heads0)])

    def load(_=None):
        return Document.load(save_a)

    c.emit(P, "set_merge_1e5_10pct: apply delta (10k ops)", 100_000,
           c.bench(lambda d: apply(d, delta_b), load), bytes=len(delta_b))
    c.emit(P, "set_merge_1e5_10pct: apply all changes", 100_000,
           c.bench(lambda d: apply(d, full_b), load), bytes=len(full_b))
    c.emit(P, "set_merge_1e5_10pct: merge(other document in memory)", 100_000,
           c.bench(lambda d: d.merge(b), load))

    def loaded(_=None):
        d = load()
        apply(d, delta_b)
        return d

    c.emit(P, "remerge_equal_1e5: apply all changes again", 100_000,
           c.bench(lambda d: apply(d, full_b), loaded))
    one, other = loaded(), loaded()

    def compare(_):
        for _ in range(1000):
            assert one.get_heads() == other.get_heads()

    c.emit(P, "remerge_equal_1e5: versions", 1000, c.bench(compare))


def delta_sync(nrec: int = c.R) -> None:
    edits = nrec * c.F // 100
    a, ids = base(1, nrec)
    heads0 = a.get_heads()
    b = Document.load(a.save())
    b.set_actor((2).to_bytes(16, "big"))
    for seed, ver, d in ((11, 1, a), (12, 2, b)):
        with d.transaction() as t:
            for k in c.order(edits, nrec * c.F, seed):
                t.put(ids[k // 10], c.FIELDS[k % 10], STR, c.value(k // 10, k % 10, ver))

    def enc(_):
        return sync_message([x.raw_bytes for x in a.get_changes(heads0)])

    tag = f"delta_sync_{nrec}x10_1pct"
    c.emit(P, tag + ": encode", edits, c.bench(enc, reps=9))
    delta, snap_b = enc(None), b.save()
    c.emit(P, tag + ": apply", edits,
           c.bench(lambda d: apply(d, delta), lambda: Document.load(snap_b)), bytes=len(delta))


def single_op() -> None:
    a, ids = base(1)
    b = Document.load(a.save())
    n = 200
    writes = c.writes(n * 20, 5)
    size = []

    def run(_):
        for _ in range(n):
            k, v = next(writes)
            h = a.get_heads()
            with a.transaction() as t:
                t.put(ids[k // 10], c.FIELDS[k % 10], STR, v)
            msg = sync_message([x.raw_bytes for x in a.get_changes(h)])
            size.append(len(msg))
            apply(b, msg)

    t = c.bench(run)
    c.emit(P, "single_op_roundtrip_at_1e5", n, t, bytes=sorted(size)[len(size) // 2])


def small_deltas() -> None:
    a, ids = base(1)
    heads0 = a.get_heads()
    snap = a.save()
    for k, v in c.writes(10_000, 6):
        with a.transaction() as t:
            t.put(ids[k // 10], c.FIELDS[k % 10], STR, v)
    ups = [x.raw_bytes for x in a.get_changes(heads0)]
    msgs = [sync_message([u]) for u in ups]

    def one(d):
        for m in msgs:
            apply(d, m)

    assert len(ups) == 10_000
    c.emit(P, "apply_1e4_one_write_deltas", 10_000, c.bench(one, lambda: Document.load(snap), reps=3),
           bytes=sum(map(len, ups)))
    c.emit(P, "apply_1e4_one_write_deltas (one message)", 10_000,
           c.bench(lambda d: apply(d, sync_message(ups)), lambda: Document.load(snap)))


def snapshot(nrec: int = c.R) -> None:
    n = nrec * c.F
    a, _ = base(1, nrec)
    c.emit(P, f"snapshot_encode_{n}", n, c.bench(lambda _: a.save()))
    data = a.save()
    c.emit(P, f"snapshot_load_{n}", n, c.bench(lambda _: Document.load(data)), bytes=len(data))

    def load_read(_):
        d = Document.load(data)
        record = d.get(d.get(ROOT, "records")[1], "r00007")[1]
        return d.get(record, "f3")

    c.emit(P, f"snapshot_load_{n} + read one", n, c.bench(load_read))


def b3() -> None:
    """dmonad/crdt-benchmarks B3.1-3 (N = 6000): 20*floor(sqrt(N)) = 1540 clients set map['v'].

    As in the original, every client starts from the same one-change document that has the map.
    """
    k = 77 * 20
    d0 = doc(1)
    with d0.transaction() as t:
        m = t.put_object(ROOT, "map", ObjType.Map)
    start = d0.save()
    heads0 = d0.get_heads()

    def put_obj(t, i):
        o = t.put_object(m, "v", ObjType.Map)
        t.put(o, "name", STR, str(i))
        t.put(o, "address", STR, "here")

    for name, put in (("B3.1 number", lambda t, i: t.put(m, "v", INT, i)), ("B3.2 object", put_obj),
                      ("B3.3 string", lambda t, i: t.put(m, "v", STR, str(i) * k))):
        ups = []
        for i in range(k):
            d = Document.load(start)
            d.set_actor(c.splitmix64(i + 1).to_bytes(16, "big"))
            with d.transaction() as t:
                put(t, i)
            ups.append(d.get_changes(heads0)[0].raw_bytes)
        msg = sync_message(ups)
        msgs = [sync_message([u]) for u in ups]
        c.emit(P, f"{name}: time (one message)", k, c.bench(lambda d: apply(d, msg), lambda: Document.load(start)),
               updateSize=sum(map(len, ups)))

        def one(d):
            for x in msgs:
                apply(d, x)

        c.emit(P, f"{name}: time (one message per update)", k,
               c.bench(one, lambda: Document.load(start), reps=3))
        d = Document.load(start)
        apply(d, msg)
        data = d.save()
        c.emit(P, f"{name}: encode snapshot", 1, c.bench(lambda _: d.save()))
        c.emit(P, f"{name}: parse snapshot", 1, c.bench(lambda _: Document.load(data)), docSize=len(data))


def scale_n() -> None:
    for nrec in (100, 1000, 10_000, 100_000):
        delta_sync(nrec)


def scale_devices() -> None:
    for dev in (2, 10, 100, 1000):
        ups = []
        share = 100_000 // dev
        for p in range(dev):
            r = range(p * share, (p + 1) * share)
            d = flat_insert(doc(p + 1), [f"{c.rec(k // 10)}/f{k % 10}" for k in r],
                            [c.value(k // 10, k % 10) for k in r])
            ups += [x.raw_bytes for x in d.get_changes([])]
        msg = sync_message(ups)
        c.emit(P, f"scale_devices_{dev}: merge 1e5 fields (one message)", 100_000,
               c.bench(lambda d: apply(d, msg), lambda: doc(9999), reps=3), bytes=len(msg))
        d = doc(9999)
        apply(d, msg)
        data = d.save()
        h = d.get_heads()
        flat_insert(d, ["new"], ["x"])
        c.emit(P, f"scale_devices_{dev}: one-write delta", 1,
               c.bench(lambda _: d.get_changes(h)[0].raw_bytes, reps=21),
               bytes=len(d.get_changes(h)[0].raw_bytes), snapshot_bytes=len(data))


def history_growth() -> None:
    """1,000 records x 10 fields overwritten n times: what a snapshot and a one-write delta cost then."""
    for n in (0, 10_000, 100_000, 300_000):
        d, ids = base(1, 1000)
        idx = c.order(n, 10_000, 21)
        for at in range(0, n, 100):
            with d.transaction() as t:
                for x in range(at, at + 100):
                    k = idx[x]
                    t.put(ids[k // 10], c.FIELDS[k % 10], STR, c.value(k, x & 255, 3))
        snap = d.save()
        t0 = c.bench(lambda _: Document.load(snap), reps=3)
        h = d.get_heads()
        with d.transaction() as t:
            t.put(ids[0], "f0", STR, "one-more-one")
        one = c.bench(lambda _: d.get_changes(h)[0].raw_bytes, reps=9)
        c.emit(P, f"history_growth_{n}: load snapshot", 10_000, t0, bytes=len(snap),
               one_write_delta_bytes=len(d.get_changes(h)[0].raw_bytes), one_write_delta_ms=one["median_ms"])


def save_each(d: Document, ids: list, records: range) -> None:
    """Change one field of each record, in a transaction of its own."""
    for i in records:
        j = i % c.F
        with d.transaction() as t:
            t.put(ids[i], c.FIELDS[j], STR, c.value(i, j, 1))


def send(d: Document, state: SyncState, to: Document, of: SyncState) -> int:
    """Send the next sync message; returns its size, or 0 if no message is left."""
    msg = d.generate_sync_message(state)
    if msg is None:
        return 0
    data = msg.encode()
    to.receive_sync_message(of, Message.decode(data))
    return len(data)


def call(a: Document, b: Document, s: SyncState, t: SyncState) -> dict[str, int]:
    """Let ``a`` ask and ``b`` answer until no message is left.

    A round is a message and its answer; a last message without an answer is none.
    """
    size = rounds = 0
    while True:
        asked = send(a, s, b, t)
        answered = send(b, t, a, s)
        if not asked and not answered:
            break
        size += asked + answered
        rounds += answered > 0
    c.check_equal(a.get_heads(), b.get_heads())
    return {"bytes": size, "rounds": rounds}


def sync_messages() -> None:
    """The bytes and rounds of calls that use the sync protocol.

    After a day apart and with one save, each side still has the sync state of the last call, when
    both were equal. That is better than fresh states: a day apart then takes one round instead of
    two, and fewer bytes, as the first message has changes instead of a Bloom filter. The binding
    cannot store a sync state, so this is one that stays in memory.
    """
    origin, ids = base()
    data = origin.save()

    def pair():
        a, b = Document.load(data), Document.load(data)
        for n, d in enumerate((a, b), 1):
            d.set_actor(n.to_bytes(16, "big"))
        states = SyncState(), SyncState()
        call(a, b, *states)
        return a, b, states

    a, b, states = pair()
    for d, records in zip((a, b), c.APART):
        save_each(d, ids, records)
    c.emit(P, "sync_messages: day", 600, **call(a, b, *states))
    c.emit(P, "sync_messages: new", 1, **call(doc(3), origin, SyncState(), SyncState()))
    a, b, states = pair()
    save_each(a, ids, range(1))
    c.emit(P, "sync_messages: save", 1, **call(a, b, *states))


def memory() -> None:
    for nrec in (100_000,):
        before = c.rss_kib()
        x = base(1, nrec)
        after = c.rss_kib()
        c.emit(P, f"memory_{nrec}x10", nrec * c.F, rss_bytes_per_field=round(
            (after - before) * 1024 / (nrec * c.F), 1), peak_rss_kib=c.peak_rss_kib())
        del x


W = {f.__name__: f for f in (ffi, lww_fresh, lww_fresh_24, lww_overwrite, lww_autocommit, read, orset,
                             single_op, small_deltas, snapshot, b3, scale_n, scale_devices, history_growth,
                             sync_messages, memory)}
if __name__ == "__main__":
    c.main(W)
