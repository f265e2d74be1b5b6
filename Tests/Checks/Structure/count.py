# SPDX-License-Identifier: Apache-2.0
"""Counts the structure of the package: count.py [--check] [REPOSITORY]

It prints a figure a line. With --check, it fails if a figure exceeds its bound.

Lines of code exclude blank lines, comments and the checks of invariants. A room is a
folder of the core, with its file on a lower floor, and with a door: the types that the
rest of the core may name. A file outside the room counts if it names another type of
the room, in code that is neither a comment nor text. A nested type counts under its
qualified name, and under its own name only if the core declares no second type by that
name. Functions that a room adds to a type of the core do not count, because a name does
not show which function it calls.

Public types are the declarations with the modifier `public`, nested ones included and
type aliases excluded.
"""

import collections
import pathlib
import re
import statistics
import sys

Room = collections.namedtuple("Room", "name paths door bound")
# The last paths are those of older commits.
ROOMS = [
    Room("Undo", [["Undo", "../Kinds/UndoContent.swift"]],
         ["UndoHistory", "UndoStep"], 8),
    Room("Fragments", [["Fragments", "../Kinds/Fragment.swift"]], ["LargeField"], 14),
    Room("Parts", [["Parts"], [
        "Exchange/MissingChanges.swift", "Exchange/ReplicaState+PartialDelta.swift",
    ]], ["MissingChanges"], 8),
    Room("Storing", [["Storing"]], ["FormerReplica", "ReferrerIndex", "StoredHead"],
         5),
    Room("Importing", [["Importing"], ["Pulling"]], [], 5),
]
LONGEST = 400
# A test is named after its subject.
ARTICLES = [
    "a", "an", "the", "what", "who", "whose", "whoever", "which", "that", "those",
    "nothing", "nobody", "no",
]

SKIPPED = re.compile(
    r'(?P<comment>//.*|/\*[\s\S]*?\*/)|"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"')
CHECKED = re.compile(
    r"^ *#if REJOIN_CHECK_INVARIANTS\n(?P<body>[\s\S]*?)"
    r"^ *#(?:else\n(?P<rest>[\s\S]*?)^ *#)?endif\n", re.MULTILINE)
DECLARATION = re.compile(
    r"(?P<modifiers>(?:\b\w+(?:\(\w+\))?\s+)*)"
    r"\b(?P<kind>struct|class|enum|protocol|actor|typealias|extension)\s+"
    r"(?!func\b|var\b|let\b|subscript\b|init\b)`?(?P<name>\w+(?:\.\w+)*)"
    r"|(?P<brace>[{}])")
TEST = re.compile(r"@Test\b[\s\S]*?\bfunc\s+`?(\w+)")

Declared = collections.namedtuple("Declared", "kind path modifiers")


def stripped(source, keeps_text=False):
    """A source without comments, and with empty text unless it `keeps_text`."""
    return SKIPPED.sub(
        lambda found: "" if found["comment"] else
        found[0] if keeps_text else '""', source)


def code_lines(file):
    if file.name.endswith("+Invariants.swift"):
        return 0
    source = CHECKED.sub(lambda found: found["rest"] or "", file.read_text())
    return sum(bool(line.strip())
               for line in stripped(source, keeps_text=True).splitlines())


def declarations(source):
    """The types that a stripped source declares, with their outer types."""
    outer, opened = [], None
    for found in DECLARATION.finditer(source):
        if found["kind"]:
            path = [part for part in outer if part] + [found["name"]]
            if found["kind"] != "extension":
                yield Declared(found["kind"], ".".join(path), found["modifiers"])
            opened = found["name"] if found["kind"] != "typealias" else None
        elif found["brace"] == "{":
            outer.append(opened)
            opened = None
        elif outer:
            outer.pop()


