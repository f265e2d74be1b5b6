"""Automerge as a contender (PyPI ``automerge==1.0.0rc1``, bindings of automerge-rs 0.5.7).

One of several concurrent writes of a key is shown, and the others are conflicts
(https://automerge.org/docs/documents/conflicts). The greatest operation ID is shown: a count that
grows with every operation of the document, then the actor. A write of the present value is not an
operation. A write wins over a concurrent deletion
(https://automerge.org/docs/reference/under-the-hood/merge-rules).

The documentation advises ``Counter`` for counters
(https://automerge.org/docs/reference/documents/counters). This binding can neither write nor read
one (``todo!()`` in https://github.com/automerge/automerge-py/blob/main/rust/src/lib.rs), so a
counter is a sum for each actor. It has no ``get_all`` either: a write that no other device had seen
is a conflict.
"""
from __future__ import annotations

from typing import Any

import contender
from automerge.core import ROOT, Document, ObjType, ScalarType

TYPES = {bool: ScalarType.Boolean, int: ScalarType.Int, float: ScalarType.F64, str: ScalarType.Str,
         type(None): ScalarType.Null}

# No key is empty in Automerge.
EMPTY = contender.SEPARATOR


def name(key: str) -> str:
    return "" if key == EMPTY else key


class Replica(contender.SumsByDevice):
    def __init__(self, device: int, base: bytes | None):
        self.device = device
        self.doc = Document(actor_id=device.to_bytes(16, "big")) if base is None else \
            Document.load(base)
        if base is None:
            with self.doc.transaction() as t:
                t.put_object(ROOT, "records", ObjType.Map)
        else:
            self.doc.set_actor(device.to_bytes(16, "big"))
        self.records = self.doc.get(ROOT, "records")[1]
        self.open: Any = None

    def view(self) -> Any:
        return self.open or self.doc

    def edit(self) -> Any:
        if self.open is None:
            self.context = self.doc.transaction()
            self.open = self.context.__enter__()
        return self.open

    def commit(self) -> None:
        if self.open is not None:
            self.context.__exit__(None, None, None)
            self.open = None

    def map(self) -> bytes | None:
        found = self.view().get(self.records, "record")
        return found[1] if found else None

    def exists(self) -> bool:
        return self.map() is not None

    def create(self) -> None:
        self.edit().put_object(self.records, "record", ObjType.Map)

    def delete(self) -> None:
        self.edit().delete(self.records, "record")

    def items(self) -> dict[str, Any]:
        record = self.map()
        if record is None:
            return {}
        view = self.view()
        return {name(key): view.get(record, key)[0][1] for key in view.keys(record)}

    def put(self, key: str, value: Any) -> None:
        self.edit().put(self.map(), key or EMPTY, TYPES[type(value)], value)

    def remove(self, key: str) -> None:
        if (key or EMPTY) in self.view().keys(self.map()):
            self.edit().delete(self.map(), key or EMPTY)

    def update(self) -> bytes:
        return self.doc.save()

    def receive(self, update: bytes) -> None:
        self.doc.merge(Document.load(update))

    @staticmethod
    def conflicts(replicas: dict[str, "Replica"], kinds: dict[str, str]) -> dict[str, list[Any]]:
        """The registers' values that a device wrote and no other device had seen.

        They go with their map, which is gone if a device deleted it."""
        kept: dict[str, list[Any]] = {}
        maps = [replica.map() for replica in replicas.values()]
        for replica in replicas.values():
            record = replica.map()
            if record is None or actor(record) == 0 and any(m != record for m in maps):
                continue
            for key in replica.doc.keys(record):
                (_, value), operation = replica.doc.get(record, key)
                field = name(key)
                if contender.SEPARATOR not in field and actor(operation) == replica.device:
                    kept.setdefault(field, []).append(value)
        return kept


def actor(operation: bytes) -> int:
    """The actor in an exported operation ID: a tag, the actor's length, the actor, a count."""
    return int.from_bytes(operation[2:2 + operation[1]], "big")


if __name__ == "__main__":
    contender.main(
        Replica, "automerge", "automerge 1.0.0rc1 (automerge-rs 0.5.7)",
        "real Automerge: a map of keys, conflicts are kept, a set has a key per element, a counter "
        "a key per actor")
