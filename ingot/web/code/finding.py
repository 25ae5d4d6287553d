"""Finding a file by a part of its path."""

import gzip
from collections.abc import Sequence
from typing import Any

import msgspec

from ingot.db.connection import Connection
from ingot.git.file_names import file_names
from ingot.web.code.where import where_of
from ingot.web.pages import File, Pages, Reply, Visit

pages = Pages()
_SHOWN = 100
_IN_BROWSER = 30_000
"""So many paths a script gets, to look through them while somebody types."""
_LONGEST = 255


@pages.get("/:path/-/find_file", open=True)
def find_in_default(visit: Visit, db: Connection) -> Reply:
    """The same of the default branch."""
    return find_file(visit, db)


@pages.get("/:path/-/find_file/:rest", open=True, slashes="rest")
def find_file(visit: Visit, db: Connection) -> Reply:
    """The files whose path has what is searched for; ``list`` gives all paths, for a script."""
    where = where_of(visit, db)
    names = file_names(where.repository, where.commit)
    if "list" in visit.query:
        return _listed(names.paths[:_IN_BROWSER], zipped=visit.takes_gzip)
    search = str(visit.query.get("search", "")).strip()[:_LONGEST]
    found = _matching(names.paths, search)
    context: dict[str, Any] = {
        "where": where,
        "search": search,
        "found": found[:_SHOWN],
        "left": len(found) - len(found[:_SHOWN]),
        "total": len(names.paths),
        "more": names.more,
        "in_browser": min(_IN_BROWSER, len(names.paths)),
        "shown": _SHOWN,
    }
    return where.place.page("code/find_file.html", "code", context)


def _listed(paths: list[str], *, zipped: bool) -> File:
    """Paths as JSON; they repeat each other, so that a tenth of it is left of many."""
    body = msgspec.json.encode(paths)
    headers = [(b"vary", b"accept-encoding"), (b"cache-control", b"private, no-cache")]
    if zipped:
        body, headers = gzip.compress(body, 3), [*headers, (b"content-encoding", b"gzip")]
    return File(body, "application/json", headers)


def _matching(paths: Sequence[str], search: str) -> list[str]:
    """Those that have it in their last part come first, and the shorter ones before longer ones."""
    if not search:
        return list(paths)
    wanted = search.casefold()
    found = [(path, path.casefold()) for path in paths]
    ranked = [(wanted not in low.rpartition("/")[2], len(path), path) for path, low in found if wanted in low]
    return [path for _, _, path in sorted(ranked)]
