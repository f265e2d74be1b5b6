"""SQLite through Python's standard library: the physical limits of a durable store on this disk."""
from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
import time

import common as c

P = "sqlite"


def main() -> None:
    where = sys.argv[1] if len(sys.argv) > 1 else tempfile.gettempdir()
    rows = [(c.splitmix64(i) >> 1, c.value(i, 0)) for i in range(100_000)]
    path = os.path.join(where, "limits-sqlite.db")

    def fresh(p: str, sync: str = "FULL", journal: str = "WAL"):
        for suffix in ("", "-wal", "-shm", "-journal"):
            if os.path.exists(path + suffix):
                os.unlink(path + suffix)
        d = sqlite3.connect(p, isolation_level=None)
        d.execute(f"pragma journal_mode={journal}")
        d.execute(f"pragma synchronous={sync}")
        d.execute("create table kv(k integer primary key, v text)")
        return d

    def bulk(d):
        d.execute("begin")
        d.executemany("insert into kv values(?,?)", rows)
        d.execute("commit")

    c.emit(P, "insert 1e5 rows, one transaction, :memory:", 100_000, c.bench(bulk, lambda: fresh(":memory:")))
    c.emit(P, "insert 1e5 rows, one transaction, file WAL sync=FULL", 100_000, c.bench(bulk, lambda: fresh(path)))
    for journal in ("WAL", "DELETE"):
        d = fresh(path, "FULL", journal)
        times = []
        for k, v in rows[:300]:
            t0 = time.perf_counter_ns()
            d.execute("insert into kv values(?,?)", (k, v))
            times.append((time.perf_counter_ns() - t0) / 1e6)
        times.sort()
        c.emit(P, f"one durable commit, {journal} sync=FULL", 1,
               {"median_ms": times[150], "min_ms": times[0], "max_ms": times[-1], "reps": 300}, p99_ms=times[297])
        d.close()
    for suffix in ("", "-wal", "-shm", "-journal"):
        if os.path.exists(path + suffix):
            os.unlink(path + suffix)


if __name__ == "__main__":
    main()
