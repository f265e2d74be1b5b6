#!/usr/bin/env python3
"""Finds the places of Swift sources that can be broken by one token.

Comments, texts, attributes, generics, arrows and the checks of invariants, which
only checked builds have, are left alone. An operator counts where spaces are on
both of its sides, as the formatter writes all that have two operands. What does not
compile all the same is for the caller to throw away.

    python3 Tests/Mutants/places.py             checks this file
    python3 Tests/Mutants/places.py FILE…       lists the places of files
"""

import re
import sys
from collections import namedtuple

# What replaces the text from `start` to `end`; `options` are different mutants.
Place = namedtuple("Place", "start end options")
Token = namedtuple("Token", "kind start end text")

BINARY = {
    "<": ["<=", ">"], "<=": ["<", ">="], ">": [">=", "<"], ">=": [">", "<="],
    "==": ["!="], "!=": ["=="], "===": ["!=="], "!==": ["==="],
    "&&": ["||"], "||": ["&&"],
    "+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"],
    "&+": ["&-"], "&-": ["&+"], "&*": ["&+"],
    "<<": [">>"], ">>": ["<<"], "&": ["|"], "|": ["&"], "^": ["&"],
    "+=": ["-="], "-=": ["+="], "*=": ["+="], "|=": ["&="], "&=": ["|="],
    "^=": ["|="], ">>=": ["<<="], "<<=": [">>="],
}
RANGES = {"..<": ["..."], "...": ["..<"]}
WORDS = {
    "true": ["false"], "false": ["true"], "min": ["max"], "max": ["min"],
}
LEXICON = re.compile(r"""
    (?P<space>\s+)
  | (?P<comment>//[^\n]*)
  | (?P<checked>\#if\ REJOIN_CHECK_INVARIANTS\b[\s\S]*?\#(?:else|endif)\b)
  | (?P<directive>\#(?:if|elseif|else|endif)\b[^\n]*)
  | (?P<attribute>@\w+)
  | (?P<real>\d[\d_]*\.\d[\d_]*)
  | (?P<number>0[xob][0-9a-fA-F_]+|\d[\d_]*)
  | (?P<word>[`$\#]?\w+`?)
  | (?P<operator>[-+*/%<>=!&|^~?.]+)
  | (?P<other>.)
""", re.VERBOSE)
TEXT = re.compile(r'(#*)("""|")')


def end_of_comment(source, start):
    """Where a comment between /* and */ ends; they nest."""
    depth = 0
    for found in re.compile(r"/\*|\*/").finditer(source, start):
        depth += 1 if found[0] == "/*" else -1
        if depth == 0:
            return found.end()
    return len(source)


def end_of_text(source, opening):
    """Where a literal ends, and with it all that is put into it by \\(…)."""
    at, closing = opening.end(), opening[2] + opening[1]
    escape = "\\" + opening[1]
    while at < len(source) and not source.startswith(closing, at):
        if source.startswith(escape + "(", at):
            at = end_of_parentheses(source, at + len(escape))
        else:
            at += 2 if source.startswith(escape, at) else 1
    return at + len(closing)


def end_of_parentheses(source, start):
    depth, at = 0, start
    while at < len(source):
        opening = TEXT.match(source, at)
        if opening:
            at = end_of_text(source, opening)
            continue
        depth += {"(": 1, ")": -1}.get(source[at], 0)
        at += 1
        if depth == 0:
            break
    return at


def tokens(source):
    """The tokens that may matter."""
    at, result = 0, []
    while at < len(source):
        opening = TEXT.match(source, at)
        if opening:
            end = end_of_text(source, opening)
            result.append(Token("text", at, end, ""))
        elif source.startswith("/*", at):
            end = end_of_comment(source, at)
        else:
            found = LEXICON.match(source, at)
            end, kind = found.end(), found.lastgroup
            if kind == "attribute" and source.startswith("(", end):
                end = end_of_parentheses(source, end)
            elif kind in ("real", "number", "word", "operator", "other"):
                result.append(Token(kind, at, end, found[0]))
        at = end
    return result


def changed_number(text):
    """A constant one greater and one less, none below zero."""
    digits = text.replace("_", "")
    number = int(digits, 0 if digits[1:2] in ("x", "o", "b") else 10)
    return [str(n) for n in (number + 1, number - 1) if n >= 0]


def is_spaced(source, token):
    return (source[token.start - 1:token.start].isspace()
            and source[token.end:token.end + 1].isspace())


