"""File finder: search for files by a part of their path."""

import gzip
from collections.abc import Sequence
from typing import Any

import msgspec

from ingot.repositories import browser
from ingot.web.code.location import code_location
from ingot.web.page_routes import BytesResponse, PageResponse, PageRoutes, Visit

pages = PageRoutes()
_MAX_SHOWN = 100
_MAX_IN_BROWSER = 30_000
"""Maximum number of paths sent to the script, which filters them as the user types."""
_MAX_QUERY_LENGTH = 255


@pages.get("/:path/-/find_file", open=True)
def find_file_in_default_branch(visit: Visit) -> PageResponse:
    """Search the files of the default branch."""
    return find_file(visit)


@pages.get("/:path/-/find_file/:rest", open=True, slashes="rest")
def find_file(visit: Visit) -> PageResponse:
    """List the files whose path matches the search; ``list`` returns all paths for the script."""
    location = code_location(visit)
    names = browser.list_file_paths(location.repository, location.commit)
    if "list" in visit.request.query:
        return _paths_as_json(names.paths[:_MAX_IN_BROWSER], zipped=visit.headers.takes_gzip)
    search = str(visit.request.query.get("search", "")).strip()[:_MAX_QUERY_LENGTH]
    matches = matching_paths(names.paths, search)
    context: dict[str, Any] = {
        "location": location,
        "search": search,
        "matches": matches[:_MAX_SHOWN],
        "left": len(matches) - len(matches[:_MAX_SHOWN]),
        "total": len(names.paths),
        "more": names.more,
        "in_browser": min(_MAX_IN_BROWSER, len(names.paths)),
        "shown": _MAX_SHOWN,
    }
    return location.parent.page("code/find_file.html", "code", context)


def _paths_as_json(paths: list[str], *, zipped: bool) -> BytesResponse:
    """Return paths as JSON; gzip reduces long lists to about a tenth."""
    body = msgspec.json.encode(paths)
    headers = [(b"vary", b"accept-encoding"), (b"cache-control", b"private, no-cache")]
    if zipped:
        body, headers = gzip.compress(body, 3), [*headers, (b"content-encoding", b"gzip")]
    return BytesResponse(body, "application/json", headers)


def matching_paths(paths: Sequence[str], search: str) -> list[str]:
    """Return the matching paths: matches in the file name first, then shorter paths before longer ones."""
    if not search:
        return list(paths)
    term = search.casefold()
    lowered = [(path, path.casefold()) for path in paths]
    ranked = [
        (term not in lower_path.rpartition("/")[2], len(path), path)
        for path, lower_path in lowered
        if term in lower_path
    ]
    return [path for _, _, path in sorted(ranked)]
