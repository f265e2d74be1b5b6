"""Mutants, and the sources that they change."""

import functools
import os
from collections import namedtuple

from syntax import bodies, pairs, tokens

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))

# Replaces `start..<end` of the source at `path` by `new`. `what` names what it breaks.
Mutant = namedtuple("Mutant", "label what path start end new")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def applied(mutant, start=0, end=None):
    """A range of the source, with the mutant in it."""
    source = read(mutant.path)
    return source[start:mutant.start] + mutant.new + source[mutant.end:end]


@functools.cache
def all_bodies(path):
    source = read(path)
    all = tokens(source)
    return list(bodies(source, all, pairs(all)))


def body(mutant):
    """The body or initial value that contains a mutant, or `None`."""
    return next((body for body in all_bodies(mutant.path)
                 if body.start <= mutant.start and mutant.end <= body.end), None)
