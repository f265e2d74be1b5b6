# SPDX-License-Identifier: Apache-2.0
"""Counts habits of stilted prose in comments and articles, per 1,000 words.

    prose.py             a table of all modules, and whether each habit is within its limit
    prose.py PATH...     each hit in these files and folders, too

A smoke alarm, not a judge: look at each hit, and rewrite the sentence instead of swapping
a word.
"""

import pathlib
import re
import sys

# Each habit with its pattern and its limit for all of Sources.
HABITS = {
    "first word": (
        r"^(What|Those|Of|Whoever|Whom|Whose|By|From|Where)\b", 0.5),
    "preposition + which": (
        r"\b(of|in|by|from|with|to|at|under|on|for) (which|whom|what)\b", 0.7),
    "perfect tense": (
        r"\b(has|have|had) (?!seen|been seen)"
        r"[a-z]+(ed|en|un|wn|ne|pt|ght|ld|id)\b", 1.5),
    "told, says": (
        r"\b(is|are|was|be|been) told\b|\b(tells?|says?|said|spelled)\b", 0.3),
    "somebody": (
        r"\b(somebody|whoever|nobody|everybody|anybody|whom)\b", 0),
    "is no": (
        r"\b(is|are|was|were|be) no [a-z]+|\b(is|are|has|have) none\b", 0.3),
    "private words": (
        r"\b(news|mend(s|ed)?|vouch(es)?|heard of|undoings?|puller"
        r"|in the making|in place of|take[sn]? back|hand(ed|s)? out|beside)\b",
        0),
    "semicolon": (r";(?=\s)", 1.5),
}


def paragraphs(path):
    """The paragraphs of an article, or the runs of comment lines of a source."""
    text = path.read_text()
    if path.suffix == ".md":
        text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        yield from re.split(r"\n\s*\n", text)
        return
    run = []
    for line in text.split("\n"):
        match = re.match(r"\s*//+ ?(.*)", line)
        if not match:
            yield " ".join(run)
            run = []
        elif "SPDX" not in line and not match[1].startswith("    "):
            run.append(match[1])
    yield " ".join(run)


def hits(paragraph):
    """Each habit of a paragraph, with the sentence that has it."""
    text = re.sub(r"`[^`]*`", "X", paragraph.strip())
    for sentence in re.split(r"(?<=[.!?:])\s+", text):
        for habit, (pattern, _) in HABITS.items():
            flags = 0 if habit == "first word" else re.IGNORECASE
            for _ in re.finditer(pattern, sentence.strip(), flags):
                yield habit, sentence.strip()


def files(path):
    if path.is_file():
        return [path]
    return [each for each in sorted(path.rglob("*"))
            if each.suffix in (".swift", ".md")]


def count(path, is_printing=False):
    """The words of a folder or a file, and its hits by habit."""
    words, counts = 0, dict.fromkeys(HABITS, 0)
    for file in files(path):
        for paragraph in paragraphs(file):
            words += len(paragraph.split())
            for habit, sentence in hits(paragraph):
                counts[habit] += 1
                if is_printing:
                    print(f"{file}: {habit}: {sentence[:100]}")
    return words, counts


def main():
    if paths := sys.argv[1:]:
        for path in paths:
            count(pathlib.Path(path), is_printing=True)
        return
    modules = sorted(each for each in pathlib.Path("Sources").iterdir())
    counted = [(each.name, *count(each)) for each in modules]
    total = {habit: sum(counts[habit] for _, _, counts in counted)
             for habit in HABITS}
    words = sum(words for _, words, _ in counted)
    print("habits per 1,000 words:")
    print(" " * 21 + "".join(f"{habit[:12]:>13}" for habit in HABITS))
    for name, words_of_module, counts in counted + [("all", words, total)]:
        print(f"{name:21}" + "".join(
            f"{1000 * counts[habit] / max(words_of_module, 1):13.1f}"
            for habit in HABITS))
    print(f"{'limit':21}" + "".join(
        f"{limit:13.1f}" for _, limit in HABITS.values()))
    over = [habit for habit, (_, limit) in HABITS.items()
            if 1000 * total[habit] / words > limit]
    if over:
        print(f"over the limit: {', '.join(over)}; list the sentences with "
              "Tests/Checks/Documentation/prose.py Sources, and rewrite them",
              file=sys.stderr)
        sys.exit(1)


main()
