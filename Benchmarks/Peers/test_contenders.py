"""Small episodes, whose endings follow from each library's documentation."""
from __future__ import annotations

import json
import os
import unittest
from typing import Any

import contender
import contender_automerge
import contender_loro
import contender_yrs

LIBRARIES = {
    "automerge": contender_automerge.Replica, "loro": contender_loro.Replica,
    "yrs": contender_yrs.Replica,
}


def edit(device: str, **changes: Any) -> dict[str, Any]:
    return {"device": device, "at": 1} | changes


def text(record: Any) -> str:
    return json.dumps(record, sort_keys=True)


class Endings(unittest.TestCase):
    def check(self, expected: Any, base: Any, *edits: dict[str, Any], **kinds: str) -> None:
        """Compares the endings of all libraries, or of each if `expected` names them."""
        devices = list(dict.fromkeys(e["device"] for e in edits))
        episode = {
            "id": "e", "base": base, "kinds": kinds, "edits": list(edits), "arrival": devices}
        for name, library in LIBRARIES.items():
            is_each = isinstance(expected, dict) and expected.keys() == LIBRARIES.keys()
            with self.subTest(name):
                end = contender.ending(library, episode)["record"]
                # As JSON, because 1 == 1.0 == True.
                self.assertEqual(text(end), text(expected[name] if is_each else expected))

    def test_fields_merge(self) -> None:
        self.check(
            {"x": "A", "y": "B", "z": None}, {"x": "old", "y": "old", "z": None},
            edit("a", set={"x": "A"}), edit("b", set={"y": "B"}))

    def test_values_keep_their_types(self) -> None:
        values = {"i": 7, "d": 0.5, "b": True, "n": None, "s": "#h:1", "l": 2**53 + 1,
                  "m": -2**63}
        self.check(values, None, edit("a", set=values), edit("b", delete=True))

    def test_greater_device_wins_at_equal_lamport_times(self) -> None:
        self.check({"x": "B"}, {"x": "old"}, edit("a", set={"x": "A"}), edit("b", set={"x": "B"}))

    def test_only_yrs_ignores_the_lamport_time(self) -> None:
        self.check(
            {"automerge": {"x": "A", "y": "2"}, "loro": {"x": "A", "y": "2"},
             "yrs": {"x": "B", "y": "2"}},
            {"x": "old"}, edit("a", set={"y": "1"}), edit("a", set={"y": "2"}),
            edit("a", set={"x": "A"}), edit("b", set={"x": "B"}))

    def test_automerge_lists_conflicts(self) -> None:
        episode = {
            "id": "e", "base": {"x": "old"}, "arrival": ["a", "b"],
            "edits": [edit("a", set={"x": "A"}), edit("b", set={"x": "B"})]}
        end = contender.ending(contender_automerge.Replica, episode)
        self.assertEqual(sorted(end["kept"]["x"]), ["A", "B"])

    def test_counters_add_up(self) -> None:
        self.check(
            {"n": 7000}, {"n": 5000}, edit("a", increment={"n": 1200}),
            edit("b", increment={"n": 800}), n="counter")
        self.check(
            {"n": 1}, {"n": 3}, edit("a", increment={"n": -1}), edit("b", increment={"n": -1}),
            n="counter")

    def test_reset_removes_what_the_device_had_seen(self) -> None:
        self.check(
            {"n": 6}, {"n": 10}, edit("a", set={"n": 4}), edit("b", increment={"n": 2}),
            n="counter")

    def test_elements_are_added_and_removed(self) -> None:
        self.check(
            {"t": ["new", "y"]}, {"t": ["x", "y"]}, edit("a", insert={"t": ["new"]}),
            edit("b", remove={"t": ["x"]}), t="set")

    def test_deletion_takes_a_concurrent_edit(self) -> None:
        self.check(None, {"x": "old"}, edit("a", delete=True), edit("b", set={"x": "B"}))

    def test_two_creations(self) -> None:
        self.check(
            {"automerge": {"y": "B"}, "loro": {"x": "A", "y": "B"}, "yrs": {"y": "B"}},
            None, edit("a", set={"x": "A"}), edit("b", set={"y": "B"}))

    def test_creation_after_a_deletion_is_empty(self) -> None:
        self.check(
            {"y": "A"}, {"x": "old", "n": 5}, edit("a", delete=True), edit("a", set={"y": "A"}),
            n="counter")

    def test_clear_meets_a_later_write(self) -> None:
        self.check({"x": "B"}, {"x": "old"}, edit("a", clear=["x"]), edit("b", set={"x": "B"}))


if __name__ == "__main__":
    unittest.main()
