"""Languages of a repository as segments of a bar, cached by commit."""

from typing import NamedTuple

from ingot.cache import BoundedCache, declare_cache
from ingot.git.core.repository import Repository
from ingot.offload import require_blocking_allowed

_COLOURS = 6
_MAX_LANGUAGES = 8
_language_cache: BoundedCache[tuple[str, str], list["LanguageShare"]] = declare_cache("languages", share=1)


class LanguageShare(NamedTuple):
    """Language with the offset and length of its segment of the bar, in percent."""

    name: str
    start: float
    share: float
    colour: int


def repository_languages(repository: Repository, commit: str) -> list[LanguageShare]:
    """Return the languages of the default branch, whose head is this commit."""
    key = str(repository.path), commit
    cached = _language_cache.get(key)
    if cached is not None:
        return cached
    require_blocking_allowed()
    shares = sorted(repository.languages().items(), key=lambda each: -each[1])
    segments, start = [], 0.0
    for index, (name, share) in enumerate(shares[:_MAX_LANGUAGES]):
        segments.append(LanguageShare(name, round(start, 2), share, index % _COLOURS))
        start += share
    return _language_cache.put(key, segments, 250 * len(segments) + 300)