def single(source, before, token, after):
    """The mutants of a token by itself."""
    text = token.text
    if before and before.text == "func":
        return []
    if token.kind == "operator":
        if text in BINARY and is_spaced(source, token):
            return BINARY[text]
        if text == "!" and not is_spaced(source, token) and (
                before is None or before.end < token.start
                or before.text in "(["):
            return [""]
        return RANGES.get(text, [])
    if token.kind == "number":
        return [] if before and before.text == "." else changed_number(text)
    if token.kind == "word" and text in WORDS:
        isCall = after is not None and after.text == "("
        isMember = before is not None and before.text == "."
        if text in ("true", "false") or isCall or isMember:
            return WORDS[text]
    return []


def clauses(all, first):
    """The parts of the condition that begins at a token, as ranges of tokens."""
    depth, begin, parts = 0, first, []
    ends = "else" if all[first - 1].text == "guard" else "{"
    for i in range(first, len(all)):
        text = all[i].text
        if depth == 0 and text in (",", ends):
            parts.append((begin, i))
            begin = i + 1
            if text == ends:
                return parts
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        if depth < 0:
            break
    return []


def negations(source, all):
    """The conditions that can be turned round."""
    for i, token in enumerate(all[:-1]):
        before = all[i - 1].text if i else ""
        if token.text not in ("if", "guard", "while") or before == "." or (
                token.text == "while" and before == "}"):
            continue
        for begin, end in clauses(all, i + 1):
            words = ("let", "var", "case", "!", "#available", "#unavailable")
            inside = {token.text for token in all[begin:end]}
            # Of one comparison, the other comparison is the same mutant.
            isKnown = inside & {"==", "!="} and not inside & {"&&", "||"}
            if begin == end or all[begin].text in words or isKnown:
                continue
            start, stop = all[begin].start, all[end - 1].end
            yield Place(start, stop, ["!(" + source[start:stop] + ")"])


def places(source):
    """Every place, in order."""
    all, result = tokens(source), []
    for i, token in enumerate(all):
        options = single(
            source, all[i - 1] if i else None, token,
            all[i + 1] if i + 1 < len(all) else None)
        if options:
            result.append(Place(token.start, token.end, options))
    return sorted(result + list(negations(source, all)))


def self_test():
    for source, expected in [
        ("a < b", ["a <= b", "a > b"]),
        ("let a: Set<Int> = [], b: () -> Int", []),
        ("// a < b\n/* 1 /* 2 */ 3 */", []),
        ('"1 \\(f("2" + 3)) \\" 4" #"5 " 6"# """\n7 " 8\n"""', []),
        ("@available(macOS 15, *)\n@inlinable", []),
        ("func < (a: Int)", []),
        ("t.0 + x", ["t.0 - x"]),
        ("0..<9", ["1..<9", "0...9", "0..<10", "0..<8"]),
        ("1.5 0x1f", ["1.5 32", "1.5 30"]),
        ("max(a, b.max ?? c)", ["min(a, b.max ?? c)", "max(a, b.min ?? c)"]),
        ("min: Int", []),
        ("if !a, let b { }", ["if a, let b { }"]),
        ("if a, let b = c, d(e, f) { }",
         ["if !(a), let b = c, d(e, f) { }",
          "if a, let b = c, !(d(e, f)) { }"]),
        ("guard a.contains(where: { $0 }) else { }",
         ["guard !(a.contains(where: { $0 })) else { }"]),
        ("guard x else { return true }",
         ["guard !(x) else { return true }", "guard x else { return false }"]),
        ("if a == b { }", ["if a != b { }"]),
        ("repeat { } while a\nif b { }", ["repeat { } while a\nif !(b) { }"]),
        ("a &&\n  b", ["a ||\n  b"]),
        ("a! != b", ["a! == b"]),
        ("#if swift(>=6)\n#endif", []),
        ("#if REJOIN_CHECK_INVARIANTS\na < b\n#endif\ntrue", [
            "#if REJOIN_CHECK_INVARIANTS\na < b\n#endif\nfalse"]),
    ]:
        found = [source[:p.start] + new + source[p.end:]
                 for p in places(source) for new in p.options]
        assert found == expected, (source, found)


if __name__ == "__main__":
    self_test()
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            text = file.read()
        for place in places(text):
            line = text.count("\n", 0, place.start) + 1
            print(f"{name}:{line}: {text[place.start:place.end]!r} "
                  f"{place.options}")
