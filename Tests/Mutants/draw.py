#!/usr/bin/env python3
"""Draws mutants of one token from the sources, and tells which the tests notice.

Called by `Tests/Mutants/run --random N --seed S`, which says what the options are.
A mutant is judged by the tests of its folder first, then by those of its module and
then by all others. The first test that fails ends it.
"""

import argparse
import hashlib
import json
import os
import re
import resource
import selectors
import signal
import subprocess
import sys
import time
from collections import namedtuple

from places import places

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
MODULES = ["Rejoin", "RejoinPolicies"]
# A mutant that allocates without end shall not take the machine with it.
MEMORY = 12 << 30
FAILED = re.compile(r"^\S+ Test (.*?) (?:recorded an issue|failed after)")

Mutant = namedtuple("Mutant", "path line column old new text start end")
Outcome = namedtuple("Outcome", "status test log")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def drawn(seed, left_out):
    """Every place with one of its mutants, in the order of the seed.

    The order goes by what stands there, so that it outlives changes elsewhere.
    """
    result, seen = [], {}
    for module in MODULES:
        top = os.path.join(ROOT, "Sources", module)
        for folder, _, names in sorted(os.walk(top)):
            for name in sorted(n for n in names if n.endswith(".swift")):
                path = os.path.relpath(os.path.join(folder, name), ROOT)
                source = read(os.path.join(ROOT, path))
                for place in places(source):
                    mutant = at(path, source, place)
                    if left_out and re.search(
                            left_out, f"{path}:{mutant.text}"):
                        continue
                    key = (path, mutant.text.strip(), mutant.column, mutant.old)
                    seen[key] = seen.get(key, 0) + 1
                    rank = hashlib.sha256(
                        repr((seed, key, seen[key])).encode()).digest()
                    new = place.options[rank[-1] % len(place.options)]
                    result.append((rank, mutant._replace(new=new)))
    return [mutant for _, mutant in sorted(result)]


def at(path, source, place):
    begin = source.rfind("\n", 0, place.start) + 1
    end = source.find("\n", place.end)
    text = source[begin:end]
    column = place.start - begin - (len(text) - len(text.lstrip()))
    return Mutant(
        path, source.count("\n", 0, place.start) + 1, column,
        source[place.start:place.end], "", text, place.start, place.end)


def synchronize(copy):
    """Makes the copy equal to the working tree; returns a digest of it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True).stdout.decode()
    files = sorted(n for n in listed.split("\0")
                   if n and os.path.isfile(os.path.join(ROOT, n)))
    digest = hashlib.sha256()
    for name in files:
        with open(os.path.join(ROOT, name), "rb") as file:
            content = file.read()
        digest.update(repr((name, len(content))).encode() + content)
        write_if_other(os.path.join(copy, name), content)
    known = set(files)
    for folder, names, inside in os.walk(copy):
        names[:] = [n for n in names if n != ".build"]
        for name in inside:
            path = os.path.join(folder, name)
            if os.path.relpath(path, copy) not in known:
                os.remove(path)
    return digest.hexdigest()


def write_if_other(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.isfile(path):
        with open(path, "rb") as file:
            if file.read() == content:
                return
    with open(path, "wb") as file:
        file.write(content)


def run(command, limit, stops=False):
    """Runs a command in a group of its own, for so many seconds at most.

    With `stops` it ends at the first test that fails.
    """
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True,
        env={**os.environ, "SWIFT_BACKTRACE": "enable=no"},
        preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_AS, (MEMORY, MEMORY)))
    end, log, rest, failed = time.monotonic() + limit, [], b"", None
    ready = selectors.DefaultSelector()
    ready.register(process.stdout, selectors.EVENT_READ)
    try:
        while True:
            left = end - time.monotonic()
            if left <= 0:
                return Outcome("late", None, log)
            if not ready.select(min(left, 1)):
                continue
            read = os.read(process.stdout.fileno(), 1 << 16)
            if not read:
                break
            *lines, rest = (rest + read).split(b"\n")
            for line in lines:
                log.append(line.decode(errors="replace"))
                found = FAILED.match(log[-1])
                if found and stops:
                    return Outcome("failed", found[1], log)
        status = process.wait()
        return Outcome("failed" if status else "passed", None, log)
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


class Judge:
    def __init__(self, copy):
        self.copy = copy
        self.limit = 1800

    def build(self):
        return run(["swift", "build", "--build-tests",
                    "--package-path", self.copy], 1800)

    def test(self, *options):
        return run(["swift", "test", "--skip-build", "--disable-xctest",
                    "--package-path", self.copy, *options],
                   self.limit, stops=True)

    def prepare(self, digest):
        """Builds the copy; all tests must pass there, once for the same tree."""
        path = self.copy + ".json"
        built = self.build()
        if built.status != "passed":
            sys.exit("\n".join(built.log[-20:]) + "\nit does not compile")
        known = json.loads(read(path)) if os.path.isfile(path) else {}
        if known.get("tree") != digest:
            start = time.monotonic()
            tested = self.test()
            if tested.status != "passed":
                sys.exit("\n".join(tested.log[-20:])
                         + "\nthe tests fail without a mutant")
            known = {"tree": digest, "seconds": time.monotonic() - start}
            with open(path, "w", encoding="utf-8") as file:
                json.dump(known, file)
        self.limit = 30 + 5 * known["seconds"]
        return known["seconds"]

    def nearest(self, path):
        """The tests of the source's folder, or else of its module."""
        _, module, *folders, _ = path.split("/")
        folder = os.path.join(ROOT, "Tests", module + "Tests", *folders)
        names = os.listdir(folder) if folders and os.path.isdir(folder) else []
        suites = sorted(n[:-6] for n in names if n.endswith("Tests.swift"))
        return (rf"^{module}Tests\.({'|'.join(suites)})/" if suites
                else rf"^{module}Tests\.")

    def verdict(self, mutant):
        """None if it does not compile; otherwise killed or not, and why."""
        path = os.path.join(self.copy, mutant.path)
        source = read(path)
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(source[:mutant.start] + mutant.new
                           + source[mutant.end:])
            if self.build().status != "passed":
                return None
            near = self.nearest(mutant.path)
            module = rf"^{mutant.path.split('/')[1]}Tests\."
            for name, options in [
                ("nearest", ["--filter", near]),
                ("near", ["--filter", module, "--skip", near]),
                ("other", ["--skip", module]),
            ]:
                tested = self.test(*options)
                if tested.status != "passed":
                    return True, f"{name}: {reason(tested)}"
            return False, "every test passes"
        finally:
            with open(path, "w", encoding="utf-8") as file:
                file.write(source)


