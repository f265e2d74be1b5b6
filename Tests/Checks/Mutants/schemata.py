"""Puts many mutants into one build.

The sources of that build contain each body and each initial value once more for each
mutant in it:

    { if _mutant == 17 { mutated } else if _mutant == 23 { mutated } else { original } }
"""

from collections import namedtuple

from mutant import applied, body, read

# The numbers of the mutants that errors in the lines of a source may come from.
Owners = namedtuple("Owners", "first last numbers")

# A file selects the mutant, because tests start processes with other environments.
SELECTOR = """\
#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The number of the mutant that this process runs, or 0 for none.
@usableFromInline let _mutant: Int32 = {
  guard let file = fopen("%s", "r") else { return 0 }
  defer { fclose(file) }
  var digits = [CChar](repeating: 0, count: 12)
  fread(&digits, 1, 11, file)
  return atoi(digits)
}()
"""


def schemata(numbered, selector):
    """The sources with numbered mutants and the owners of their lines, by path."""
    sources, owners = {}, {}
    for path in {mutant.path for mutant in numbered.values()}:
        mutants = {number: mutant for number, mutant in numbered.items()
                   if mutant.path == path}
        sources[path], owners[path] = mixed(path, mutants)
        module, folder = path.split("/")[1:3]
        # Targets of their own, where the framework does not exist.
        target = (f"{module}/{folder}" if folder in ("CloudKit", "CoreData")
                  else module)
        sources[f"Sources/{target}/_Mutant.swift"] = SELECTOR % selector
    return sources, owners


def mixed(path, numbered):
    groups, source, result, owners, at = {}, read(path), "", [], 0
    for number, mutant in numbered.items():
        groups.setdefault(body(mutant), []).append(number)

    def line():
        return result.count("\n") + 1

    for each, numbers in sorted(groups.items()):
        result += source[at:each.start] + "{" * (not each.isBlock) + "\n"
        start, at = line(), each.end
        for number in numbers:
            result += f"if _mutant == {number} {{\n"
            first = line()
            result += applied(numbered[number], each.start, each.end)
            owners.append(Owners(first, line(), [number]))
            result += "\n} else "
        result += "{\n" + source[each.start:each.end] + "\n}\n"
        # A missing `return` is an error at the last brace of a function.
        owners.append(Owners(start, line(), numbers))
        result += "}()" * (not each.isBlock)
    return result + source[at:], owners
