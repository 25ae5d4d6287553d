"""Static files of the pages, looked up by name, so that no path from a request reaches the file system.

The files in ``styles`` and ``scripts`` are each concatenated into one file. Versioned URLs are cached indefinitely.
"""

from functools import cache, lru_cache
from gzip import compress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from ingot.core.http.request import Header
from ingot.errors import NotFound
from ingot.web.page_routes import BytesResponse, PageResponse, PageRoutes, Visit

pages = PageRoutes()
_HERE = Path(__file__).parent.parent
_FOLDERS = (_HERE / "static", _HERE / "vendor" / "swagger-ui", _HERE / "vendor" / "htmx")
_PARTS = {"ingot.css": _HERE / "styles", "ingot.js": _HERE / "scripts"}
LAYOUT_FILES = ("ingot.css", "ingot.js", "ingot.svg", "htmx.min.js")
"""Files that every page uses."""
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
_CACHE_FOREVER: Header = (b"cache-control", b"public, max-age=31536000, immutable")
_CACHE_ONE_HOUR: Header = (b"cache-control", b"public, max-age=3600")


class _Asset(NamedTuple):
    content: bytes
    packed: bytes
    kind: str
    version: str


@cache
def _files() -> dict[str, list[Path]]:
    single = {file.name: [file] for folder in _FOLDERS for file in folder.glob("*") if file.suffix in _TYPES}
    return single | {name: sorted(folder.glob(f"*{Path(name).suffix}")) for name, folder in _PARTS.items()}


@lru_cache(maxsize=256)
def _asset(name: str) -> _Asset:
    content = b"\n".join(file.read_bytes() for file in _files()[name])
    return _Asset(content, compress(content, 9, mtime=0), _TYPES[Path(name).suffix], blake2b(content).hexdigest()[:12])


@lru_cache(maxsize=256)
def versioned_url(name: str) -> str:
    """Return the URL of a static file with its version, which changes with the content."""
    return f"/static/{name}?v={_asset(name).version}"


@pages.get("/static/:file", open=True, with_expired_password=True)
def show_static(visit: Visit) -> PageResponse:
    """Return a static file."""
    name = visit.request.path["file"]
    if name not in _files():
        raise NotFound("File")
    asset = _asset(name)
    kept = _CACHE_FOREVER if visit.request.query.get("v") == asset.version else _CACHE_ONE_HOUR
    headers = [kept, (b"vary", b"accept-encoding")]
    if visit.headers.takes_gzip:
        return BytesResponse(asset.packed, asset.kind, [*headers, (b"content-encoding", b"gzip")])
    return BytesResponse(asset.content, asset.kind, headers)