class Core:
    def __init__(self, repository):
        self.folder = (repository / "Sources/Rejoin").resolve()
        if not self.folder.is_dir():
            sys.exit(f"error: {self.folder} is not a folder; pass a repository")
        self.files = sorted(self.folder.rglob("*.swift"))
        self.code = {file: stripped(file.read_text()) for file in self.files}
        self.types = {
            file: list(declarations(code)) for file, code in self.code.items()}
        self.occurrences = collections.Counter(
            each.path.rpartition(".")[2]
            for types in self.types.values() for each in types)

    def room_files(self, room):
        for paths in room.paths:
            paths = [(self.folder / "Replica" / path).resolve() for path in paths]
            if all(path.exists() for path in paths):
                return [file for file in self.files for path in paths
                        if path == file or path in file.parents]
        return None

    def outer_files(self, room, files):
        """The files outside a room that name its types, with these types."""
        patterns = {}
        for each in (each for file in files for each in self.types[file]):
            # No other file can name a private type.
            if each.path in room.door or "private" in each.modifiers:
                continue
            outer, _, name = each.path.rpartition(".")
            names = [each.path]
            if outer and self.occurrences[name] == 1:
                names.append(name)
            patterns[each.path] = re.compile(
                r"(?<![\w.])(?:" + "|".join(map(re.escape, names)) + r")\b")
        result = {}
        for file in self.files:
            if file not in files:
                named = [path for path, pattern in patterns.items()
                         if pattern.search(self.code[file])]
                if named:
                    result[file.relative_to(self.folder)] = named
        return result


def begins_with_article(name):
    return re.match(r"[a-z]*", name)[0] in ARTICLES


def main():
    arguments = sys.argv[1:]
    is_check = "--check" in arguments
    paths = [each for each in arguments if each != "--check"]
    repository = (pathlib.Path(paths[0]) if paths
                  else pathlib.Path(__file__).parents[3])
    core, faults = Core(repository), []

    lines = {file: code_lines(file) for file in core.files}
    lengths = {file: file.read_text().count("\n") for file in core.files}
    longest = max(core.files, key=lengths.get)
    long = [file for file in core.files if lengths[file] > LONGEST]
    print(f"lines of code in the core: {sum(lines.values())}")
    print(f"files of the core: {len(core.files)}")
    print("median of the lines of code in a file: "
          f"{statistics.median(lines.values()):g}")
    print(f"files with more than {LONGEST} lines: {len(long)}")
    print(f"longest file: {longest.relative_to(repository)}, {lengths[longest]} lines")
    faults += [f"{file.relative_to(repository)} has {lengths[file]} lines, and the "
               f"bound is {LONGEST}; split it" for file in long]

    for room in ROOMS:
        files = core.room_files(room)
        if files is None:
            print(f"files that bypass the door of {room.name}: no such folder")
            faults.append(
                f"{room.name} is not a folder of Sources/Rejoin/Replica; "
                "correct ROOMS in count.py")
            continue
        outside = core.outer_files(room, files)
        print(f"files that bypass the door of {room.name}: {len(outside)}")
        if len(outside) > room.bound:
            listed = "".join(f"\n  {file}: {', '.join(named)}"
                             for file, named in outside.items())
            faults.append(
                f"{len(outside)} files name types of {room.name} that are not its "
                f"door ({', '.join(room.door) or 'no types'}), and the bound is "
                f"{room.bound}; call the door instead{listed}")
        declared = {each.path for file in files for each in core.types[file]}
        faults += [f"{name} is not declared in {room.name}; correct ROOMS in count.py"
                   for name in room.door if name not in declared]

    public = [each for types in core.types.values() for each in types
              if "public" in each.modifiers.split() and each.kind != "typealias"]
    print(f"public types of the core: {len(public)}")
    tests = repository / "Tests"
    folders = sorted(path for path in tests.iterdir() if path.is_dir())
    print(f"folders of Tests: {len(folders)}")

    names = [(file, name) for folder in (tests, repository / "Fuzz")
             for file in sorted(folder.rglob("*.swift"))
             if ".build" not in file.parts
             for name in TEST.findall(stripped(file.read_text()))]
    articles = [each for each in names if begins_with_article(each[1])]
    print(f"tests: {len(names)}")
    print(f"tests whose names begin with an article or pronoun: {len(articles)}")
    faults += [f"{file.relative_to(repository)}: {name} begins with an article or a "
               "pronoun; begin with the subject" for file, name in articles]

    if is_check:
        for fault in faults:
            print(f"error: {fault}", file=sys.stderr)
        sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
