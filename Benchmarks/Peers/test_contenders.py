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
import pin

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

    def test_earlier_edits_and_second_arrivals(self) -> None:
        episode = {
            "id": "e", "base": None, "kinds": {"n": "counter"},
            "earlier": [edit("a", set={"x": "old", "y": "old"}), edit("b", delete=True)],
            "edits": [edit("a", set={"x": "new"}, increment={"n": 2})],
            "arrival": ["b", "a", "a"]}
        for name, library in LIBRARIES.items():
            with self.subTest(name):
                end = contender.ending(library, episode)["record"]
                self.assertEqual(end, {"x": "new", "n": 2})

    def test_invented_content_has_no_class(self) -> None:
        edits = [edit("a", set={"x": "A"}), edit("a", delete=True), edit("a", set={"x": "B"}),
                 edit("b", set={"x": "C"})]
        for base in (None, {"x": "old"}):
            field = pin.Field({"base": base, "edits": edits}, "x", "A", "invented")
            for _, _, holds in pin.CLASSES["loro"] + pin.CLASSES["yrs"]:
                self.assertFalse(holds(field))

    def test_fields_merge(self) -> None:
        self.check(
            {"x": "A", "y": "B", "z": None}, {"x": "old", "y": "old", "z": None},
            edit("a", set={"x": "A"}), edit("b", set={"y": "B"}))

    def test_values_keep_their_types(self) -> None:
        values = {"i": 7, "d": 0.5, "b": True, "n": None, "s": "#h:1", "l": 2**53 + 1,
                  "m": -2**63, "p": 2**60}
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

    def test_a_name_may_be_empty(self) -> None:
        self.check(
            {"": "B", "t": [""]}, {"": "old", "t": ["x"]}, edit("a", insert={"t": [""]}),
            edit("b", remove={"t": ["x"]}), edit("b", set={"": "B"}), t="set")
        episode = {
            "id": "e", "base": None, "edits": [edit("a", set={"": 1}), edit("b", set={"": 2})]}
        end = contender.ending(contender_automerge.Replica, episode)
        self.assertEqual(end["kept"], {"": [1, 2]})

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

    def test_removal_meets_an_insertion_of_what_is_there(self) -> None:
        self.check(
            {"automerge": {"t": ["y"]}, "loro": {"t": ["y"]}, "yrs": {"t": ["x", "y"]}},
            {"t": ["x", "y"]}, edit("a", remove={"t": ["x"]}), edit("b", insert={"t": ["x"]}),
            t="set")

    def test_removal_meets_an_insertion_again(self) -> None:
        self.check(
            {"automerge": {"t": ["x"]}, "loro": {}, "yrs": {"t": ["x"]}}, {"t": ["x"]},
            edit("a", set={"y": 1}), edit("a", clear=["y"]), edit("a", remove={"t": ["x"]}),
            edit("b", remove={"t": ["x"]}), edit("b", insert={"t": ["x"]}), t="set")

    def test_deletion_takes_a_concurrent_edit(self) -> None:
        self.check(None, {"x": "old"}, edit("a", delete=True), edit("b", set={"x": "B"}))
        self.check(None, {"n": 5}, edit("b", delete=True), edit("a", increment={"n": 2}),
                   n="counter")

    def test_two_creations(self) -> None:
        self.check(
            {"automerge": {"y": "B"}, "loro": {"x": "A", "y": "B"}, "yrs": {"y": "B"}},
            None, edit("a", set={"x": "A"}), edit("b", set={"y": "B"}))

    def test_creation_after_a_deletion_is_empty(self) -> None:
        self.check(
            {"y": "A"}, {"x": "old", "n": 5, "t": ["e"]}, edit("a", delete=True),
            edit("a", set={"y": "A"}), n="counter", t="set")

    def test_creation_after_a_deletion_meets_an_edit(self) -> None:
        # A mergeable map stays the same map, and the edit has a greater Lamport time.
        self.check(
            {"automerge": {"y": "A"}, "loro": {"x": "B", "y": "A"}, "yrs": {"y": "A"}},
            {"x": "old"}, edit("a", delete=True), edit("a", set={"y": "A"}),
            *[edit("b", set={"x": str(i)}) for i in range(4)], edit("b", set={"x": "B"}))

    def test_clear_meets_a_write(self) -> None:
        self.check({"x": "B"}, {"x": "old"}, edit("a", clear=["x"]), edit("b", set={"x": "B"}))
        self.check(
            {"automerge": {"x": "A"}, "loro": {}, "yrs": {"x": "A"}}, {"x": "old"},
            edit("a", set={"x": "A"}), edit("b", clear=["x"]))

    def test_write_and_clear_meet_a_write(self) -> None:
        # In Yrs, the value of the greatest client is the last, and it is deleted.
        self.check(
            {"automerge": {"x": "A"}, "loro": {}, "yrs": {}}, {"x": "old"},
            edit("b", set={"x": "B"}), edit("b", clear=["x"]), edit("a", set={"x": "A"}))

    def test_only_yrs_writes_the_present_value(self) -> None:
        self.check(
            {"automerge": {"x": "A"}, "loro": {"x": "A"}, "yrs": {"x": "old"}}, {"x": "old"},
            edit("a", set={"x": "A"}), edit("b", set={"x": "old"}))

    def test_two_resets(self) -> None:
        # Each subtracts ten from Loro's counter. The others remove the base's key once.
        self.check(
            {"automerge": {"n": 11}, "loro": {"n": 1}, "yrs": {"n": 11}}, {"n": 10},
            edit("a", set={"n": 4}), edit("b", set={"n": 7}), n="counter")

    def test_counters_are_clamped(self) -> None:
        self.check(
            {"n": 2**63 - 1}, {"n": 2**62}, edit("a", increment={"n": 2**62}),
            edit("a", increment={"n": 2**62}), edit("b", increment={"n": 1}), n="counter")

    def test_reversed_actors(self) -> None:
        os.environ["REVERSE_ACTORS"] = "1"
        try:
            self.check(
                {"x": "A"}, {"x": "old"}, edit("a", set={"x": "A"}), edit("b", set={"x": "B"}))
        finally:
            del os.environ["REVERSE_ACTORS"]

    def test_devices_arrive_in_the_order_of_their_last_edits(self) -> None:
        edits = [edit("a", at=3), edit("b", at=5), edit("c", at=3), edit("b", at=1)]
        self.assertEqual(contender.arrival({"edits": edits}), ["b", "a", "c"])
        self.assertEqual(contender.arrival({"edits": edits, "arrival": ["c", "a"]}), ["c", "a"])


if __name__ == "__main__":
    unittest.main()