def reason(outcome):
    if outcome.status == "late":
        return "the time limit"
    crash = [re.search(r"unexpected signal code \d+", line)
             for line in outcome.log]
    return outcome.test or next(
        (found[0] for found in crash if found), "an exit without a failed test")


def part_of(text):
    k, n = (int(number) for number in text.split("/"))
    if not 1 <= k <= n:
        raise ValueError(text)
    return k, n


def arguments():
    parser = argparse.ArgumentParser(
        prog="Tests/Mutants/run", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, required=True, metavar="N",
                        help="how many mutants that compile")
    parser.add_argument("--seed", type=int, default=1, metavar="S",
                        help="which of them (1)")
    parser.add_argument("--part", type=part_of, default=(1, 1), metavar="K/N",
                        help="the Kth of N parts, in a copy of its own, so that"
                        " all can run side by side")
    parser.add_argument("--except", dest="left_out", metavar="PATTERN",
                        help="leaves out places where `path:line` matches")
    parser.add_argument("--list", action="store_true",
                        help="lists the first N, and whether they compile is"
                        " not asked")
    return parser.parse_args()


def describe(mutant):
    old, new = (" ".join(text.split()) for text in (mutant.old, mutant.new))
    return f"{mutant.path}:{mutant.line}  {old or '·'} → {new or '·'}"


def diff(mutant):
    """The lines around the mutant, and what became of them."""
    source = read(os.path.join(ROOT, mutant.path))
    begin = source.rfind("\n", 0, mutant.start) + 1
    end = source.find("\n", mutant.end)
    new = source[begin:mutant.start] + mutant.new + source[mutant.end:end]
    return "".join(
        f"  {sign} {line}\n"
        for sign, text in [("-", source[begin:end]), ("+", new)]
        for line in text.split("\n"))


def judge_all(judge, mutants, count):
    """Prints a line for each mutant; returns those that survived, and the time."""
    survivors, start, judged, broken = [], time.monotonic(), 0, 0
    for mutant in mutants:
        if judged == count:
            break
        begin = time.monotonic()
        result = judge.verdict(mutant)
        if result is None:
            broken += 1
            continue
        judged += 1
        killed, why = result
        print(f"{judged:3}/{count} {'killed' if killed else 'SURVIVED':8}  "
              f"{describe(mutant)}  ({why}; {time.monotonic() - begin:.0f} s)",
              flush=True)
        if not killed:
            survivors.append(mutant)
    seconds = time.monotonic() - start
    print(f"\n{judged - len(survivors)} killed, {len(survivors)} survived, "
          f"{broken} did not compile; {seconds / max(judged, 1):.0f} s each")
    return survivors


def main():
    options = arguments()
    k, n = options.part
    mutants = drawn(options.seed, options.left_out)[k - 1::n]
    count = options.random // n + (k <= options.random % n)
    if options.list:
        for mutant in mutants[:count]:
            print(describe(mutant))
        return
    copy = os.path.join(ROOT, ".build-mutants", f"random-{k}-of-{n}")
    os.makedirs(copy, exist_ok=True)
    print("without a mutant", flush=True)
    judge = Judge(copy)
    seconds = judge.prepare(synchronize(copy))
    print(f"all tests pass in {seconds:.0f} s", flush=True)
    survivors = judge_all(judge, mutants, count)
    for mutant in survivors:
        print(f"\n{describe(mutant)}\n{diff(mutant)}", end="")
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()
