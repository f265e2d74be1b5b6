"""Reads as much of Swift's syntax as mutants need: tokens, statements and bodies.

Comments, attributes and the checks of invariants, which only checked builds contain,
yield no token.
"""

import re
from collections import namedtuple

Token = namedtuple("Token", "kind start end text")
# The text of a body between its braces, or of an initial value.
Body = namedtuple("Body", "start end isBlock")

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
OPENING, CLOSING = ("(", "[", "{"), (")", "]", "}")
TYPES = ("struct", "class", "enum", "extension", "actor")
FUNCTIONS = ("func", "init", "deinit", "subscript")
ACCESSORS = ("get", "set", "mutating", "nonmutating", "willSet", "didSet")
# A statement goes on after the first of these, and before the second.
UNFINISHED = (
    "(", "[", ",", "return", "throw", "try", "await", "else", "if", "guard", "while",
    "case", "where")
CONTINUING = (
    *CLOSING, "{", ",", ":", "else", "catch", "where", "as", "is", "throws", "async")


def end_of_comment(source, start):
    """The end of a comment between /* and */. Comments nest."""
    depth = 0
    for found in re.compile(r"/\*|\*/").finditer(source, start):
        depth += 1 if found[0] == "/*" else -1
        if depth == 0:
            return found.end()
    return len(source)


def end_of_text(source, opening):
    """The end of a literal, including all that \\(…) inserts into it."""
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


def is_spaced(source, token):
    return (source[token.start - 1:token.start].isspace()
            and source[token.end:token.end + 1].isspace())


def pairs(all):
    """The index of each bracket's counterpart, by the index of the bracket."""
    result, open = {}, []
    for i, token in enumerate(all):
        if token.text in OPENING:
            open.append(i)
        elif token.text in CLOSING and open:
            result[i] = open.pop()
            result[result[i]] = i
    return result


def begins_line(source, all, i):
    """Whether a token is the first of a statement and of a line."""
    before, token = all[i - 1], all[i]
    return "\n" in source[before.end:token.start] and not (
        before.text in UNFINISHED or token.text in CONTINUING
        or token.text.startswith(".")
        or before.kind == "operator" and is_spaced(source, before)
        or token.kind == "operator" and is_spaced(source, token))


def end_of_statement(source, all, pair, i):
    """The index after the last token of the statement that contains a token."""
    while True:
        i = (pair.get(i, i) if all[i].text in OPENING else i) + 1
        if (i == len(all) or all[i].text in (*CLOSING, ";")
                or begins_line(source, all, i)):
            return i


def top(all, pair, begin, end, *texts):
    """The first token of a range with one of the texts, outside brackets, or `end`."""
    while begin < end and all[begin].text not in texts:
        begin = (pair[begin] if all[begin].text in OPENING else begin) + 1
    return min(begin, end)


def bodies(source, all, pair, i=0, end=None):
    """The bodies of functions and accessors, and the initial values of properties, in
    order and outside each other."""
    end = len(all) if end is None else end
    while i < end:
        word = all[i].text
        # `import struct` declares nothing.
        i += 2 if word == "import" else 1
        if word in ("var", "let"):
            stop = end_of_statement(source, all, pair, i)
            equals = top(all, pair, i, stop, "=")
            brace = top(all, pair, i, equals, "{")
            if brace < equals:
                yield from accessors(all, pair, brace)
            elif equals < stop:
                yield Body(all[equals + 1].start, all[stop - 1].end, False)
            i = stop
        elif word in (*TYPES, *FUNCTIONS, "protocol"):
            i = top(all, pair, i, end, "{")
            if word in TYPES:
                yield from bodies(source, all, pair, i + 1, pair[i])
            elif word in FUNCTIONS:
                yield from accessors(all, pair, i)
        if i < end and all[i].text in OPENING:
            i = pair[i] + 1


def accessors(all, pair, i):
    """The body that a brace opens, or those of the accessors in it."""
    end = pair[i]
    isBody = all[i + 1].text not in ACCESSORS
    while i < end:
        i = i if isBody else top(all, pair, i + 1, end, "{")
        if i < end:
            yield Body(all[i].end, all[pair[i]].start, True)
            i = pair[i]
