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

    def __init__(self, episode: dict[str, Any], name: str, model: Any, real: Any):
        self.episode, self.name, self.model, self.real = episode, name, model, real
        self.writes: dict[str, Any] = {}
        for edit in episode["edits"]:
            if name in edit.get("clear", []):
                self.writes[edit["device"]] = None
            if name in edit.get("set", {}):
                self.writes[edit["device"]] = edit["set"][name]

    def elements(self, verb: str) -> dict[str, set[str]]:
        """The elements that each device inserted or removed."""
        found: dict[str, set[str]] = {}
        for edit in self.episode["edits"]:
            found.setdefault(edit["device"], set()).update(edit.get(verb, {}).get(self.name, []))
        return found

    def created_twice(self) -> bool:
        inserted = self.elements("insert")
        if self.episode["base"] is not None or len(inserted) < 2:
            return False
        return self.real in self.writes.values() \
            or self.real == sorted(set().union(*inserted.values()))

    def clear_won(self) -> bool:
        return None in self.writes.values() and len(self.writes) > 1 and self.real is None

    def removal_won(self) -> bool:
        inserted, removed = self.elements("insert"), self.elements("remove")
        met = {e for a in inserted for b in removed if a != b for e in inserted[a] & removed[b]}
        return bool(met) and set(self.model or []) ^ set(self.real or []) <= met

    def greatest_id_won(self) -> bool:
        return len(self.writes) > 1 and self.real == self.writes[max(self.writes)]


# What each peer does otherwise than the model, where its documentation says so, and how to tell.
Class = tuple[str, str, Callable[[Field], bool]]
CLASSES: dict[str, list[Class]] = {
    "automerge": [],
    "loro": [
        ("two creations share one mergeable map",
         "github.com/loro-dev/loro/releases/tag/loro-crdt-map%401.13.0", Field.created_twice),
        ("the last write of a key wins, and a deletion is a write",
         "loro.dev/docs/tutorial/map", lambda field: field.clear_won() or field.removal_won()),
    ],
    "yrs": [
        ("the greatest client ID wins, not the greatest Lamport time",
         "docs.rs/yrs/0.1.0/yrs/types/map/struct.Map.html", Field.greatest_id_won),
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


def compare(peer: str, episodes: list[Any], models: list[Any], reals: list[Any]) -> bool:
    """Prints the classes of differences of a peer, and returns whether all have one."""
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
            field = Field(episode, name, a.get(name), b.get(name))
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
    print(f"{peer}: {len(episodes) - differing:,} of {len(episodes):,} records end as {MODEL}")
    for name, number in classes.most_common():
        pages = [page for c, page, _ in CLASSES[peer] if c == name]
        print(f"  {number} fields: {name} (such as {first[name]})")
        for page in pages:
            print(f"    {page}")
    for line in unknown:
        print(f"  UNCLASSIFIED {line}")
    return not unknown


def main(rejoin: str, path: str) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        with open(path, encoding="utf-8") as lines:
            chosen = [line for line in lines if json.loads(line).get("group", "merge") == "merge"]
        subset = os.path.join(os.path.dirname(file.name), os.path.basename(file.name) + ".e")
        file.writelines(chosen)
        file.flush()
        try:
            subprocess.run(
                [rejoin, "compare", file.name, "--export", subset], check=True,
                stderr=subprocess.DEVNULL)
            with open(subset, encoding="utf-8") as lines:
                episodes = [json.loads(line) for line in lines]
            models = endings(
                [rejoin, "compare", file.name, "--strategies", MODEL, "--endings"], subset)
            good = True
            for peer in CLASSES:
                command = [sys.executable, "-B", f"contender_{peer}.py"]
                good &= compare(peer, episodes, models, endings(command, subset))
            turned = endings(
                [sys.executable, "-B", "contender_automerge.py"], subset, REVERSE_ACTORS="1")
            same = sum(
                text(visible(e, a["record"])) == text(visible(e, b["record"]))
                for e, a, b in zip(episodes, models, turned))
            print(f"automerge with reversed actors: {same:,} of {len(turned):,}")
            if same == len(turned):
                good = False
        finally:
            if os.path.exists(subset):
                os.remove(subset)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
