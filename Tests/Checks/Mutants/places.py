#!/usr/bin/env python3
"""Finds the places where a Swift source can be broken by one small change.

The change replaces a token, negates a condition, drops an operand or a clause of it,
or deletes a statement. Texts, generics and arrows stay as they are. An operator
counts if spaces surround it, as the formatter writes all binary operators. The caller
must discard the changes that do not compile.

    python3 Tests/Checks/Mutants/places.py             checks this file
"""

from collections import namedtuple

from syntax import (
    CLOSING, OPENING, TYPES, begins_line, bodies, end_of_statement, is_spaced, pairs,
    tokens, top)

# What replaces the text from `start` to `end`. Each option is a mutant of its own.
Place = namedtuple("Place", "start end options")

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
ASSIGNMENTS = {
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "&+=", "&-="}
BINDINGS = ("let", "var", "case", "#available", "#unavailable")
# An operand of a condition lies between two of these.
BOUNDS = (
    *ASSIGNMENTS, *OPENING, *CLOSING, ",", ":", "->", "return", "throw", "try",
    "await", "yield", "if", "guard", "while", "else", "in", "where", "case")
# Statements that stay: those that bind, return or branch, and declarations.
KEPT = (
    "let", "var", "return", "guard", "case", "default", "throw", "break", "continue",
    "fallthrough", "for", "while", "repeat", "switch", "do", "func", "typealias",
    *TYPES)
# Statements that change nothing in an ordinary build.
IDLE = {"_checkInvariants", "reserveCapacity"}


def changed_number(text):
    """A constant one greater and one less, none below zero."""
    digits = text.replace("_", "")
    number = int(digits, 0 if digits[1:2] in ("x", "o", "b") else 10)
    return [str(n) for n in (number + 1, number - 1) if n >= 0]


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
        depth += (text in OPENING) - (text in CLOSING)
        if depth < 0:
            break
    return []


def conditions(all):
    """The clauses of each `if`, `guard` and `while`."""
    for i, token in enumerate(all[:-1]):
        before = all[i - 1].text if i else ""
        if token.text in ("if", "guard", "while") and before != "." and not (
                token.text == "while" and before == "}"):
            yield clauses(all, i + 1)


def negations(source, all):
    """The conditions that can be negated."""
    for begin, end in (clause for parts in conditions(all) for clause in parts):
        inside = {token.text for token in all[begin:end]}
        # Of one comparison, the other comparison is the same mutant.
        isKnown = inside & {"==", "!="} and not inside & {"&&", "||"}
        if begin == end or all[begin].text in (*BINDINGS, "!") or isKnown:
            continue
        start, stop = all[begin].start, all[end - 1].end
        yield Place(start, stop, ["!(" + source[start:stop] + ")"])


def clause_drops(all):
    """The clauses that other clauses stand next to, each with its comma."""
    for parts in conditions(all):
        for i, (begin, end) in enumerate(parts):
            if len(parts) == 1 or all[begin].text in BINDINGS:
                continue
            if i + 1 < len(parts):
                yield Place(all[begin].start, all[end + 1].start, [""])
            else:
                yield Place(all[begin - 2].end, all[end - 1].end, [""])


def operand_drops(source, all, pair):
    """The operands of `&&` and `||`."""
    blocks = {top(all, pair, i, len(all), "{") for i, token in enumerate(all)
              if token.text in ("if", "guard", "while", "for", "switch", "catch")}

    def end_of_operand(i, step, bounds):
        while 0 <= (j := i + step) < len(all):
            isGroup = all[j].text in (*OPENING, *CLOSING) and j not in blocks and (
                pair[j] - j) * step > 0
            isBound = not isGroup and all[j].text in bounds or (
                all[j].text == "?" and is_spaced(source, all[j]))
            if isBound or begins_line(source, all, max(i, j)):
                break
            i = pair[j] if isGroup else j
        return i

    for i, token in enumerate(all):
        if token.text in ("&&", "||") and is_spaced(source, token):
            bounds = (*BOUNDS, "||", token.text)
            begin = end_of_operand(i, -1, bounds)
            end = end_of_operand(i, 1, bounds)
            left = source[all[begin].start:all[i - 1].end]
            right = source[all[i + 1].start:all[end].end]
            # The operator before this one drops the left operand.
            isFirst = all[begin - 1].text != token.text
            yield Place(all[begin].start, all[end].end,
                        [left, right] if isFirst else [left])


def deletions(source, all, pair):
    """The statements in bodies that stand on lines of their own."""
    inside = [body for body in bodies(source, all, pair) if body.isBlock]
    for i, token in enumerate(all):
        while inside and inside[0].end <= token.start:
            inside.pop(0)
        if (not inside or token.start < inside[0].start or token.text in KEPT
                or not begins_line(source, all, i)):
            continue
        end, outer, j = end_of_statement(source, all, pair, i), [], i
        while j < end:
            outer.append(all[j])
            j = pair[j] if all[j].text in OPENING else j + 1
        texts = [each.text for each in outer]
        operators = {each.text for each in outer
                     if each.kind == "operator" and is_spaced(source, each)}
        isCall = texts[-1] in (")", "}") and not operators and ":" not in texts[:2]
        isStatement = "else" not in texts if token.text == "if" else (
            token.text == "defer" or operators & ASSIGNMENTS or isCall)
        isAlone = end < len(all) and "\n" in source[all[end - 1].end:all[end].start]
        if isStatement and isAlone and IDLE.isdisjoint(texts):
            # A case must not be empty.
            new = "()" if all[i - 1].text == ":" else ""
            yield Place(token.start, all[end - 1].end, [new])


