"""Static files of the pages, looked up by name, so that no path from a request reaches the file system.

The files in ``styles`` and ``scripts`` are each concatenated into one file. Versioned URLs are cached indefinitely.
"""

import re
from functools import cache, lru_cache
from gzip import compress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from ingot.core.errors import NotFound
from ingot.core.http.content_headers import accepts_gzip
from ingot.core.http.frontend import send_response
from ingot.core.http.request import Header, Request, Send, Trace
from ingot.web.page_routes import SANDBOX, SECURITY_HEADERS, BytesResponse, PageResponse, PageRoutes, Visit

pages = PageRoutes()
_HERE = Path(__file__).parent.parent
_VENDORED = ("swagger-ui", "htmx", "lucide", "codemirror", "mermaid", "katex")
_FOLDERS = (_HERE / "static", *(_HERE / "vendor" / name for name in _VENDORED))
_PARTS = {"ingot.css": _HERE / "styles", "ingot.js": _HERE / "scripts"}
LAYOUT_FILES = ("ingot.css", "ingot.js", "ingot.svg", "icons.svg", "htmx.min.js")
"""Files that every page uses."""
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
_PREFIX = b"/assets/"
_ICON_PATH = b"/favicon.ico"
"""Path at which clients look for an icon that do not read the page's link to it."""
# Comments on lines of their own; a string such as "image/*" does not begin one.
_COMMENT = re.compile(rb"^[ \t]*/\*.*?\*/[ \t]*\n", re.DOTALL | re.MULTILINE)
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


def _source(file: Path) -> bytes:
    """Return the content of a file; our own styles and scripts without comments, which are a fifth of them."""
    content = file.read_bytes()
    return content if "vendor" in file.parts or file.suffix == ".svg" else _COMMENT.sub(b"", content)


@lru_cache(maxsize=256)
def _asset(name: str) -> _Asset:
    content = b"\n".join(_source(file) for file in _files()[name])
    return _Asset(content, compress(content, 9, mtime=0), _TYPES[Path(name).suffix], blake2b(content).hexdigest()[:12])


@lru_cache(maxsize=256)
def versioned_url(name: str) -> str:
    """Return the URL of a static file with its version, which changes with the content."""
    return f"/assets/{name}?v={_asset(name).version}"


@pages.get("/assets/:file", open=True, with_expired_password=True)
def show_static(visit: Visit) -> PageResponse:
    """Return a static file, for requests that ``StaticFiles`` leaves to the pages."""
    name = visit.request.path["file"]
    if name not in _files():
        raise NotFound("File")
    return _response(name, visit.request.query.get("v"), visit.headers.takes_gzip)


class StaticFiles:
    """HTTP component that sends static files without the database, so that they load when it does not answer."""

    def handles(self, request: Request) -> bool:
        """Return whether the request is for a file that exists; other paths get the page for missing ones."""
        return request.method == "GET" and _requested_name(request) in _files()

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Send a file."""
        trace.route = "/assets/:file"
        version = request.query.removeprefix(b"v=").decode("latin-1")
        takes_gzip = accepts_gzip(request.headers)
        file = _response(_requested_name(request), version, takes_gzip)
        kind = (b"content-type", file.content_type.encode())
        await send_response(send, trace, 200, [kind, SANDBOX, *SECURITY_HEADERS, *file.headers], file.content)


def _requested_name(request: Request) -> str:
    if request.path == _ICON_PATH:
        return "ingot.svg"
    return request.path.removeprefix(_PREFIX).decode("latin-1") if request.path.startswith(_PREFIX) else ""


def _response(name: str, version: object, takes_gzip: bool) -> BytesResponse:
    asset = _asset(name)
    cache_control = _CACHE_FOREVER if version == asset.version else _CACHE_ONE_HOUR
    headers = [cache_control, (b"vary", b"accept-encoding")]
    if takes_gzip:
        return BytesResponse(asset.packed, asset.kind, [*headers, (b"content-encoding", b"gzip")])
    return BytesResponse(asset.content, asset.kind, headers)
