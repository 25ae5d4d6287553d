"""Addresses that end like files: what a page shows as a patch, for programs that apply it."""

import re
from collections.abc import Generator
from typing import Literal, NamedTuple, cast

from ingot.web.files.uploads import file_headers
from ingot.web.pages import Reply, StoredFile
from ingot.web.sending import as_file

Ending = Literal["patch", "diff"]
_ENDED = re.compile(r"(.+)\.(patch|diff)")


class Ended(NamedTuple):
    """What an address names, and as what it is wanted."""

    name: str
    ending: Ending


def ended(name: str) -> Ended | None:
    """What stands before an ending, where there is one; a branch may be called like that itself."""
    found = _ENDED.fullmatch(name)
    return Ended(found[1], cast("Ending", found[2])) if found else None


def sent(name: str, pieces: Generator[bytes, None, None]) -> Reply:
    """The pieces as they come, as text that a browser shows."""
    return StoredFile(as_file(pieces), None, "text/plain; charset=utf-8", file_headers(name, shown=True))
