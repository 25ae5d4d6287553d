"""URLs with the suffix ``.patch`` or ``.diff``: patches as text for programs that apply them."""

import re
from collections.abc import Generator
from typing import Literal, NamedTuple, cast

from ingot.web.file_response import stream_as_file
from ingot.web.files.uploads import file_response_headers
from ingot.web.page_routes import FileResponse, PageResponse

PatchSuffix = Literal["patch", "diff"]
_SUFFIXED = re.compile(r"(.+)\.(patch|diff)")


class SuffixedName(NamedTuple):
    """Name from a URL, and the format that its suffix requests."""

    name: str
    ending: PatchSuffix


def split_suffix(name: str) -> SuffixedName | None:
    """Split off a format suffix, or return None. Branch names may end like this too, which callers must check."""
    match = _SUFFIXED.fullmatch(name)
    return SuffixedName(match[1], cast("PatchSuffix", match[2])) if match else None


def patch_response(name: str, pieces: Generator[bytes, None, None]) -> PageResponse:
    """Stream a patch as text that a browser displays."""
    return FileResponse(
        stream_as_file(pieces), None, "text/plain; charset=utf-8", file_response_headers(name, shown=True)
    )
