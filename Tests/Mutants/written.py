"""Reads the mutants that are written down, one file for each source.

`Rejoin/Sets/ORSet.mutants` breaks the source `ORSet.swift`, wherever it is:

    nearest: ORSetTests, OwnDeltaTests

    # insert-keeps-the-seen
    Inserting an element again keeps the dots that it has observed.
    - remove(element, seen: seen)
    +

After its ID, a mutant says what is broken, in a sentence. `-` lines are whole lines
of the source, one below the other, without their indentation; `+` lines take their
place. They must occur once in the source, or else below a line that does:

    after: mutating func insert(_ element: Element) {

The suites of `nearest:` are those that should notice; a mutant may have its own.
"""

import os
import pathlib
import re

from judge import ROOT, Mutant, read

# Seconds for the nearest tests: some mutants do not end.
LIMIT = 60


class Fault(Exception):
    pass


class Entry:
    """A mutant as it is written."""

    def __init__(self, id, place, nearest):
        self.id, self.place, self.nearest = id, place, nearest
        self.what, self.after, self.old, self.new = [], None, [], []


def entries(path):
    header = Entry("", "", "")
    all = [header]
    for number, line in enumerate(read(path).split("\n"), 1):
        mark, _, rest = line.partition(" ")
        rest, entry = rest.strip(), all[-1]
        if mark == "#":
            all.append(Entry(rest, f"{path}:{number}", header.nearest))
        elif mark == "nearest:":
            entry.nearest = rest
        elif mark == "after:":
            entry.after = rest
        elif mark in ("-", "+"):
            (entry.old if mark == "-" else entry.new).append(rest)
        elif line:
            entry.what.append(line.strip())
    return all[1:]


def replacement(entry, source):
    """What the mutant replaces in the source, from where to where, by what."""
    lines = source.split("\n")
    bare = [line.strip() for line in lines]
    begin, count = 0, len(entry.old)
    if entry.after:
        if bare.count(entry.after) != 1:
            raise Fault(f"expected the `after:` line once in the source, found it"
                        f" {bare.count(entry.after)} times: {entry.after}")
        begin = bare.index(entry.after) + 1
    found = [i for i in range(begin, len(lines))
             if bare[i:i + count] == entry.old]
    if not found or len(found) > 1 and not entry.after:
        raise Fault(f"expected the `-` lines once in the source, found them"
                    f" {len(found)} times; quote them as they are now, or add a"
                    f" line that is above them as `after:`")
    start = sum(len(line) + 1 for line in lines[:found[0]])
    old = "\n".join(lines[found[0]:found[0] + count])
    indentation = old[:len(old) - len(old.lstrip())]
    new = "\n".join(indentation + line for line in entry.new if line)
    return start, start + len(old), new


def mutant(entry, sources, suites):
    if not (entry.what and entry.old and entry.new and entry.nearest):
        raise Fault("expected a sentence, `-` and `+` lines, and `nearest:` here"
                    " or at the top of the file")
    unknown = set(entry.nearest.split(", ")) - suites
    if unknown:
        raise Fault(f"expected suites of Tests after `nearest:`, found"
                    f" {', '.join(sorted(unknown))}")
    name = os.path.basename(entry.place).split(".mutants")[0] + ".swift"
    paths = [path for path in sources if os.path.basename(path) == name]
    if len(paths) != 1:
        raise Fault(f"expected one source named {name}, found {len(paths)};"
                    f" rename the file of the mutants after its source")
    nearest = rf"\.({'|'.join(entry.nearest.split(', '))})/"
    return Mutant(entry.id, " ".join(entry.what), paths[0],
                  *replacement(entry, read(paths[0])), nearest, LIMIT)


def below(folder, pattern):
    paths = pathlib.Path(ROOT, folder).glob(f"**/{pattern}")
    return sorted(str(path.relative_to(ROOT)) for path in paths)


def written(names):
    """The mutants of the folders, sources and IDs that are named, or all.

    Returns those that apply, and the reasons why others do not, with their places.
    """
    sources = below("Sources", "*.swift")
    suites = {name for path in below("Tests", "*.swift") for name in re.findall(
        r"\b(?:struct|class|actor|enum) (\w+)", read(path))}
    mutants, faults, ids, used = [], [], {}, set()
    for path in below("Tests/Mutants", "*.mutants"):
        for entry in entries(path):
            whole = f"/{path.removesuffix('.mutants')}/{entry.id}/"
            chosen = {name for name in names if f"/{name}/" in whole}
            used |= chosen
            if names and not chosen:
                continue
            try:
                if ids.setdefault(entry.id, entry.place) != entry.place:
                    raise Fault(f"its ID is taken at {ids[entry.id]}; give it"
                                f" another")
                mutants.append(mutant(entry, sources, suites))
            except Fault as fault:
                faults.append(f"{entry.place}: {entry.id}: {fault}")
    for name in [name for name in names if name not in used]:
        faults.append(f"{name}: expected a folder or file of Tests/Mutants, or an"
                      f" ID")
    return mutants, faults
