"""Addresses that end like files: what a page shows as a patch, for programs that apply it."""

import re
from collections.abc import Generator
from typing import Literal, NamedTuple, cast

from ingot.web.file_response import stream_as_file
from ingot.web.files.uploads import file_response_headers
from ingot.web.page_routes import FileResponse, PageResponse

PatchSuffix = Literal["patch", "diff"]
_SUFFIXED = re.compile(r"(.+)\.(patch|diff)")


class SuffixedName(NamedTuple):
    """What an address names, and as what it is wanted."""

    name: str
    ending: PatchSuffix


def split_suffix(name: str) -> SuffixedName | None:
    """What stands before an ending, where there is one; a branch may be called like that itself."""
    found = _SUFFIXED.fullmatch(name)
    return SuffixedName(found[1], cast("PatchSuffix", found[2])) if found else None


def patch_response(name: str, pieces: Generator[bytes, None, None]) -> PageResponse:
    """The pieces as they come, as text that a browser shows."""
    return FileResponse(
        stream_as_file(pieces), None, "text/plain; charset=utf-8", file_response_headers(name, shown=True)
    )
