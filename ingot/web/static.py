"""Stylesheets and scripts that pages need; known by name, so that no path of a caller reaches the disk."""

from functools import cache
from pathlib import Path

from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.web.pages import File, Pages, Reply, Visit

pages = Pages()
_FOLDERS = (Path(__file__).parent / "static", Path(__file__).parent / "vendor" / "swagger-ui")
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


@cache
def _files() -> dict[str, Path]:
    return {file.name: file for folder in _FOLDERS for file in folder.glob("*") if file.suffix in _TYPES}


@pages.get("/static/:file", open=True, with_expired_password=True)
def show_static(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """A file of the pages."""
    file = _files().get(visit.path["file"])
    if file is None:
        raise NotFound("File")
    return File(file.read_bytes(), _TYPES[file.suffix], [(b"cache-control", b"public, max-age=3600")])
