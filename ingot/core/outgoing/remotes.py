"""Discovery of a git repository on another server, following redirects through the SSRF guard."""

import base64
import ssl
import time
from typing import NamedTuple
from urllib.parse import urljoin

from ingot.core.outgoing.client import HttpResponse, send
from ingot.core.outgoing.errors import RequestFailed, RequestRefused
from ingot.core.outgoing.guard import PinnedUrl, SsrfGuard
from ingot.core.outgoing.urls import split_url

MAX_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_INFO_REFS = "/info/refs?service=git-upload-pack"
_FIRST_BYTES = 4
"""Bytes of the list of refs that are read: enough to see that there is one."""
_ADVERTISEMENT = "application/x-git-upload-pack-advertisement"


class RemoteRepository(NamedTuple):
    """URL of a repository after all redirects, its checked address, and the credentials to send there."""

    url: str
    pinned: PinnedUrl
    username: str
    password: str


def find_repository(
    guard: SsrfGuard,
    url: str,
    username: str = "",
    password: str = "",
    *,
    deadline_seconds: float = 30.0,
    tls: ssl.SSLContext | None = None,
) -> RemoteRepository:
    """Follow the redirects that git would follow, check each address, and return the last one.

    git can then be told to follow no redirect. A redirect to another server drops the credentials.
    """
    deadline = time.monotonic() + deadline_seconds
    if "?" in url or "#" in url:
        raise RequestRefused("The URL of a repository has no query and no fragment")
    current = url.rstrip("/")
    for _ in range(MAX_REDIRECTS + 1):
        pinned = guard.pin(current + _INFO_REFS)
        response = send(
            pinned,
            headers=_authorization(username, password),
            deadline_seconds=deadline - time.monotonic(),
            max_bytes=_FIRST_BYTES,
            tls=tls,
        )
        if response.status not in _REDIRECTS:
            _require_repository(response)
            return RemoteRepository(current, pinned, username, password)
        following = _redirect_target(guard, pinned, current, response.header("location") or "")
        if not _same_origin(following, pinned):
            username = password = ""
        current = following
    raise RequestFailed("The server redirects too often")


def _redirect_target(guard: SsrfGuard, pinned: PinnedUrl, current: str, location: str) -> str:
    """Return the repository that a redirect leads to; it must keep the end of the path, as git expects."""
    target = urljoin(current + _INFO_REFS, location)
    if not location or not target.endswith(_INFO_REFS):
        raise RequestFailed("The server redirects to what is not a repository")
    guard.check_url(target)
    if pinned.scheme == "https" and not target.lower().startswith("https:"):
        raise RequestRefused("The server redirects to an address that is not secure")
    return target.removesuffix(_INFO_REFS)


def _same_origin(url: str, pinned: PinnedUrl) -> bool:
    parts = split_url(url)
    return (parts.scheme, parts.host, parts.port) == (pinned.scheme, pinned.host, pinned.port)


def _require_repository(response: HttpResponse) -> None:
    if response.status in (401, 403):
        raise RequestFailed("The server refused the credentials")
    if response.status in (404, 410):
        raise RequestFailed("There is no repository there")
    if response.status != 200:
        raise RequestFailed(f"The server answered with status {response.status}")
    if _content_type(response) != _ADVERTISEMENT:
        # Also the answer of a plain file server; git would then follow paths that the server names.
        raise RequestFailed("There is no git repository there, or the server does not speak git's smart protocol")
    if not response.body:
        # Gitea's answer for a wiki without pages; git would take it for a broken connection.
        raise RequestFailed("The server sent an empty response instead of a git repository")


def _content_type(response: HttpResponse) -> str:
    return (response.header("content-type") or "").partition(";")[0].strip().lower()


def _authorization(username: str, password: str) -> dict[str, str]:
    if not (username or password):
        return {}
    return {"Authorization": "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()}
