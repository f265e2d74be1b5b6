"""Draws mutants from the sources of every module but the checker's own."""

import hashlib
import os
import re

from mutant import ROOT, Mutant, body, read
from places import places


def drawn(seed, left_out):
    """One mutant of each place in a body or an initial value, in the order of the seed.

    The order depends only on the changed lines, so it survives changes elsewhere.
    """
    result, seen = [], {}
    for path in sources():
        source = read(path)
        for place in places(source):
            line = source.count("\n", 0, place.start) + 1
            begin = source.rfind("\n", 0, place.start) + 1
            text = source[begin:source.find("\n", place.end)]
            column = place.start - begin - len(text) + len(text.lstrip())
            old = source[place.start:place.end]
            key = (path, text.strip(), column, old)
            seen[key] = seen.get(key, 0) + 1
            rank = hashlib.sha256(repr((seed, key, seen[key])).encode()).digest()
            new = place.options[rank[-1] % len(place.options)]
            mutant = Mutant(f"{path}:{line}  {shown(old)} → {shown(new)}",
                            "every test passes", path, place.start, place.end, new)
            if body(mutant) and not (
                    left_out and re.search(left_out, f"{path}:{text}")):
                result.append((rank, mutant))
    return [mutant for _, mutant in sorted(result)]


def sources():
    for folder, _, names in sorted(os.walk(os.path.join(ROOT, "Sources"))):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), ROOT)
            if name.endswith(".swift") and "/_RejoinVerification/" not in path:
                yield path


def shown(text):
    """A text in one line, shortened."""
    text = " ".join(text.split()) or "·"
    return text if len(text) <= 60 else text[:57] + "…"
