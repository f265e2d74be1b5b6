"""Yrs as a contender (PyPI ``pycrdt``, bindings of yrs, the Rust port of Yjs).

Concurrent writes of a key become one value by the seniority of the client IDs
(https://docs.rs/yrs/0.1.0/yrs/types/map/struct.Map.html, and Nicolaescu et al., "Near real-time
peer-to-peer shared editing on extensible data types", 2016). Deleting a nested map deletes its
content. Yjs has no counter: a counter is a sum for each client.

Yrs keeps a number as JavaScript does, so 1 and 1.0 are the same, and both are written as 1. Of the
integers of 64 bits, it rounds the greatest alone.
"""
from __future__ import annotations

from importlib.metadata import version
from typing import Any

import contender
from pycrdt import Doc, Map


class Replica(contender.SumsByDevice):
    def __init__(self, device: int, base: bytes | None):
        self.device = device
        self.doc = Doc(client_id=device + 1)
        self.records = self.doc.get("records", type=Map)
        if base is not None:
            self.doc.apply_update(base)
        self.open: Any = None

    def edit(self) -> None:
        if self.open is None:
            self.open = self.doc.transaction()
            self.open.__enter__()

    def commit(self) -> None:
        if self.open is not None:
            self.open.__exit__(None, None, None)
            self.open = None

    def exists(self) -> bool:
        return "record" in self.records

    def create(self) -> None:
        self.edit()
        self.records["record"] = Map()

    def delete(self) -> None:
        self.edit()
        del self.records["record"]

    def items(self) -> dict[str, Any]:
        if not self.exists():
            return {}
        return {key: number(value) for key, value in self.records["record"].to_py().items()}

    def put(self, key: str, value: Any) -> None:
        self.edit()
        # An update rounds the greatest integer, but the replica that writes it does not.
        self.records["record"][key] = float(value) if value == 2**63 - 1 else value

    def remove(self, key: str) -> None:
        if key in self.records["record"]:
            self.edit()
            del self.records["record"][key]

    def update(self) -> bytes:
        return self.doc.get_update()

    def receive(self, update: bytes) -> None:
        self.doc.apply_update(update)


def number(value: Any) -> Any:
    """A whole number of 64 bits as an integer: an update makes it a float if that is exact."""
    is_whole = isinstance(value, float) and value.is_integer() and -2**63 <= value < 2**63
    return int(value) if is_whole else value


if __name__ == "__main__":
    contender.main(
        Replica, "yrs", f"pycrdt {version('pycrdt')} (yrs)",
        "real Yrs: a nested map, a set has a key per element, a counter a key per client")
