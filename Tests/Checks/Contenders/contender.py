"""A contender for ``rejoin compare --contender`` whose rule is right, with one planted fault.

    contender.py right       every device joins all writes; devices end equal and lose nothing
    contender.py own         of equal times, a device keeps its own value (<= where < belongs)
    contender.py swallow     a device sends a deletion and the insertion after it as a deletion
    contender.py again       an increment that arrives twice counts twice
    contender.py zombie      a deleted record that is inserted again has its former fields

A device keeps the operations that it has, each with the operations that it replaces. It shows the
latest of those that none replaces. It has no clock but the times of the edits.
"""
from __future__ import annotations

import json
import sys
from typing import Any

FAULT = sys.argv[1]


class Device:
    """The operations on one record, by their IDs, of which each device numbers its own."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.operations: dict[tuple[str, int], dict[str, Any]] = {}
        self.sums: dict[str, int] = {}
        self.count = 0

    def heads(self, field: str) -> list[dict[str, Any]]:
        """The operations on a field that no other one replaces."""
        own = [o for o in self.operations.values() if o["field"] == field]
        replaced = {i for o in self.operations.values() for i in o["replaces"]}
        return [o for o in own if o["id"] not in replaced]

    def do(self, at: int, field: str, action: str, value: Any, replaced: list[Any]) -> None:
        self.count += 1
        number = (self.name, self.count)
        self.take({
            "id": number, "at": at, "field": field, "action": action, "value": value,
            "replaces": [o["id"] for o in replaced]})

    def take(self, operation: dict[str, Any]) -> None:
        """Receives an operation, or makes it."""
        is_new = operation["id"] not in self.operations
        if operation["action"] == "add" and (is_new or FAULT == "again"):
            field = operation["field"]
            self.sums[field] = self.sums.get(field, 0) + operation["value"]
        self.operations[operation["id"]] = operation

    def fields(self) -> list[str]:
        return sorted({o["field"] for o in self.operations.values()} - {""})

    def save(self, edit: dict[str, Any], kinds: dict[str, str]) -> None:
        at = edit["at"]
        if edit.get("delete"):
            if self.exists():
                self.do(at, "", "delete", None, self.heads(""))
            return
        changes = ("clear", "set", "remove", "insert", "increment")
        if not any(edit.get(change) for change in changes):
            return
        # An insertion after a deletion starts without what its device has seen.
        seen = [] if self.exists() else list(self.operations.values())
        if FAULT == "zombie":
            seen = [o for o in seen if o["field"] == ""]
        self.do(at, "", "exist", None, seen)
        for field in edit.get("clear", []):
            self.do(at, field, "clear", None, self.heads(field))
        for field, value in edit.get("set", {}).items():
            if kinds.get(field) == "counter":
                self.do(at, field, "clear", None, self.heads(field))
                self.do(at, field, "add", value, [])
            else:
                self.do(at, field, "set", value, self.heads(field))
        for field, items in edit.get("remove", {}).items():
            seen = [o for o in self.heads(field) if o["value"] in items]
            self.do(at, field, "clear", None, seen)
        for field, items in edit.get("insert", {}).items():
            for item in items:
                self.do(at, field, "insert", item, [])
        for field, amount in edit.get("increment", {}).items():
            self.do(at, field, "add", amount, [])

    def exists(self) -> bool:
        return any(o["action"] == "exist" for o in self.heads(""))

    def record(self, kinds: dict[str, str]) -> tuple[Any, dict[str, list[Any]]]:
        if not self.exists():
            return None, {}
        shown: dict[str, Any] = {}
        kept: dict[str, list[Any]] = {}
        for field in self.fields():
            heads = self.heads(field)
            if kinds.get(field) == "counter":
                shown[field] = sum(o["value"] for o in heads if o["action"] == "add")
                if FAULT == "again":
                    lost = sum(
                        o["value"] for o in self.operations.values()
                        if o["field"] == field and o["action"] == "add") - shown[field]
                    shown[field] = self.sums.get(field, 0) - lost
            elif kinds.get(field) == "set":
                shown[field] = sorted({o["value"] for o in heads if o["action"] == "insert"})
            else:
                writes = [o for o in heads if o["action"] in ("set", "clear")]
                if not writes:
                    continue
                last = max(writes, key=self.order)
                if last["action"] == "set":
                    shown[field] = last["value"]
                kept[field] = [o["value"] for o in writes]
        return shown, kept

    def order(self, operation: dict[str, Any]) -> tuple[Any, ...]:
        is_own = FAULT == "own" and operation["id"][0] == self.name
        return (operation["at"], is_own, operation["id"])


def sent(device: Device) -> list[dict[str, Any]]:
    """The operations that a device sends, with those that it received earlier."""
    operations = list(device.operations.values())
    own = [o for o in operations if o["id"][0] == device.name]
    deletions = [o for o in own if o["action"] == "delete"]
    if FAULT == "swallow" and deletions:
        last = deletions[-1]["id"][1]
        operations = [o for o in operations if o not in own or o["id"][1] <= last]
    return operations


def ending(episode: dict[str, Any]) -> dict[str, Any]:
    kinds = episode.get("kinds", {})
    arrival = episode["arrival"]
    devices = {name: Device(name) for name in arrival}

    def arrive(name: str, is_again: bool) -> None:
        for operation in sent(devices[name]):
            for device in devices.values():
                is_resent = is_again and operation["id"][0] == name != device.name
                if is_resent or operation["id"] not in device.operations:
                    device.take(operation)

    if episode.get("earlier"):
        for edit in episode["earlier"]:
            devices[edit["device"]].save(edit, kinds)
            arrive(edit["device"], False)
    elif episode["base"] is not None:
        base = Device("")
        base.do(0, "", "exist", None, [])
        for field, value in episode["base"].items():
            if kinds.get(field) == "counter":
                base.do(0, field, "add", value, [])
            elif kinds.get(field) == "set":
                for item in value:
                    base.do(0, field, "insert", item, [])
            else:
                base.do(0, field, "set", value, [])
        for device in devices.values():
            for operation in base.operations.values():
                device.take(operation)
    for edit in episode["edits"]:
        devices[edit["device"]].save(edit, kinds)
    for index, name in enumerate(arrival):
        arrive(name, name in arrival[:index])
    ends = {name: device.record(kinds) for name, device in devices.items()}
    kept: dict[str, list[Any]] = {}
    for _, lists in ends.values():
        for field, values in lists.items():
            kept.setdefault(field, []).extend(v for v in values if v not in kept[field])
    return {"id": episode["id"], "records": {n: r for n, (r, _) in ends.items()}, "kept": kept}


print(json.dumps({"name": FAULT, "version": "1", "rule": "joins all writes"}), flush=True)
for line in sys.stdin:
    print(json.dumps(ending(json.loads(line))), flush=True)
