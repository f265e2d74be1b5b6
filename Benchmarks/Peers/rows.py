"""Which row of the table of benchmarks a workload of the peers is, by the harness's names."""
from __future__ import annotations

import re
from typing import Any

CHUNKS = "keeps encoded chunks"
LAZY = "opens lazily: nothing is read yet"

# Workload, row, what is done, what one figure is of; a group in the workload is the size.
TIMES = [
    (r"lww_fresh_1e5", "W1", "write into an empty replica, one save", "field"),
    (r"lww_fresh_1e5_24", "W1", "write values of 24 characters, one save", "field"),
    (r"lww_overwrite_1e5", "W2", "overwrite, one save", "field"),
    (r"lww_autocommit_\w+", "W2", "overwrite, a save each", "save"),
    (r"read_1e5", "W3", "read", "field"),
    (r"counter_inc_1e5", "W4", "increment of a counter", "increment"),
    (r"counter_merge_1000dev", "W5", "join of counters of 1,000 devices", "device"),
    (r"set_insert_1e4 .*", "W6", "set insert in a record, one save", "element"),
    (r"set_remove_5e3 .*", "W6", "set remove in a record, one save", "element"),
    (r"set_merge_1e5_10pct: (?:import|apply) delta.*ops\)", "W7",
     "set join, two that differ in a tenth", "element"),
    (r"remerge_equal_1e5: versions", "W8", "merge of equal states", "merge"),
    (r"delta_sync_(\d+)x10_1pct: encode", "W9", "delta of 1 % of the fields: encode", "change"),
    (r"delta_sync_(\d+)x10_1pct: apply", "W9", "delta of 1 % of the fields: apply", "change"),
    (r"single_op_roundtrip_at_1e5", "W10", "one write, its delta, applied", "write"),
    (r"apply_1e4_one_write_deltas", "W11", "apply deltas of one write", "delta"),
    (r"snapshot_encode_(\d+)(?:: first)?", "W12", "whole replica: encode", "field"),
    (r"snapshot_encode_(\d+): repeated", "W12", "whole replica: encode, again", "field"),
    (r"snapshot_load_(\d+)", "W12", "whole replica: load", "field"),
    (r"snapshot_load_(\d+) \+ read one", "W12", "whole replica: load, read one value", "load"),
    (r"history_growth_0: load snapshot", "W15", "load after 0 overwrites", "field"),
    (r"history_growth_300000: load snapshot", "W15", "load after 300000 overwrites", "field"),
    (r"B3.1 number: time \((?:one transaction|one message|import_batch, one transaction)\)", "W13",
     "B3.1 numbers, batched", "all"),
    (r"B3.1 number: time \(one .* per update\)", "W13", "B3.1 numbers, one by one", "all"),
    (r"B3.3 string: time \((?:one transaction|one message|import_batch, one transaction)\)", "W13",
     "B3.3 strings, batched", "all"),
    (r"B3.3 string: time \(one .* per update\)", "W13", "B3.3 strings, one by one", "all"),
    (r"ffi_call", "call", "one call through the binding", "call"),
    (r"one durable commit, WAL sync=FULL", "durable", "one durable commit", "commit"),
    (r"insert 1e5 rows, one transaction, file WAL sync=FULL", "durable",
     "insert into a table, one transaction", "row"),
]

# Workload, the key of its size in bytes or of its rounds, row, what is counted, the size of the
# state.
BYTES = [
    (r"delta_sync_10000x10_1pct: apply", "bytes", "W9", "the delta of 1 % of the fields", 100_000),
    (r"single_op_roundtrip_at_1e5", "bytes", "W10", "the delta of one write", None),
    (r"snapshot_load_100000", "bytes", "W12", "the whole replica", 100_000),
    (r"B3.1 number: parse snapshot", "docSize", "W13", "B3.1: the document", None),
    (r"history_growth_0: load snapshot", "bytes", "W15", "the whole replica after 0 overwrites",
     10_000),
    (r"history_growth_300000: load snapshot", "bytes", "W15", "the whole replica after 300000 overwrites",
     10_000),
    (r"history_growth_300000: load snapshot", "shallow_bytes", "W15", "the same without history",
     10_000),
    (r"memory_100000x10", "rss_bytes_per_field", "W16", "memory of a field, resident", None),
    (r"scale_devices_1000: one-write delta", "bytes", "W14",
     "the delta of one write, among 1000 devices", None),
    (r"sync_messages: day", "bytes", "W23", "a call after a day apart, 300 records each", None),
    (r"sync_messages: day", "rounds", "W23",
     "a call after a day apart, 300 records each, rounds", None),
    (r"sync_messages: new", "bytes", "W23", "a call of a new device, 10,000 records", None),
    (r"sync_messages: new", "rounds", "W23",
     "a call of a new device, 10,000 records, rounds", None),
    (r"sync_messages: save", "bytes", "W23", "a call with one save of 10,000 records", None),
    (r"sync_messages: save", "rounds", "W23",
     "a call with one save of 10,000 records, rounds", None),
]

SIZES = {"W6": 10_000, "W7": 100_000, "W10": 100_000, "W15": 10_000}

NOTES = {
    ("loro", "whole replica: load"): LAZY,
    ("loro", "whole replica: encode"): CHUNKS,
    ("automerge", "delta of 1 % of the fields: encode"): CHUNKS,
    ("automerge", "the whole replica"): "DEFLATE",
    ("automerge", "the whole replica after 0 overwrites"): "DEFLATE",
    ("automerge", "a call of a new device, 10,000 records"): "DEFLATE",
}


def rows(peer: str, workload: str, ops: int, timing: dict | None, extra: dict[str, Any]):
    """The rows of the harness that a workload's result makes."""
    by = peer.split()[0]
    for pattern, row, work, item in TIMES:
        found = re.fullmatch(pattern, workload)
        if not found or not timing:
            continue
        size = int(found[1]) if found.groups() else SIZES.get(row)
        if size is not None and work.startswith("delta of"):
            size *= 10
        scale = 1e6 / (1 if item in ("all", "load") else ops)
        yield {"by": by, "id": row, "work": work, "size": size, "item": item,
               "best": timing["min_ms"] * scale, "median": timing["median_ms"] * scale,
               "runs": timing["reps"], "note": NOTES.get((by, work))}
    for pattern, key, row, work, size in BYTES:
        if re.fullmatch(pattern, workload) and key in extra:
            yield {"by": by, "id": row, "work": work, "size": size,
                   "item": "times" if key == "rounds" else "bytes",
                   "best": extra[key], "median": extra[key], "runs": 1,
                   "note": NOTES.get((by, work))}
