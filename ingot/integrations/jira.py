"""Client of Jira's REST API: comments, remote links and transitions of issues."""

import base64
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from ingot.core.outgoing.errors import RequestFailed
from ingot.core.outgoing.guard import SsrfGuard

if TYPE_CHECKING:
    from ingot.core.outgoing.client import HttpResponse

REQUEST_SECONDS = 5.0
TOTAL_SECONDS = 60.0
"""Limit of all requests of a job; if it is exceeded, the job is retried later."""
MAX_RESPONSE_BYTES = 2**20
_RETRYABLE_STATUSES = (408, 425, 429)


class JiraIssue(msgspec.Struct, frozen=True):
    """The parts of a Jira issue that are used here."""

    solved: bool
    comments: list[str] | None
    """None if the response exceeds the size limit."""


class JiraClient:
    """Client for one Jira server and user; raises ``RequestFailed`` for temporary failures."""

    def __init__(self, guard: SsrfGuard, url: str, username: str, password: str) -> None:
        self._guard = guard
        self._url = url.rstrip("/")
        secret = base64.b64encode(f"{username}:{password}".encode()).decode()
        self._headers = {
            "Authorization": f"Basic {secret}",
            "Content-Type": "application/json",
            "Accept": "application/json",
        }
        self._until = time.monotonic() + TOTAL_SECONDS

    def issue(self, key: str) -> JiraIssue | None:
        """Return an issue, or None if it does not exist or is hidden from the user."""
        response = self._call("GET", f"{quote(key, safe='')}?fields=resolution,comment")
        if response.status != 200:
            return None
        if response.truncated:
            return JiraIssue(solved=False, comments=None)
        try:
            fields = msgspec.json.decode(response.body).get("fields") or {}
            comments = (fields.get("comment") or {}).get("comments") or []
            bodies = [str(each.get("body")) for each in comments]
        except (msgspec.DecodeError, AttributeError) as error:
            raise RequestFailed("The response is not a Jira issue") from error
        return JiraIssue(solved=fields.get("resolution") is not None, comments=bodies)

    def comment(self, key: str, text: str) -> None:
        """Add a comment to an issue."""
        self._call("POST", f"{quote(key, safe='')}/comment", {"body": text})

    def link(self, key: str, url: str, title: str, *, solved: bool) -> None:
        """Add a remote link to an issue, or update the one with the same URL."""
        link = {"url": url, "title": title, "status": {"resolved": solved}}
        self._call("POST", f"{quote(key, safe='')}/remotelink", {"globalId": url, "object": link})

    def move(self, key: str, transition: str) -> bool:
        """Execute a transition of an issue; return whether it succeeded."""
        response = self._call("POST", f"{quote(key, safe='')}/transitions", {"transition": {"id": transition}})
        return 200 <= response.status < 300

    def _call(self, method: str, path: str, content: Any = None) -> "HttpResponse":
        from ingot.core.outgoing.client import send  # Web workers import this module for its jobs, and send nothing.

        left = self._until - time.monotonic()
        if left <= 0:
            raise RequestFailed("The server took too long")
        response = send(
            self._guard.pin(f"{self._url}/rest/api/2/issue/{path}"),
            method,
            self._headers,
            None if content is None else msgspec.json.encode(content),
            deadline_seconds=min(REQUEST_SECONDS, left),
            max_bytes=MAX_RESPONSE_BYTES,
        )
        if response.status >= 500 or response.status in _RETRYABLE_STATUSES:
            raise RequestFailed(f"The server answered with status {response.status}")
        return response
