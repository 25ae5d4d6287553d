"""HTTP component of static sites: from the host and path of a request to a file, a redirect or an error page."""

import asyncio
import mimetypes
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import NamedTuple, TypeVar
from urllib.parse import quote, unquote_to_bytes, urlsplit

from ingot.core.access.actor import ANONYMOUS
from ingot.core.api.ranges import content_response
from ingot.core.api.responses import ApiResponse
from ingot.core.api.routes import ContentResponse
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import Timestamp
from ingot.core.http.frontend import send_response
from ingot.core.http.request import Header, Request, Send, Trace
from ingot.core.http.stream import stream_response
from ingot.core.http.transfer_slots import TransferSlots, caller_of
from ingot.core.settings import Settings
from ingot.projects.namespaces.ip_restrictions import is_restricted
from ingot.sites.deployments.tables import PagesDeployment
from ingot.sites.domains.queries import challenge_response
from ingot.sites.files.index import SiteIndex
from ingot.sites.files.store import site_store_of
from ingot.sites.project_pages.addresses import sites_url
from ingot.sites.serving.access import CALLBACK_PATH, SiteSignIn, is_open_at, is_public, request_host
from ingot.sites.serving.content import (
    SiteFile,
    body_pieces,
    cached_body,
    cached_index,
    file_headers,
    find_file,
    is_small,
    read_body,
    site_index,
)
from ingot.sites.serving.error_pages import not_found
from ingot.sites.serving.redirects import MAX_BYTES, RedirectRule, describe_rules, find_target, parse_redirects
from ingot.sites.serving.sites import Site, SiteAddress, deployment_at, find_site, is_text, preload_lookup

T = TypeVar("T")
_TEXT: Header = (b"content-type", b"text/plain; charset=utf-8")
_NO_STORE: Header = (b"cache-control", b"no-store")
_METHODS = b"GET, HEAD, OPTIONS"
_CHALLENGES = b"/.well-known/acme-challenge/"
_REDIRECTS = "_redirects"


class _Visit(NamedTuple):
    """Part of a request that decides which site the visitor finds."""

    address: SiteAddress
    user_id: int | None
    ip: str


class _OpenSite(NamedTuple):
    """Site that is open to the address of a visitor."""

    site: Site
    now: Timestamp
    public: bool
    """Whether everyone may see the site from every address, so that caches may share its files."""


class _Opened:
    """A request to a deployment."""

    def __init__(
        self, request: Request, deployment: PagesDeployment, index: SiteIndex, path: str, *, public: bool
    ) -> None:
        self.request = request
        self.public = public
        self.deployment = deployment
        self.index = index
        self.path = path
        """Path below the deployment, without a slash at its beginning."""
        self.whole = b"range" not in request.headers

    def find(self, path: str) -> SiteFile | None:
        """Return the file with a path."""
        return find_file(self.deployment, self.index, path, self.request.headers, whole=self.whole)


