"""Builds mutants in a copy of the package, and runs the tests on them."""

import itertools
import os
import re
import resource
import selectors
import signal
import subprocess
import sys
import time
from collections import namedtuple

from mutant import ROOT, applied
from schemata import schemata

# The memory of a process. A mutant may allocate without end.
MEMORY = 12 << 30
BUILD_LIMIT = 3 * 60 * 60
# The modules without tests of their own, and those that test them.
TESTED_BY = {"RejoinSQL": "RejoinStore"}
ERROR = re.compile(r"^(/.*?):(\d+):\d+: error: (.*)")
FAILED = re.compile(r"^\S+ Test (.*?) (?:recorded an issue|failed after)")
CRASHED = re.compile(r"unexpected signal code \d+")

Outcome = namedtuple("Outcome", "status test log")


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def files():
    """The content of the files in the working tree that the tests may depend on."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True).stdout.decode()
    result = {}
    for name in listed.split("\0"):
        path = os.path.join(ROOT, name)
        if os.path.isfile(path) and not name.startswith("Tests/Checks/Mutants/"):
            with open(path, "rb") as file:
                result[name] = file.read()
    return result


def synchronize(copy, changed):
    """Makes the copy equal to the working tree, except for the changed sources.

    Equal files stay untouched, which keeps the next build short.
    """
    known = files() | {name: text.encode() for name, text in changed.items()}
    for folder, names, inside in os.walk(copy):
        names[:] = [name for name in names if name != ".build"]
        for name in inside:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                content = known.pop(os.path.relpath(path, copy), None)
                isEqual = content == file.read()
            if content is None:
                os.remove(path)
            elif not isEqual:
                write(path, content)
    for name, content in known.items():
        write(os.path.join(copy, name), content)


def descendants(pid):
    """The processes that a process has started, in any process group."""
    listed = subprocess.run(
        ["ps", "-axo", "pid=,ppid="], capture_output=True, text=True).stdout
    children = {}
    for line in listed.splitlines():
        child, parent = map(int, line.split())
        children.setdefault(parent, []).append(child)
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found[1:]


def run(command, limit, stops=False):
    """Runs a command for at most `limit` seconds, and ends every process that it
    started. A mutant may never end by itself.

    With `stops`, the first test that fails ends the command.
    """
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True,
        env={**os.environ, "SWIFT_BACKTRACE": "enable=no"},
        preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_AS, (MEMORY, MEMORY)))
    end, log, rest = time.monotonic() + limit, [], b""
    ready = selectors.DefaultSelector()
    ready.register(process.stdout, selectors.EVENT_READ)
    try:
        while True:
            left = end - time.monotonic()
            if left <= 0:
                return Outcome("late", None, log)
            if not ready.select(min(left, 1)):
                continue
            chunk = os.read(process.stdout.fileno(), 1 << 16)
            if not chunk:
                break
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                log.append(line.decode(errors="replace"))
                found = FAILED.match(log[-1])
                if found and stops:
                    return Outcome("failed", found[1], log)
        return Outcome("failed" if process.wait() else "passed", None, log)
    finally:
        for pid in [*descendants(process.pid), process.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        process.wait()


class Judge:
    """A copy of the package, in which mutants are built and tested."""

    def __init__(self):
        self.copy = os.path.join(ROOT, ".build-mutants", "copy")
        self.selector = os.path.join(self.copy, ".build", "mutant")
        # The time of all tests without a mutant.
        self.seconds = 1800

    def compiled(self, pool, count):
        """Builds the next `count` mutants of the pool together, and runs the tests
        without a mutant.

        Returns the mutants by their numbers, and those that do not compile, with the
        reasons. The next mutants of the pool replace these.
        """
        pool = enumerate(pool, 1)
        chosen, failed = dict(itertools.islice(pool, count)), []
        while blamed := self.blamed(chosen):
            failed += [(chosen.pop(number), why) for number, why in blamed.items()]
            chosen.update(itertools.islice(pool, len(blamed)))
        start = time.monotonic()
        self.expect(self.test(0, self.seconds), "the tests fail")
        self.seconds = time.monotonic() - start
        return chosen, failed

    def blamed(self, numbered):
        """Builds mutants, and returns the errors of those that do not compile."""
        built, owners = self.build_together(numbered)
        if built.status == "passed":
            return {}
        errors = [found.groups() for found in map(ERROR.match, built.log) if found]
        blamed, suspects = {}, set()
        for path, line, message in errors:
            numbers = min((owner.numbers
                           for owner in owners.get(os.path.relpath(path, self.copy), [])
                           if owner.first <= int(line) <= owner.last),
                          key=len, default=[])
            suspects.update(numbers)
            if len(numbers) == 1:
                blamed.setdefault(numbers[0], message)
        if blamed:
            return blamed
        suspects = sorted(suspects or numbered)
        while len(suspects) > 1:
            half = {each: numbered[each] for each in suspects[len(suspects) // 2:]}
            isGuilty = self.build_together(half)[0].status != "passed"
            suspects = [each for each in suspects if (each in half) == isGuilty]
        alone = {number: numbered[number] for number in suspects}
        if self.build_together(alone)[0].status == "passed" or not alone:
            self.expect(built, "the package does not compile")
        return dict.fromkeys(alone, errors[0][2] if errors else built.status)

    def expect(self, outcome, otherwise):
        if outcome.status != "passed":
            sys.exit("\n".join(outcome.log[-20:])
                     + f"\n{otherwise} without a mutant, in {self.copy}")

    def build_together(self, numbered):
        sources, owners = schemata(numbered, self.selector)
        return self.build(sources), owners

    def build(self, changed):
        synchronize(self.copy, changed)
        # `swift test` enables testing by itself.
        return run(["swift", "build", "--build-tests", "-c", "release",
                    "-Xswiftc", "-enable-testing", "--package-path", self.copy],
                   BUILD_LIMIT)

    def test(self, number, limit, *options):
        write(self.selector, str(number).encode())
        return run(["swift", "test", "-c", "release", "--skip-build",
                    "--disable-xctest", "--package-path", self.copy, *options],
                   limit, stops=True)

    def verdict(self, mutant, number):
        """Whether a mutant in the build is killed or SURVIVED, and why."""
        nearest, module = tests_near(mutant.path)
        for tests, times, *options in [
            ("nearest", 1, "--filter", nearest),
            ("near", 1, "--filter", module, "--skip", nearest),
            ("other", 3, "--skip", module, "--skip", nearest),
        ]:
            tested = self.test(number, 30 + times * self.seconds, *options)
            if tested.status != "passed":
                return "killed", f"{tests} tests: {reason(tested)}"
        return "SURVIVED", mutant.what

    def verdict_alone(self, mutant):
        """The verdict on a mutant in a build of its own, or that it is in error."""
        built = self.build({mutant.path: applied(mutant)})
        if built.status != "passed":
            errors = [line for line in built.log if "error:" in line]
            return "error", "does not compile: " + "".join(errors[:1])
        return self.verdict(mutant, 0)


def tests_near(path):
    """The tests of a source's folder, if it has any, and those of its module."""
    _, module, *folders, _ = path.split("/")
    tests = TESTED_BY.get(module, module) + "Tests"
    folder = os.path.join(ROOT, "Tests", tests, *folders)
    names = os.listdir(folder) if folders and os.path.isdir(folder) else []
    suites = sorted(n[:-6] for n in names if n.endswith("Tests.swift"))
    module = rf"^{tests}\."
    return (rf"\.({'|'.join(suites)})/" if suites else module), module


def reason(outcome):
    if outcome.status == "late":
        return "the time limit"
    crashes = filter(None, map(CRASHED.search, outcome.log))
    return outcome.test or next(
        (found[0] for found in crashes), "an exit without a failed test")
