"""Builds mutants in a copy of the package, and runs the tests on them."""

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

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
# A mutant that allocates without end must not take the machine with it.
MEMORY = 12 << 30
FAILED = re.compile(r"^\S+ Test (.*?) (?:recorded an issue|failed after)")
CRASHED = re.compile(r"unexpected signal code \d+")

# Replaces `start..<end` of the source at `path` by `new`. The tests that match
# `nearest` run first, for at most `limit` seconds if it is not None. `what` tells
# what a survivor breaks.
Mutant = namedtuple("Mutant", "label what path start end new nearest limit")
Outcome = namedtuple("Outcome", "status test log")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def files():
    """The files of the working tree that the tests may depend on."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True).stdout.decode()
    return {name for name in listed.split("\0")
            if os.path.isfile(os.path.join(ROOT, name))
            and not name.startswith("Tests/Mutants/")}


def synchronize(copy):
    """Makes the copy equal to the working tree, and returns its digest.

    Equal files are left alone, so that the next build is quick.
    """
    digest, known = hashlib.sha256(), files()
    for name in sorted(known):
        with open(os.path.join(ROOT, name), "rb") as file:
            content = file.read()
        digest.update(repr((name, len(content))).encode() + content)
        path = os.path.join(copy, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                if file.read() == content:
                    continue
        write(path, content)
    for folder, names, inside in os.walk(copy):
        names[:] = [name for name in names if name != ".build"]
        for name in inside:
            path = os.path.join(folder, name)
            if os.path.relpath(path, copy) not in known:
                os.remove(path)
    return digest.hexdigest()


def descendants(pid):
    """The processes that one has started, in whatever group they are."""
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
    """Runs a command for at most `limit` seconds, and ends all that it started: a
    mutant may never end by itself.

    With `stops`, ends it at the first test that fails.
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
    def __init__(self, name):
        self.folder = os.path.join(ROOT, ".build-mutants")
        self.copy = os.path.join(self.folder, name)
        self.limit = 1800

    def prepare(self):
        """Builds the copy and runs all tests in it, once for equal trees."""
        digest = synchronize(self.copy)
        path = os.path.join(self.folder, "baseline.json")
        self.expect(self.build(), "the package does not compile")
        known = json.loads(read(path)) if os.path.isfile(path) else {}
        if known.get("tree") != digest:
            start = time.monotonic()
            self.expect(self.test(self.limit), "the tests fail")
            known = {"tree": digest, "seconds": time.monotonic() - start}
            write(path, json.dumps(known).encode())
        self.limit = 30 + 5 * known["seconds"]
        return known["seconds"]

    def expect(self, outcome, otherwise):
        if outcome.status != "passed":
            sys.exit("\n".join(outcome.log[-20:])
                     + f"\n{otherwise} without a mutant, in {self.copy}")

    def build(self):
        return run(["swift", "build", "--build-tests",
                    "--package-path", self.copy], 1800)

    def test(self, limit, *options):
        return run(["swift", "test", "--skip-build", "--disable-xctest",
                    "--package-path", self.copy, *options], limit, stops=True)

    def verdict(self, mutant):
        """Whether the mutant is killed, SURVIVED or in error, and why."""
        path = os.path.join(self.copy, mutant.path)
        source = read(path)
        broken = source[:mutant.start] + mutant.new + source[mutant.end:]
        module = rf"^{mutant.path.split('/')[1]}Tests\."
        try:
            write(path, broken.encode())
            built = self.build()
            if built.status != "passed":
                errors = [line for line in built.log if "error:" in line]
                return "error", "does not compile: " + "".join(errors[:1])
            for tests, limit, *options in [
                ("nearest", mutant.limit, "--filter", mutant.nearest),
                ("near", None, "--filter", module, "--skip", mutant.nearest),
                ("other", None, "--skip", module),
            ]:
                tested = self.test(limit or self.limit, *options)
                if tested.status != "passed":
                    return "killed", f"{tests} tests: {reason(tested)}"
            return "SURVIVED", mutant.what
        finally:
            write(path, source.encode())


def reason(outcome):
    if outcome.status == "late":
        return "the time limit"
    crashes = filter(None, map(CRASHED.search, outcome.log))
    return outcome.test or next(
        (found[0] for found in crashes), "an exit without a failed test")
