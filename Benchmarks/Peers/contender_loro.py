"""Loro as a contender (PyPI ``loro``).

A map keeps the write with the greatest Lamport time, then the greatest peer ID, and a write of the
present value is not an operation (https://loro.dev/docs/tutorial/map). A deletion is a write, too.
The record is a mergeable child map, and a counter is a mergeable ``LoroCounter``: peers that create
one at the same time share it, and one that was deleted comes back
(https://github.com/loro-dev/loro/releases/tag/loro-crdt-map%401.13.0). A counter can only be added
to (https://loro.dev/docs/tutorial/counter), so a reset subtracts what the device sees, and two
resets subtract it twice. It is a double
(https://docs.rs/loro/latest/loro/struct.LoroCounter.html), so counts over 53 bits are rounded.
"""
from __future__ import annotations

from importlib.metadata import version
from typing import Any

import contender
from loro import ExportMode, LoroDoc


class Replica:
    def __init__(self, device: int, base: bytes | None):
        self.doc = LoroDoc()
        self.doc.peer_id = device
        if base is not None:
            self.doc.import_(base)
        self.records = self.doc.get_map("records")

    def content(self) -> dict[str, Any] | None:
        return self.doc.get_deep_value()["records"].get("record")

    def map(self) -> Any:
        return self.records.ensure_mergeable_map("record")

    def exists(self) -> bool:
        return self.content() is not None

    def create(self) -> None:
        # A mergeable map that was deleted comes back with its content.
        record = self.map()
        for field in self.counters():
            self.reset(field)
        record.clear()

    def delete(self) -> None:
        self.records.delete("record")

    def items(self) -> dict[str, Any]:
        content = self.content() or {}
        return {key: value for key, value in content.items() if not key.endswith(COUNTER)}

    def put(self, key: str, value: Any) -> None:
        self.map().insert(key, value)

    def remove(self, key: str) -> None:
        if key in self.items():
            self.map().delete(key)

    def add(self, field: str, amount: int) -> None:
        self.map().ensure_mergeable_counter(field + COUNTER).increment(amount)

    def reset(self, field: str) -> None:
        if field in self.counters():
            self.add(field, -self.count(field))

    def count(self, field: str) -> int:
        return int((self.content() or {})[field + COUNTER])

    def counters(self) -> set[str]:
        return {key[:-len(COUNTER)] for key in self.content() or {} if key.endswith(COUNTER)}

    def commit(self) -> None:
        self.doc.commit()

    def update(self) -> bytes:
        return self.doc.export(ExportMode.Snapshot())

    def receive(self, update: bytes) -> None:
        self.doc.import_(update)


COUNTER = contender.SEPARATOR + "counter"

if __name__ == "__main__":
    contender.main(
        Replica, "loro", f"loro {version('loro')}",
        "real Loro: a mergeable map, a set has a key per element, a counter is a mergeable "
        "LoroCounter")
