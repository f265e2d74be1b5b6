"""Runs episodes of offline edits on a real CRDT library, for ``rejoin compare --contender``.

Reads one episode a line and writes one ending a line, after a line that introduces the library.
``rejoin compare --help`` describes both. Each device has a replica with an ID of its own, which is
the rank of the device's name. REVERSE_ACTORS=1 reverses the ranks. After the edits, the replicas
exchange updates until all are equal.

A record is a map in a map of records. A register is a key of it. A set has a key for each element,
because no library has a set. An empty set therefore reads as an unset field. A counter is the
library's own, or has a key for the sum of each device, as grow-only counters have (Shapiro et al.,
"A comprehensive study of CRDTs", 2011). It is clamped to 64 bits.
"""
from __future__ import annotations

import json
import os
import sys
from typing import Any, Protocol

SEPARATOR = "\x00"


class Replica(Protocol):
    """A replica of one record. Keys belong to the record's map."""

    def exists(self) -> bool: ...
    def create(self) -> None: ...
    def delete(self) -> None: ...
    def items(self) -> dict[str, Any]: ...
    def put(self, key: str, value: Any) -> None: ...
    def remove(self, key: str) -> None: ...
    def commit(self) -> None: ...
    def update(self) -> bytes: ...
    def receive(self, update: bytes) -> None: ...


def element(field: str, value: str) -> str:
    return f"{field}{SEPARATOR}set{SEPARATOR}{value}"


def part(field: str, device: int) -> str:
    return f"{field}{SEPARATOR}sum{SEPARATOR}{device}"


def clamped(number: int) -> int:
    return max(-2**63, min(number, 2**63 - 1))


def keys(replica: Replica, field: str, kind: str) -> list[str]:
    """The keys of a set's elements, or of a counter's sums."""
    start = f"{field}{SEPARATOR}{kind}{SEPARATOR}"
    return [key for key in replica.items() if key.startswith(start)]


class SumsByDevice:
    """Counters for libraries without any: a key for the sum of each device."""

    device: int

    def add(self: Any, field: str, amount: int) -> None:
        key = part(field, self.device)
        self.put(key, clamped(int(self.items().get(key, 0)) + amount))

    def reset(self: Any, field: str) -> None:
        for key in keys(self, field, "sum"):
            self.remove(key)

    def count(self: Any, field: str) -> int:
        items = self.items()
        return sum(int(items[key]) for key in keys(self, field, "sum"))

    def counters(self: Any) -> set[str]:
        parts = (key.split(SEPARATOR) for key in self.items())
        return {p[0] for p in parts if len(p) == 3 and p[1] == "sum"}


def write(replica: Any, record: dict[str, Any], kinds: dict[str, str]) -> None:
    """Writes a whole record."""
    for field, value in record.items():
        if kinds.get(field) == "set":
            for item in value:
                replica.put(element(field, item), True)
        elif kinds.get(field) == "counter":
            replica.add(field, value)
        else:
            replica.put(field, value)


def apply(replica: Any, edit: dict[str, Any], kinds: dict[str, str]) -> None:
    """Applies one edit in one transaction."""
    changes = ("clear", "set", "remove", "insert", "increment")
    if edit.get("delete"):
        if replica.exists():
            replica.delete()
            replica.commit()
        return
    if not any(edit.get(change) for change in changes):
        return
    if not replica.exists():
        replica.create()
    for field in edit.get("clear", []):
        if kinds.get(field) == "counter":
            replica.reset(field)
        elif kinds.get(field) == "set":
            for key in keys(replica, field, "set"):
                replica.remove(key)
        else:
            replica.remove(field)
    for field, value in edit.get("set", {}).items():
        if kinds.get(field) == "counter":
            replica.reset(field)
            replica.add(field, value)
        else:
            replica.put(field, value)
    for field, items in edit.get("remove", {}).items():
        for item in items:
            replica.remove(element(field, item))
    for field, items in edit.get("insert", {}).items():
        for item in items:
            replica.put(element(field, item), True)
    for field, amount in edit.get("increment", {}).items():
        replica.add(field, amount)
    replica.commit()


def record(replica: Any, kinds: dict[str, str]) -> dict[str, Any] | None:
    """The record that a replica shows."""
    if not replica.exists():
        return None
    shown: dict[str, Any] = {}
    sets: dict[str, list[str]] = {}
    for key, value in replica.items().items():
        parts = key.split(SEPARATOR)
        if len(parts) == 1:
            shown[key] = value
        elif parts[1] == "set":
            sets.setdefault(parts[0], []).append(SEPARATOR.join(parts[2:]))
    for field, items in sets.items():
        shown[field] = sorted(items)
    for field in replica.counters():
        shown[field] = clamped(replica.count(field))
    return shown


def arrival(episode: dict[str, Any]) -> list[str]:
    """The devices in the order in which they sync, by default that of their last edits.

    A device that is there again sends its edits again.
    """
    last = {edit["device"]: edit["at"] for edit in episode["edits"]}
    return episode.get("arrival") or sorted(last, key=last.__getitem__)


def ending(library: Any, episode: dict[str, Any]) -> dict[str, Any]:
    """How an episode ends."""
    kinds = episode.get("kinds", {})
    arrivals = arrival(episode)
    devices = list(dict.fromkeys(arrivals))
    names = sorted(devices)
    if os.environ.get("REVERSE_ACTORS"):
        names.reverse()
    base = library(0, None)
    for edit in episode.get("earlier", []):
        apply(base, edit, kinds)
    if episode["base"] is not None and not episode.get("earlier"):
        base.create()
        write(base, episode["base"], kinds)
        base.commit()
    start = base.update()
    replicas = {device: library(names.index(device) + 1, start) for device in devices}
    for device, replica in replicas.items():
        for edit in episode["edits"]:
            if edit["device"] == device:
                apply(replica, edit, kinds)
    alone = {device: replica.update() for device, replica in replicas.items()}
    kept = library.conflicts(replicas, kinds) if hasattr(library, "conflicts") else None
    for sender in arrivals:
        for receiver, replica in replicas.items():
            if sender != receiver:
                replica.receive(alone[sender])
    ends = [record(replica, kinds) for replica in replicas.values()]
    lines = {json.dumps(end, sort_keys=True) for end in ends}
    assert len(lines) == 1, f"{episode['id']}: the replicas differ"
    end = {"id": episode["id"], "record": ends[0]}
    return end | ({"kept": kept} if kept else {})


def main(library: Any, name: str, version: str, rule: str) -> None:
    print(json.dumps({"name": name, "version": version, "rule": rule}), flush=True)
    for line in sys.stdin:
        # Yrs lists keys in another order in each run.
        print(json.dumps(ending(library, json.loads(line)), sort_keys=True), flush=True)
