"""Draws mutants of one token from the sources."""

import hashlib
import os
import re

from judge import ROOT, Mutant, read
from places import places

MODULES = ["Rejoin", "RejoinPolicies"]


def drawn(seed, left_out):
    """One mutant of every place, in the order of the seed.

    The order depends on the mutated lines only, so it outlives changes elsewhere.
    """
    result, seen = [], {}
    for path in sources():
        source = read(path)
        for place in places(source):
            line = source.count("\n", 0, place.start) + 1
            begin = source.rfind("\n", 0, place.start) + 1
            text = source[begin:source.find("\n", place.end)]
            if left_out and re.search(left_out, f"{path}:{text}"):
                continue
            column = place.start - begin - len(text) + len(text.lstrip())
            old = source[place.start:place.end]
            key = (path, text.strip(), column, old)
            seen[key] = seen.get(key, 0) + 1
            rank = hashlib.sha256(repr((seed, key, seen[key])).encode()).digest()
            new = place.options[rank[-1] % len(place.options)]
            result.append((rank, Mutant(
                f"{path}:{line}  {shown(old)} → {shown(new)}",
                "every test passes", path, place.start, place.end, new,
                nearest(path), None)))
    return [mutant for _, mutant in sorted(result)]


def sources():
    for module in MODULES:
        top = os.path.join(ROOT, "Sources", module)
        for folder, _, names in sorted(os.walk(top)):
            for name in sorted(names):
                if name.endswith(".swift"):
                    yield os.path.relpath(os.path.join(folder, name), ROOT)


def shown(text):
    return " ".join(text.split()) or "·"


def nearest(path):
    """The tests of the source's folder, or else of its module."""
    _, module, *folders, _ = path.split("/")
    folder = os.path.join(ROOT, "Tests", module + "Tests", *folders)
    names = os.listdir(folder) if folders and os.path.isdir(folder) else []
    suites = sorted(n[:-6] for n in names if n.endswith("Tests.swift"))
    return (rf"^{module}Tests\.({'|'.join(suites)})/" if suites
            else rf"^{module}Tests\.")
