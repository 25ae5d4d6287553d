"""Languages of a repository as segments of a bar."""

from itertools import islice
from typing import NamedTuple

from ingot.git.core.languages import language_shares
from ingot.git.core.repository import Repository

_COLOURS = 6
_MAX_LANGUAGES = 8


class LanguageShare(NamedTuple):
    """Language with the offset and length of its segment of the bar, in percent."""

    name: str
    start: float
    share: float
    colour: int


def repository_languages(repository: Repository, commit: str) -> list[LanguageShare]:
    """Return the languages of the default branch, whose head is this commit."""
    shares = language_shares(repository.path, commit)
    segments, start = [], 0.0
    for index, (name, share) in enumerate(islice(shares.items(), _MAX_LANGUAGES)):
        segments.append(LanguageShare(name, round(start, 2), share, index % _COLOURS))
        start += share
    return segments
