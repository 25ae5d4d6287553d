"""The languages of a tree as parts of one bar, kept by the commit."""

from typing import NamedTuple

from ingot.git.remembered import Remembered
from ingot.git.repository import Repository
from ingot.inline import expect_a_wait

_COLOURS = 6
_MOST = 8
_kept: Remembered[tuple[str, str], list["Part"]] = Remembered(500, 2**20)


class Part(NamedTuple):
    """A language: where its part of the bar begins, and how long it is, in per cent."""

    name: str
    start: float
    share: float
    colour: int


def languages_of(repository: Repository, commit: str) -> list[Part]:
    """The languages of the default branch, which is at this commit."""
    key = str(repository.path), commit
    known = _kept.get(key)
    if known is not None:
        return known
    expect_a_wait()
    shares = sorted(repository.languages().items(), key=lambda each: -each[1])
    parts, start = [], 0.0
    for place, (name, share) in enumerate(shares[:_MOST]):
        parts.append(Part(name, round(start, 2), share, place % _COLOURS))
        start += share
    return _kept.keep(key, parts, 150 * len(parts) + 100)