class SitesComponent:
    """Component that serves the sites, on a port of their own or by their hosts."""

    def __init__(self, settings: Settings, database: Database, pool: Executor, transfers: TransferSlots) -> None:
        self._settings = settings
        self._database = database
        self._pool = pool
        self._transfers = transfers
        self._store = site_store_of(settings)
        self._sign_in = SiteSignIn(settings, database, pool)
        self._host = urlsplit(sites_url(settings)).hostname
        self._suffix = f".{settings.pages_host}" if settings.pages_host else ""

    def preload(self) -> None:
        """Do what the first request for a site does besides reading it, before the workers are forked."""
        mimetypes.init()
        self._database.read(partial(preload_lookup, settings=self._settings, host=f"none{self._suffix}"))

    def handles(self, request: Request) -> bool:  # noqa: ARG002 - Signature of a component.
        """Return whether the host of a request is that of a site; on a port of sites, every host is."""
        return True

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Respond to one request."""
        trace.route = "/pages"
        answer = await self._answer(request)
        if answer.pieces is None:
            await send_response(send, trace, answer.status, answer.headers, answer.body)
            return
        async with self._transfers.hold(caller_of(ANONYMOUS, request.origin.ip)):
            await stream_response(request, send, trace, answer.status, answer.headers, answer.pieces, self._pool)

    async def _answer(self, request: Request) -> ApiResponse:
        if request.method == "OPTIONS":
            headers = [(b"allow", _METHODS), (b"access-control-allow-origin", b"*")]
            return ApiResponse(204, b"", [*headers, (b"access-control-allow-methods", _METHODS)])
        if request.method not in ("GET", "HEAD"):
            return ApiResponse(405, b"405 Method Not Allowed", [(b"allow", _METHODS), _TEXT])
        if request.path.startswith(_CHALLENGES):
            return await self._challenge(request)
        if request.path == CALLBACK_PATH:
            return self._sign_in.finish(request)
        segments = _segments(request.path)
        if segments is None:
            return not_found()
        host, user_id = request_host(request), self._sign_in.user_id(request)
        visit = _Visit(SiteAddress(host, segments), user_id, request.origin.ip)
        found = await self._database.read_async(partial(_read_site, settings=self._settings, visit=visit), self._pool)
        if found is None:
            # Like a site that only members may see, whose existence strangers do not learn.
            names_site = host.endswith(self._suffix) if self._suffix else host == self._host
            return self._sign_in.start(request) if names_site and user_id is None else not_found()
        site = found.site
        moved = _moved(request, site, self._settings.pages_url)
        if moved is not None:
            return _redirect(request, 307, moved)
        if site.isolated_url:
            return _redirect(request, 308, _at_other_base(request, site, site.isolated_url))
        refusal = await self._sign_in.refusal(request, site)
        if refusal is not None:
            return refusal
        deployment, rest, prefix = deployment_at(site, segments, found.now)
        if deployment is None:
            return not_found()
        return await self._file(request, deployment, rest, site.base + prefix, public=found.public)

    async def _challenge(self, request: Request) -> ApiResponse:
        """Answer the ACME server, which checks that a domain leads here; other files at this path are of the site."""
        token = request.path.removeprefix(_CHALLENGES).decode("latin-1")
        read = partial(challenge_response, domain=request_host(request), token=token)
        response = await self._database.read_async(read, self._pool)
        return not_found() if response is None else ApiResponse(200, response.encode(), [_TEXT, _NO_STORE])

    async def _file(
        self, request: Request, deployment: PagesDeployment, rest: tuple[str, ...], base: str, *, public: bool
    ) -> ApiResponse:
        index = cached_index(deployment)
        if index is None:
            try:
                index = await self._in_thread(partial(site_index, self._store, deployment))
            except FileNotFoundError:
                return not_found()
        opened = _Opened(request, deployment, index, "/".join(rest), public=public)
        if not rest:
            return _redirect(request, 302, f"{_quoted(base)}/")
        if opened.path == _REDIRECTS:
            return ApiResponse(200, describe_rules(await self._rules(opened)).encode(), [_TEXT, _NO_STORE])
        answer = await self._existing(opened, opened.path)
        if answer is not None:
            return answer
        answer = await self._redirected(opened, base)
        if answer is not None:
            return answer
        file = opened.find("404.html")
        return not_found() if file is None else await self._send(opened, file, 404)

    async def _existing(self, opened: _Opened, path: str) -> ApiResponse | None:
        """Return the response with the file of a path: itself, the index of a folder, or the path with .html."""
        if path == "" or path.endswith("/"):
            file = opened.find(f"{path}index.html")
            return None if file is None else await self._send(opened, file, 200)
        file = opened.find(path)
        if file is None:
            if opened.find(f"{path}/index.html") is not None:
                return _redirect(opened.request, 302, opened.request.path.decode("latin-1") + "/")
            file = opened.find(f"{path}.html")
        return None if file is None else await self._send(opened, file, 200)

    async def _redirected(self, opened: _Opened, base: str) -> ApiResponse | None:
        """Return the response by the rules of the site, which name paths from the root of the host."""
        rules = await self._rules(opened)
        if not rules or not is_text(opened.path):
            return None
        origin = urlsplit(opened.request.origin.url)
        path = f"{base}/{opened.path}"
        target = find_target(rules, origin.scheme, origin.netloc, path)
        if target is None:
            return None
        if target.status != 200:
            return _redirect(opened.request, target.status, _location(target.location))
        rewritten = target.location
        if not rewritten.startswith(f"{base}/"):
            return None
        return await self._existing(opened, rewritten[len(base) + 1 :])

    async def _rules(self, opened: _Opened) -> tuple[RedirectRule, ...]:
        file = find_file(opened.deployment, opened.index, _REDIRECTS, {}, whole=False)
        if file is None or file.entry.size > MAX_BYTES:
            return ()
        body = cached_body(file)
        if body is None:
            body = await self._in_thread(partial(read_body, self._store, file))
        return parse_redirects(body.decode(errors="replace"))

    async def _send(self, opened: _Opened, file: SiteFile, status: int) -> ApiResponse:
        body = None
        if is_small(file):
            body = cached_body(file)
            if body is None:
                body = await self._in_thread(partial(read_body, self._store, file))
        content = ContentResponse(
            file.etag,
            file.size,
            partial(body_pieces, self._store, file),
            file.content_type,
            file_headers(file, public=opened.public),
            body,
        )
        if status != 200:
            return _whole(content, status)
        return content_response(content, opened.request)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


def _read_site(db: Connection, settings: Settings, visit: _Visit) -> _OpenSite | None:
    site = find_site(db, settings, visit.address)
    if site is None or not is_open_at(db, visit.user_id, site.project, visit.ip):
        return None
    public = is_public(site.project) and not is_restricted(db, site.project.full_path)
    return _OpenSite(site, db.now, public)


def _moved(request: Request, site: Site, pages_url: str) -> str | None:
    """Return the URL with the primary domain or with HTTPS, if the settings of the site ask for it."""
    parts = urlsplit(request.origin.url)
    path = _location(request.path.decode("latin-1"))
    if site.primary_url and urlsplit(site.primary_url).hostname != parts.hostname:
        return _at_other_base(request, site, site.primary_url)
    if site.pages is None or not site.pages.https_only or parts.scheme == "https":
        return None
    if site.domain is not None:
        return f"https://{site.domain.domain}{path}" if site.domain.certificate is not None else None
    return f"https://{parts.netloc}{path}" if pages_url.startswith("https:") else None


def _at_other_base(request: Request, site: Site, url: str) -> str:
    """Return the URL of a request at another URL of the same site."""
    # The base is as long as its decoded segments say; the client may have quoted and written it otherwise.
    below = request.path.split(b"/")[1 + site.base.count("/") :]
    return f"{url}/{_location(b'/'.join(below).decode('latin-1'))}"


def _segments(path: bytes) -> tuple[str, ...] | None:
    """Return the decoded parts of a path, of which the last is empty for a folder; None for a malformed path."""
    parts = [unquote_to_bytes(part).decode(errors="surrogateescape") for part in path.split(b"/")[1:]]
    unsafe = any(not part or part in (".", "..") for part in parts[:-1]) or parts[-1] in (".", "..")
    return None if unsafe or any("/" in part or "\0" in part for part in parts) else tuple(parts)


def _quoted(path: str) -> str:
    return quote(path, safe="/~!$&'()*+,;=:@", errors="surrogateescape")


def _location(target: str) -> str:
    """Return the target of a rule as a header has it: without characters that are not allowed in URLs."""
    return quote(target, safe="/~!$&'()*+,;=:@?#[]%", errors="surrogateescape")


def _redirect(request: Request, status: int, location: str) -> ApiResponse:
    if request.query and "?" not in location:
        location += f"?{_location(request.query.decode('latin-1'))}"
    return ApiResponse(status, b"", [(b"location", location.encode()), _NO_STORE])


def _whole(content: ContentResponse, status: int) -> ApiResponse:
    headers = [(b"content-type", content.content_type.encode()), *content.headers]
    if content.body is not None:
        return ApiResponse(status, content.body, headers)
    size = content.size or 0
    return ApiResponse(status, b"", [*headers, (b"content-length", b"%d" % size)], content.pieces(0, size))
