"""Compares the endings of real peers with those of the model of Automerge. See pin.

Usage: pin.py REJOIN EPISODES
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from typing import Any, Callable

MODEL = "automergeLike"


class Field:
    """A field whose ending differs, and the edits that met in it."""

    def __init__(
        self, episode: dict[str, Any], name: str, model: Any, real: Any, is_gone: bool = False,
    ):
        self.is_gone = is_gone
        self.episode, self.name, self.model, self.real = episode, name, model, real
        self.writes: dict[str, Any] = {}
        for edit in episode["edits"]:
            if name in edit.get("clear", []):
                self.writes[edit["device"]] = None
            if name in edit.get("set", {}):
                self.writes[edit["device"]] = edit["set"][name]
        self.is_set = episode.get("kinds", {}).get(name) == "set"
        self.differing = set(model or []) ^ set(real or []) if self.is_set else set()

    def edits_of(self, device: str) -> list[dict[str, Any]]:
        return [edit for edit in self.episode["edits"] if edit["device"] == device]

    @property
    def devices(self) -> list[str]:
        return sorted({edit["device"] for edit in self.episode["edits"]})

    def elements(self, verb: str) -> dict[str, set[str]]:
        """The elements that each device inserted or removed. A clear removes all."""
        found: dict[str, set[str]] = {}
        for edit in self.episode["edits"]:
            items = set(edit.get(verb, {}).get(self.name, []))
            if verb == "remove" and self.name in edit.get("clear", []):
                items |= self.differing
            found.setdefault(edit["device"], set()).update(items)
        return found

    def creations(self) -> dict[str, int]:
        """For each device that created the record, its edits before the last creation."""
        found: dict[str, int] = {}
        for device in self.devices:
            exists = self.episode["base"] is not None
            for index, edit in enumerate(self.edits_of(device)):
                if edit.get("delete"):
                    exists = False
                elif not exists:
                    exists = True
                    found[device] = index
        return found

    def is_written(self) -> bool:
        """Whether the base or an edit has the real content."""
        base = (self.episode["base"] or {}).get(self.name)
        if not self.is_set:
            values = [edit["set"][self.name] for edit in self.episode["edits"]
                      if self.name in edit.get("set", {})]
            return self.real is None or text(self.real) in map(text, [base, *values])
        inserted = set().union(*self.elements("insert").values())
        return set(self.real or []) <= inserted | set(base or [])

    def created_twice(self) -> bool:
        return self.episode["base"] is None and len(self.devices) > 1 and self.is_written()

    def created_again(self) -> bool:
        return self.episode["base"] is not None and bool(self.creations()) and self.is_written()

    def deletion_won(self) -> bool:
        """Whether a device deleted the record, and the record is gone."""
        return self.is_gone and any(edit.get("delete") for edit in self.episode["edits"])

    def clear_won(self) -> bool:
        return None in self.writes.values() and len(self.writes) > 1 and self.real is None

    def removal_won(self) -> bool:
        inserted, removed = self.elements("insert"), self.elements("remove")
        met = {e for a in inserted for b in removed if a != b for e in inserted[a] & removed[b]}
        return bool(met) and self.differing <= met

    def last_write_won(self) -> bool:
        return self.clear_won() or self.removal_won() or self.deletion_won()

    def greatest_id_won(self) -> bool:
        """A write makes an entry of the key. That of the greatest ID counts, even if deleted."""
        if self.is_set:
            return all(self.has(element) == (element in (self.real or []))
                       for element in self.differing)
        writers = {edit["device"] for edit in self.episode["edits"]
                   if self.name in edit.get("set", {})}
        return len(self.writes) > 1 and bool(writers) and self.real == self.writes[max(writers)]

    def has(self, element: str) -> bool | None:
        """Whether the greatest ID that inserted an element kept it."""
        inserting = [d for d, items in self.elements("insert").items() if element in items]
        if not inserting:
            return None
        kept = False
        for edit in self.edits_of(max(inserting)):
            if element in edit.get("remove", {}).get(self.name, []) \
                    or self.name in edit.get("clear", []):
                kept = False
            if element in edit.get("insert", {}).get(self.name, []):
                kept = True
        return kept

    def greatest_map_won(self) -> bool:
        """Several devices created the record, and one map is left, that of the greatest ID."""
        creations = self.creations()
        if not creations or self.name == "":
            return False
        device = max(creations)
        value: Any = None
        items: set[str] = set()
        for edit in self.edits_of(device)[creations[device]:]:
            if self.name in edit.get("clear", []):
                value, items = None, set()
            value = edit.get("set", {}).get(self.name, value)
            items -= set(edit.get("remove", {}).get(self.name, []))
            items |= set(edit.get("insert", {}).get(self.name, []))
        return self.real == ((sorted(items) or None) if self.is_set else value)


# What each peer does otherwise than the model, where its documentation says so, and how to tell.
Class = tuple[str, str, Callable[[Field], bool]]
CLASSES: dict[str, list[Class]] = {
    "automerge": [],
    "loro": [
        ("two creations share one mergeable map",
         "github.com/loro-dev/loro/releases/tag/loro-crdt-map%401.13.0", Field.created_twice),
        ("a record that was deleted and created again is the same map",
         "github.com/loro-dev/loro/releases/tag/loro-crdt-map%401.13.0", Field.created_again),
        ("the last write of a key wins, and a deletion is a write",
         "loro.dev/docs/tutorial/map", Field.last_write_won),
    ],
    "yrs": [
        ("the greatest client ID wins, not the greatest Lamport time",
         "docs.rs/yrs/0.1.0/yrs/types/map/struct.Map.html",
         lambda field: field.greatest_id_won() or field.greatest_map_won()),
    ],
}
NO_CONFLICTS = "no conflict list"


def visible(episode: dict[str, Any], record: dict[str, Any] | None) -> dict[str, Any]:
    """The fields that do not read like an absent field, and whether the record exists."""
    if record is None:
        return {"": "deleted"}
    empty = {k: [] if kind == "set" else 0 for k, kind in episode.get("kinds", {}).items()}
    return {k: v for k, v in record.items() if k not in empty or v != empty[k]}


def text(value: Any) -> str:
    """A value as JSON, because 1 == 1.0 == True."""
    return json.dumps(value, sort_keys=True)


def listed(ending: dict[str, Any]) -> dict[str, list[str]]:
    """The fields with a conflict."""
    kept = {k: sorted(set(map(text, v))) for k, v in ending.get("kept", {}).items()}
    return {k: v for k, v in kept.items() if len(v) > 1}


def endings(command: list[str], file: str, **environment: str) -> list[dict[str, Any]]:
    with open(file, encoding="utf-8") as lines:
        output = subprocess.run(
            command, stdin=lines, env=os.environ | environment, check=True, text=True,
            stdout=subprocess.PIPE).stdout
    return [json.loads(line) for line in output.splitlines()[1:]]


def compare(
    title: str, peer: str, episodes: list[Any], models: list[Any], reals: list[Any],
) -> bool:
    """Prints the classes of differences of a peer, and returns whether all have one.

    The libraries have no counter as in the model. Their own take more operations, which changes
    the Lamport times of registers. If there are counters, fields without a class are only counted.
    """
    has_counters = any("counter" in e.get("kinds", {}).values() for e in episodes)
    classes: Counter[str] = Counter()
    first: dict[str, str] = {}
    unknown: list[str] = []

    def count(name: str, episode: dict[str, Any]) -> None:
        classes[name] += 1
        first.setdefault(name, episode["id"])

    differing = 0
    for episode, model, real in zip(episodes, models, reals, strict=True):
        assert episode["id"] == model["id"] == real["id"]
        a, b = visible(episode, model["record"]), visible(episode, real["record"])
        names = {k for k in a.keys() | b.keys() if text(a.get(k)) != text(b.get(k))}
        differing += 1 if names else 0
        for name in sorted(names):
            field = Field(episode, name, a.get(name), b.get(name), real["record"] is None)
            found = [c for c, _, holds in CLASSES[peer] if holds(field)]
            if found:
                count(found[0], episode)
            else:
                unknown.append(f"{episode['id']} {name}: {field.model!r}, not {field.real!r}")
        for name in listed(model).keys() | listed(real).keys():
            if name not in names and listed(model).get(name) != listed(real).get(name):
                if peer != "automerge" and name not in listed(real):
                    count(NO_CONFLICTS, episode)
                else:
                    unknown.append(f"{episode['id']} {name}: conflicts {listed(real).get(name)}")
    print(f"{peer}: {len(episodes) - differing:,} of {len(episodes):,} {title} end as {MODEL}")
    if has_counters:
        print(f"  {len(unknown):,} fields: not classified")
        return True
    for name, number in classes.most_common():
        pages = [page for c, page, _ in CLASSES[peer] if c == name]
        print(f"  {number} fields: {name} (such as {first[name]})")
        for page in pages:
            print(f"    {page}")
    for line in unknown:
        print(f"  UNCLASSIFIED {line}")
    return not unknown


def contender(peer: str) -> list[str]:
    return [sys.executable, "-B", f"contender_{peer}.py"]


def check(rejoin: str, title: str, lines: list[str], folder: str) -> bool:
    """Compares all peers on some episodes."""
    file = os.path.join(folder, "episodes.jsonl")
    with open(file, "w", encoding="utf-8") as output:
        output.writelines(lines)
    subset = os.path.join(folder, "exported.jsonl")
    subprocess.run(
        [rejoin, "compare", file, "--export", subset], check=True, stderr=subprocess.DEVNULL)
    with open(subset, encoding="utf-8") as exported:
        episodes = [json.loads(line) for line in exported]
    models = endings([rejoin, "compare", file, "--strategies", MODEL, "--endings"], subset)
    good = True
    for peer in CLASSES:
        good &= compare(title, peer, episodes, models, endings(contender(peer), subset))
    turned = endings(contender("automerge"), subset, REVERSE_ACTORS="1")
    same = sum(
        text(visible(e, a["record"])) == text(visible(e, b["record"]))
        for e, a, b in zip(episodes, models, turned))
    print(f"automerge with reversed actors: {same:,} of {len(turned):,}")
    os.remove(subset)
    return good and same < len(turned)


def generated(rejoin: str, *options: str) -> list[str]:
    """A thousand hostile episodes."""
    output = subprocess.run(
        [rejoin, "compare", "--workload", "hostile", *options, "--export", "-"], check=True,
        text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    lines = output.splitlines(keepends=True)
    return [line for line in lines if json.loads(line)["id"].startswith("hostile")]


def main(rejoin: str, path: str) -> None:
    with open(path, encoding="utf-8") as lines:
        public = [line for line in lines if json.loads(line).get("group", "merge") == "merge"]
    with tempfile.TemporaryDirectory() as folder:
        good = check(rejoin, "records", public, folder)
        plain = generated(rejoin, "--counters", "0", "--sets", "50")
        good &= check(rejoin, "hostile episodes without counters", plain, folder)
        good &= check(rejoin, "hostile episodes", generated(rejoin), folder)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
