"""Reads the list of mutants, one file for each source.

`Rejoin/Sets/Marking.mutants` breaks the source `Marking.swift`:

    # remove-takes-the-unseen
    A removal removes insertions that it has not observed (§5).
    - marks.drop(seen: seen)
    + marks = Siblings()

A sentence after the ID names what the mutant breaks: a section of the semantics, a row
of a policy table, or a rule of fragments or storage. The `+` lines replace the `-`
lines, which are whole lines of the source without their indentation. The `-` lines must
occur once in the source, or below a line that occurs once:

    after: mutating func insert(_ element: Element) {

Each mutant must stand for a hazard or a rule that no other mutant covers. The drawn
mutants cover the rest.
"""

import os
import pathlib

from mutant import ROOT, Mutant, read


class Fault(Exception):
    pass


class Entry:
    """A mutant as the list states it."""

    def __init__(self, id, place):
        self.id, self.place = id, place
        self.what, self.after, self.old, self.new = [], None, [], []


def entries(path):
    all = []
    for number, line in enumerate(read(path).split("\n"), 1):
        mark, _, rest = line.partition(" ")
        rest = rest.strip()
        if mark == "#":
            all.append(Entry(rest, f"{path}:{number}"))
        elif mark == "after:":
            all[-1].after = rest
        elif mark in ("-", "+"):
            (all[-1].old if mark == "-" else all[-1].new).append(rest)
        elif line:
            all[-1].what.append(line.strip())
    return all


def replacement(entry, source):
    """The range of the source that the mutant replaces, and the new text."""
    lines = source.split("\n")
    bare = [line.strip() for line in lines]
    begin, count = 0, len(entry.old)
    if entry.after:
        if bare.count(entry.after) != 1:
            raise Fault(f"the source contains the `after:` line"
                        f" {bare.count(entry.after)} times instead of once")
        begin = bare.index(entry.after) + 1
    found = [i for i in range(begin, len(lines))
             if bare[i:i + count] == entry.old]
    if not found or len(found) > 1 and not entry.after:
        raise Fault(f"the source contains the `-` lines {len(found)} times instead of"
                    f" once; quote the present lines, or add an `after:` line")
    start = sum(len(line) + 1 for line in lines[:found[0]])
    old = "\n".join(lines[found[0]:found[0] + count])
    indentation = old[:len(old) - len(old.lstrip())]
    new = "\n".join(indentation + line for line in entry.new if line)
    return start, start + len(old), new


def mutant(entry, sources):
    if not (entry.what and entry.old and entry.new):
        raise Fault("a sentence, the `-` lines or the `+` lines are missing")
    name = os.path.basename(entry.place).split(".mutants")[0] + ".swift"
    paths = [path for path in sources if os.path.basename(path) == name]
    if len(paths) != 1:
        raise Fault(f"{len(paths)} sources have the name {name} instead of one; rename"
                    f" the file of the mutants after its source")
    return Mutant(entry.id, " ".join(entry.what), paths[0],
                  *replacement(entry, read(paths[0])))


def below(folder, pattern):
    paths = pathlib.Path(ROOT, folder).glob(f"**/{pattern}")
    return sorted(str(path.relative_to(ROOT)) for path in paths)


def written(names):
    """The mutants of the named folders, sources and IDs, or all without a name.

    Returns the mutants that apply, and why the others do not, with their places.
    """
    sources = below("Sources", "*.swift")
    mutants, faults, ids, used = [], [], {}, set()
    for path in below("Tests/Checks/Mutants", "*.mutants"):
        for entry in entries(path):
            whole = f"/{path.removesuffix('.mutants')}/{entry.id}/"
            chosen = {name for name in names if f"/{name}/" in whole}
            used |= chosen
            if names and not chosen:
                continue
            try:
                if ids.setdefault(entry.id, entry.place) != entry.place:
                    raise Fault(f"{ids[entry.id]} has the same ID; choose another ID")
                mutants.append(mutant(entry, sources))
            except Fault as fault:
                faults.append(f"{entry.place}: {entry.id}: {fault}")
    for name in names:
        if name not in used:
            faults.append(f"{name}: no folder, file or ID has this name")
    return mutants, faults
