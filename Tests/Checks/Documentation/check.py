# SPDX-License-Identifier: Apache-2.0
"""Checks the symbol graphs of modules: check.py GRAPHS MODULE..."""

import json
import pathlib
import re
import sys

# What an article has to mention: members are listed on the page of their type.
CURATED_KINDS = {
    "swift.actor", "swift.class", "swift.enum", "swift.func", "swift.func.op",
    "swift.macro", "swift.protocol", "swift.struct", "swift.typealias",
    "swift.var",
}


class Symbol:
    def __init__(self, module, json):
        self.module = module
        self.path = json["pathComponents"]
        self.kind = json["kind"]["identifier"]
        self.location = json.get("location")
        self.is_documented = "docComment" in json
        self.is_synthesized = "::SYNTHESIZED::" in json["identifier"]["precise"]

    def __str__(self):
        name = f"{self.module}: {'.'.join(self.path)}"
        if not self.location:
            return name
        file = self.location["uri"].split(str(pathlib.Path.cwd()) + "/")[-1]
        return f"{file}:{self.location['position']['line'] + 1}: {name}"


def symbols(graphs, module):
    """The symbols that are written in a module, extensions of others included."""
    for file in sorted((graphs / module).glob("*.json")):
        for each in json.loads(file.read_text())["symbols"]:
            symbol = Symbol(module, each)
            # What the compiler writes, or another module declares, has no place
            # in the sources. An extension has no name of its own.
            if (symbol.location and not symbol.is_synthesized
                    and symbol.kind != "swift.extension"):
                yield symbol


def curated(catalogue):
    """The names in the lists of the topics of all articles of a catalogue."""
    names = set()
    for article in sorted(catalogue.rglob("*.md")):
        _, _, topics = article.read_text().partition("\n## Topics\n")
        topics = topics.split("\n## ")[0]
        for link in re.findall(r"^- ``([^`]+)``$", topics, re.MULTILINE):
            # A link may begin with the module, and tell overloads apart by a hash.
            link = link.removeprefix(f"{catalogue.stem}/")
            names.add(re.sub(r"-[\w.]+$", "", link))
    return names


# The types with so many members that their pages have groups of their own.
GROUPED_TYPES = ["EditingContext", "MergeReport", "Replica", "ReplicaStore"]
LARGEST_GROUP = 8


def groups(page):
    """The lists of links under the headings of a page's topics, by heading."""
    topics = page.read_text().partition("\n## Topics\n")[2]
    return {
        part.partition("\n")[0]: re.findall(
            r"^- (?:``|<doc:)([^`>]+)", part, re.MULTILINE)
        for part in topics.split("\n### ")[1:]
    }


def grouping_faults(catalogue, public):
    """Groups that are too long, and members that are in no group."""
    for name in GROUPED_TYPES:
        page = catalogue / f"{name}.md"
        members = {each.path[1] for each in public
                   if len(each.path) == 2 and each.path[0] == name}
        if not any(each.path == [name] for each in public):
            continue
        links = groups(page) if page.exists() else {}
        for heading, listed in links.items():
            if len(listed) > LARGEST_GROUP:
                yield f"{page}: {heading} has {len(listed)} links"
        listed = {re.sub(r"-[^-]*$", "", link)
                  for group in links.values() for link in group}
        for member in sorted(members - listed):
            yield f"{page}: {member} is in no group"


def report(title, faults, advice):
    if faults:
        print(f"\n{title}:", file=sys.stderr)
        for fault in faults:
            print(f"  {fault}", file=sys.stderr)
        print(f"  -> {advice}", file=sys.stderr)
    return len(faults)


def check(graphs, module):
    public = list(symbols(graphs, module))
    if not public:
        sys.exit(f"{graphs}: no declarations of {module}, expected some")
    catalogue = pathlib.Path(f"Sources/{module}/{module}.docc")
    known = curated(catalogue)
    types = [each for each in public
             if len(each.path) == 1 and each.kind in CURATED_KINDS]
    faults = report(
        "public, without a documentation comment",
        [each for each in public if not each.is_documented],
        "say in one sentence what it is")
    faults += report(
        "public, and in no list of topics",
        [each for each in types if each.path[0] not in known],
        f"list it under ## Topics of a page in {catalogue}, as - ``Name``")
    faults += report(
        "a group that is too long or not complete",
        list(grouping_faults(catalogue, public)),
        f"list each member in one group of at most {LARGEST_GROUP}")
    print(f"{module}: {len(public)} public symbols, {len(types)} of them types and"
          f" functions to be curated; {faults} faults")
    return faults


def main():
    graphs = pathlib.Path(sys.argv[1])
    # All modules are checked before failing.
    faults = [check(graphs, module) for module in sys.argv[2:]]
    sys.exit(1 if any(faults) else 0)


main()
