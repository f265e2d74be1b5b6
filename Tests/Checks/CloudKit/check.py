"""Compares the stand-in for CloudKit with Apple's pages, and its sentences with tests."""

import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent.parent
# The oldest system in Package.swift.
OLDEST = float(re.search(r"\.iOS\(\.v(\d+)\)", (ROOT / "Package.swift").read_text())[1])


def declared(graph):
    """Returns the names that the stand-in declares for apps."""
    names = set()
    for symbol in json.loads(Path(graph).read_text())["symbols"]:
        name = ".".join(symbol["pathComponents"])
        # The server is ours, and the compiler adds the raw values.
        if not name.startswith("StandInServer") and "init(rawValue:)" not in name:
            names.add(name)
    return names


def listed():
    """Returns the names on Apple's pages and their oldest systems."""
    rows = {}
    for line in (HERE / "declarations.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, system, page = line.split(" ")
            if not page.startswith("ck"):
                sys.exit(f"{name} has no page")
            rows[name] = float(system)
    return rows


def sentences():
    """Returns the tests that the list of sentences names."""
    text = (ROOT / "Tests/StandIns/CloudKit/SENTENCES.md").read_text()
    return re.findall(r"`(\w+)\(\)`", text)


def main():
    ours, apples = declared(sys.argv[1]), listed()
    faults = [f"{name} is on no page of Apple" for name in sorted(ours - set(apples))]
    faults += [f"{name} is not declared" for name in sorted(set(apples) - ours)]
    faults += [
        f"{name} needs iOS {system}, and the package supports iOS {OLDEST}"
        for name, system in sorted(apples.items())
        if system > OLDEST
    ]
    tests = set()
    for file in (ROOT / "Tests/RejoinSyncTests/CloudKit").glob("*.swift"):
        tests.update(re.findall(r"func (\w+)\(", file.read_text()))
    named = sentences()
    faults += [f"SENTENCES.md names no test {name}" for name in named if name not in tests]
    if faults:
        sys.exit("\n".join(faults))
    print(f"{len(apples)} declarations equal Apple's, {len(named)} tests of sentences exist")


main()
