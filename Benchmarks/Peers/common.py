"""What the benchmarks of the peers share (standard library only).

Every peer script imports this module, so every peer sees the same data:

* records are named ``r00000 .. r09999`` (R = 10,000), fields ``f0 .. f9`` (F = 10);
* ``value(i, j, ver)`` is a 12-digit hex string, a splitmix64 hash of (record, field, version),
  so a value carries 48 bits of entropy and cannot be compressed away;
* ``order(n, m, seed)`` is a reproducible pseudo-random list of n indices below m.

``bench`` times ``run(setup())`` ``reps`` times, set-up excluded, with the garbage collector
off, and returns median, min and max in milliseconds.
"""
from __future__ import annotations

import gc
import itertools
import json
import os
import resource
import subprocess
import sys
import time
from typing import Any, Callable, Iterator

from rows import rows

R, F = 10_000, 10
MASK = (1 << 64) - 1


def splitmix64(x: int) -> int:
    """One output of splitmix64 for the state ``x``."""
    z = (x + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def value(i: int, j: int, ver: int = 0) -> str:
    """The field value of record ``i``, field ``j``, at version ``ver``: 12 hex digits."""
    return f"{splitmix64((ver << 40) | (i << 8) | j) & 0xFFFFFFFFFFFF:012x}"


def order(n: int, m: int, seed: int = 42) -> list[int]:
    """``n`` pseudo-random indices in ``range(m)``."""
    out, s = [], seed
    for _ in range(n):
        s = (s + 0x9E3779B97F4A7C15) & MASK
        out.append(splitmix64(s) % m)
    return out


def values(length: int) -> list[list[str]]:
    """The values of all records: 12 characters, or the same twice."""
    return [[value(i, j) * (length // 12) for j in range(F)] for i in range(R)]


def rec(i: int) -> str:
    return f"r{i:05d}"


FIELDS = [f"f{j}" for j in range(F)]

# The records that each side of a call changes after a day apart.
APART = range(300), range(5000, 5300)


def check_equal(one: Any, other: Any) -> None:
    """Raise an error unless the states of both sides after a call are equal."""
    if one != other:
        raise ValueError("the sides of a call are not equal after it")


def rss_kib() -> int:
    """Resident set of this process now, in KiB (Linux)."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * (os.sysconf("SC_PAGE_SIZE") // 1024)


def peak_rss_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def new_values(idx: list[int]) -> Callable[[], list[str]]:
    """A set-up that makes another value for each write: a peer need not write what is there."""
    numbers = itertools.count()

    def make() -> list[str]:
        return [value(next(numbers), F, 1) for _ in idx]

    return make


def writes(n: int, seed: int) -> Iterator[tuple[int, str]]:
    """``n`` pseudo-random fields, each with a value that no other write has."""
    idx = order(n, R * F, seed)
    return zip(idx, new_values(idx)())


def bench(run: Callable[[Any], Any], setup: Callable[[], Any] = lambda: None, reps: int = 5) -> dict:
    """Median, min and max milliseconds of ``run(setup())``; ``setup`` is not timed."""
    times = []
    for _ in range(reps):
        arg = setup()
        gc.collect()
        gc.disable()
        t0 = time.perf_counter_ns()
        out = run(arg)
        t1 = time.perf_counter_ns()
        gc.enable()
        times.append((t1 - t0) / 1e6)
        del arg, out
    times.sort()
    return {"median_ms": round(times[len(times) // 2], 4), "min_ms": round(times[0], 4),
            "max_ms": round(times[-1], 4), "reps": reps}


def emit(peer: str, workload: str, ops: int, timing: dict | None = None, **extra: Any) -> None:
    """Print the rows of the table that a result makes, each a line of JSON."""
    for row in rows(peer, workload, ops, timing, extra):
        print(json.dumps({k: v for k, v in row.items() if v is not None}), flush=True)


def main(workloads: dict[str, Callable[[], None]]) -> None:
    """Run the workloads named on the command line, or all of them.

    Memory is measured in a process of its own: in this one, what others have
    freed would be used again.
    """
    names = sys.argv[1:] or [n for n in workloads if n != "memory"]
    for n in names:
        workloads[n]()
    if len(sys.argv) == 1 and "memory" in workloads:
        sys.stdout.flush()
        subprocess.run([sys.executable, sys.argv[0], "memory"], check=True)