def places(source):
    """Every place, in order."""
    all, result = tokens(source), []
    pair = pairs(all)
    for i, token in enumerate(all):
        options = single(
            source, all[i - 1] if i else None, token,
            all[i + 1] if i + 1 < len(all) else None)
        if options:
            result.append(Place(token.start, token.end, options))
    return sorted([
        *result, *negations(source, all), *clause_drops(all),
        *operand_drops(source, all, pair), *deletions(source, all, pair)])


def self_test():
    for source, expected in [
        ("a < b", ["a <= b", "a > b"]),
        ("let a: Set<Int> = [], b: () -> Int", []),
        ("// a < b\n/* 1 /* 2 */ 3 */", []),
        ('"1 \\(f("2" + 3)) \\" 4" #"5 " 6"# """\n7 " 8\n"""', []),
        ("@available(macOS 15, *)\n@inlinable", []),
        ("func < (a: Int) { }", []),
        ("t.0 + x", ["t.0 - x"]),
        ("0..<9", ["1..<9", "0...9", "0..<10", "0..<8"]),
        ("1.5 0x1f", ["1.5 32", "1.5 30"]),
        ("max(a, b.max ?? c)", ["min(a, b.max ?? c)", "max(a, b.min ?? c)"]),
        ("min: Int", []),
        ("if !a { }", ["if a { }"]),
        ("guard a.contains(where: { $0 }) else { }",
         ["guard !(a.contains(where: { $0 })) else { }"]),
        ("guard x else { return true }",
         ["guard !(x) else { return true }", "guard x else { return false }"]),
        ("if a == b { }", ["if a != b { }"]),
        ("repeat { } while a\nif b { }", ["repeat { } while a\nif !(b) { }"]),
        ("a! != b", ["a! == b"]),
        ("#if swift(>=6)\n#endif", []),
        ("#if REJOIN_CHECK_INVARIANTS\na < b\n#endif\ntrue", [
            "#if REJOIN_CHECK_INVARIANTS\na < b\n#endif\nfalse"]),
        # Clauses, but not those that bind.
        ("if !a, let b { }", ["if a, let b { }", "if let b { }"]),
        ("if a, let b = c, d(e, f) { }",
         ["if let b = c, d(e, f) { }", "if !(a), let b = c, d(e, f) { }",
          "if a, let b = c { }", "if a, let b = c, !(d(e, f)) { }"]),
        ("if case .a = b, #available(macOS) { }", []),
        # Operands.
        ("a &&\n  b", ["a", "b", "a ||\n  b"]),
        ("x = a || b && c",
         ["x = a", "x = b && c", "x = a && b && c", "x = a || b", "x = a || c",
          "x = a || b || c"]),
        ("return f { $0 } && b[i]\n  && c ? d : e",
         ["return f { $0 }\n  && c ? d : e", "return b[i]\n  && c ? d : e",
          "return f { $0 } || b[i]\n  && c ? d : e",
          "return f { $0 } && b[i] ? d : e",
          "return f { $0 } && b[i]\n  || c ? d : e"]),
        ("f(x: a || b) { }",
         ["f(x: a) { }", "f(x: b) { }", "f(x: a && b) { }"]),
        ("a\nb && c\nd", ["a\nb\nd", "a\nc\nd", "a\nb || c\nd"]),
        ("for a in b where c || d { e }",
         ["for a in b where c { e }", "for a in b where d { e }",
          "for a in b where c && d { e }"]),
    ]:
        check(source, source, expected)
    # Statements in a body.
    for source, expected in [
        ("f(a)\nx += a", ["\nx += a", "f(a)\n", "f(a)\nx -= a"]),
        ("a.b = c {\n  $0\n}\n.d()\nx", ["\nx"]),
        ("defer { f() }\ntry a.forEach { x in\n  g(x)\n}",
         ["\ntry a.forEach { x in\n  g(x)\n}", "defer { f() }\n",
          "defer { f() }\ntry a.forEach { x in\n  \n}"]),
        ("if let a {\n  f()\n}\nx", ["\nx", "if let a {\n  \n}\nx"]),
        ("if let a {\n} else {\n}\nlet b = f()\nvar c = b\nreturn c", []),
        ("guard let a else { return }\nfor let b in a {\n}\nfunc g() { }", []),
        ("switch a {\ncase .b:\n  f()\ndefault: g()\n}",
         ["switch a {\ncase .b:\n  ()\ndefault: g()\n}"]),
        ("f(\n  g(a)\n); return\nh()!\na.b()\n  ?? c(d)\nx", []),
        ("a.reserveCapacity(b)\n_checkInvariants()\nx", []),
        ("f() // a\n/* b */\nx", [" // a\n/* b */\nx"]),
    ]:
        for before, after in [
            ("func f() {\n", "\n}"), ("var a: Int {\n  get {\n", "\n}\n}"),
        ]:
            check(source, before + source + after,
                  [before + each + after for each in expected])
    check("no body", "struct A {\n  f(a)\n  x\n}", [])


def check(name, source, expected):
    found = [source[:p.start] + new + source[p.end:]
             for p in places(source) for new in p.options]
    assert sorted(found) == sorted(expected), (name, found)


if __name__ == "__main__":
    self_test()
