"""URLs with the suffix ``.patch`` or ``.diff``: patches as text for programs that apply them."""

import re
from typing import Literal, NamedTuple, cast

from ingot.repositories.browser import RepositoryPatch
from ingot.web.file_response import stream_as_file
from ingot.web.files.uploads import file_response_headers
from ingot.web.page_routes import BytesResponse, FileResponse, PageResponse

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


def patch_response(name: str, patch: RepositoryPatch) -> PageResponse:
    """Send a patch as text that a browser displays; one that is not in memory is streamed."""
    kind, headers = "text/plain; charset=utf-8", file_response_headers(name, shown=True)
    if isinstance(patch, bytes):
        return BytesResponse(patch, kind, headers)
    return FileResponse(stream_as_file(patch), None, kind, headers)
