"""Index of routes, pages and events to the modules that declare them, so that no module is imported to search it.

``make index`` writes module_index.txt from the declarations, and a test compares the two. A line has the kind of the
declaration, its name and the modules.
"""

from functools import cache
from pathlib import Path

INDEX_FILE = Path(__file__).with_suffix(".txt")


def index_lines(kind: str) -> list[list[str]]:
    """Return the lines of one kind, as words without the kind."""
    return [words for word, *words in _lines() if word == kind]


@cache
def _lines() -> list[list[str]]:
    return [line.split() for line in INDEX_FILE.read_text().splitlines()]
