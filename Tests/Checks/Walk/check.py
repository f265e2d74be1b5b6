# SPDX-License-Identifier: Apache-2.0
"""Checks the lists of functions in the article *Map of the code*.

    check.py               each function in a list exists in its file
    check.py FEWER MORE    and the walk lists exactly the files that one increment calls

A line of a list starts with a file: "- `Transaction.swift`: `apply(_:to:)` collects …".
Each further name in code font is a function or a property that the file declares. FEWER
and MORE are exports of `llvm-cov` after runs that differ by one increment: a function
whose count differs was called by it.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
ARTICLE = ROOT / "Sources/Rejoin/Rejoin.docc/MapOfTheCode.md"
SECTION = "An increment from tap to tap"
MODULES = ["Rejoin", "RejoinStore", "RejoinSQL"]
LINE = re.compile(r"^(?:-|\d+\.) `([^`]+\.swift)`(.*(?:\n +.*)*)", re.MULTILINE)
# Files without code in the builds of an app.
CHECKS = "+Invariants.swift"


def sources():
    return [file.relative_to(ROOT) for module in MODULES
            for file in sorted((ROOT / "Sources" / module).rglob("*.swift"))]


def lines(article):
    """The files in the lists of an article, each with the names of its line."""
    return [(file, re.findall(r"`([^`]+)`", " ".join(rest.split())))
            for file, rest in LINE.findall(article)]


def section(article):
    """The section of the walk, with the sections below it."""
    found = re.search(rf"^(#+) {SECTION}$", article, re.MULTILINE)
    if not found:
        sys.exit(f'error: {ARTICLE.name} has no section "{SECTION}"; add it')
    rest = article[found.end():]
    end = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.MULTILINE)
    return rest[:end.start()] if end else rest


def without_comments(source):
    return re.sub(r"//.*|/\*[\s\S]*?\*/", "", source)


def labels(source, start, has_labels):
    """The labels of the parameters whose list starts at an index.

    A single name is a label as well, except in a subscript or an operator.
    """
    result, depth, words = "", 0, ""
    for character in source[start:].replace("->", ""):
        if character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        if depth == 0 or depth == 1 and character == ",":
            words = words.partition(":")[0].split()
            if words:
                result += f"{words[0] if has_labels or len(words) > 1 else '_'}:"
            words = ""
        elif words or character not in "(":
            words += character
        if depth == 0:
            return f"({result})"
    return ""


def declared(source):
    """The functions with their labels, and the properties, that a file declares."""
    source = without_comments(source)
    names = set(re.findall(r"\b(?:var|let|case)\s+`?(\w+)", source))
    for found in re.finditer(
            r"(?<!\.)\b(?:func\s+`?(\w+|[-+*/%<>=!&|^~?.]+)`?|(init|subscript)[?!]?)"
            r"\s*(?:<[^(]*>)?\s*(?=\()", source):
        name = found[1] or found[2]
        has_labels = name.isidentifier() and name != "subscript"
        names.add(name + labels(source, found.end(), has_labels))
    return names


def counts(export):
    """How often each function of a file was called."""
    result = collections.Counter()
    functions = json.loads(pathlib.Path(export).read_text())["data"][0]["functions"]
    for each in functions:
        # A private function's name follows that of its file.
        name = each["name"].rpartition(":")[2]
        result[pathlib.Path(each["filenames"][0]), name] += each["count"]
    return result


def called(fewer, more):
    """The names of the functions that one increment calls, by file."""
    fewer, more = counts(fewer), counts(more)
    found = [
        (file.relative_to(ROOT), name) for file, name in more
        if more[file, name] > fewer[file, name] and file.is_relative_to(ROOT)]
    found = [(file, name) for file, name in found if file.parts[0] == "Sources"
             and file.parts[1] in MODULES and not file.name.endswith(CHECKS)]
    names = subprocess.run(
        ["swift", "demangle", "--compact", "--simplified"], check=True, text=True,
        input="\n".join(name for _, name in found), stdout=subprocess.PIPE)
    result = collections.defaultdict(set)
    for (file, _), name in zip(found, names.stdout.splitlines()):
        name = name.replace(" infix(", "(")
        result[file].add(re.sub(r"(?<=\w)<[^<>]*>", "", name))
    return result


def calls(functions, name):
    """Whether a function or property is among those, or one of them is inside it."""
    # A subscript is demangled without its labels.
    name = re.escape(re.sub(r"^subscript\(.*", "subscript", name))
    return any(re.search(rf"(^|[ .]){name}($|\.| in)", each) for each in functions)


def named_file(name, files):
    """The source file of a line, and what is wrong with its name."""
    found = [file for file in files if f"/{file}".endswith(f"/{name}")]
    if not found:
        return None, f"{name} does not exist; rename it in {ARTICLE.name}"
    if len(found) > 1:
        return None, f"{name} names {len(found)} files; write its folder before it"
    return found[0], None


def name_faults(article):
    """Files and functions in the lists of the article that do not exist."""
    files, listed = sources(), lines(article)
    for name, functions in listed:
        file, fault = named_file(name, files)
        if fault:
            yield fault
            continue
        names = declared((ROOT / file).read_text())
        for function in functions:
            if function not in names:
                yield f"{function} is not in {file}; rename it in {ARTICLE.name}"
        if not functions:
            yield f"{name}: the line names no function; name one that is called"


def walk_faults(article, functions):
    """Differences between the walk and the functions that an increment calls."""
    walk = {}
    for name, listed in lines(section(article)):
        file, fault = named_file(name, sources())
        if fault:
            continue
        if file in walk:
            yield f"{file} has two lines in the walk; keep one"
        walk[file] = listed
    for file in sorted(functions.keys() - walk.keys()):
        example = sorted(functions[file], key=len)[0]
        yield (f"an increment calls {file} ({example}), which the walk does not list;"
               f" add a line for it to {ARTICLE.name}")
    for file, listed in walk.items():
        for name in listed:
            if not calls(functions.get(file, ()), name):
                yield (f"an increment does not call {name} in {file};"
                       f" remove it from the walk in {ARTICLE.name}")


def main():
    article = ARTICLE.read_text()
    faults = list(name_faults(article))
    print(f"{len(lines(article))} lines of {ARTICLE.name} name functions and files")
    if len(sys.argv) == 3:
        functions = called(*sys.argv[1:])
        for file in sorted(functions):
            print(f"{file}: {len(functions[file])}")
        for module in MODULES:
            count = sum(file.parts[1] == module for file in functions)
            print(f"an increment calls functions of {count} files of {module}")
        faults += walk_faults(article, functions)
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
