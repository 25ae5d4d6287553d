"""A Jira server as far as we speak to it: an issue's comments, its links to us, and its way to being solved."""

import base64
import time
from typing import Any
from urllib.parse import quote

import msgspec

from ingot.core.outgoing.client import FetchResponse, Unreachable, send
from ingot.core.outgoing.guard import SsrfGuard

REQUEST_SECONDS = 5.0
TOTAL_SECONDS = 60.0
"""For all that is said at once: a server that is slow each time is tried again later."""
MAX_RESPONSE_BYTES = 2**20
_RETRYABLE_STATUSES = (408, 425, 429)


class JiraIssue(msgspec.Struct, frozen=True):
    """What we have to know of an issue."""

    solved: bool
    comments: list[str] | None
    """Nothing, where there is more than we read."""


class JiraClient:
    """Speaks to one server as one user; what cannot be reached for now raises ``Unreachable``."""

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
        """An issue; nothing where it does not exist, or not for this user."""
        answer = self._call("GET", f"{quote(key, safe='')}?fields=resolution,comment")
        if answer.status != 200:
            return None
        if answer.truncated:
            return JiraIssue(solved=False, comments=None)
        try:
            fields = msgspec.json.decode(answer.body).get("fields") or {}
            comments = (fields.get("comment") or {}).get("comments") or []
            bodies = [str(each.get("body")) for each in comments]
        except (msgspec.DecodeError, AttributeError) as error:
            raise Unreachable("The server's answer is not Jira's") from error
        return JiraIssue(solved=fields.get("resolution") is not None, comments=bodies)

    def comment(self, key: str, text: str) -> None:
        """Say something about an issue."""
        self._call("POST", f"{quote(key, safe='')}/comment", {"body": text})

    def link(self, key: str, url: str, title: str, *, solved: bool) -> None:
        """Let an issue show where it is spoken of; the same place is shown once."""
        place = {"url": url, "title": title, "status": {"resolved": solved}}
        self._call("POST", f"{quote(key, safe='')}/remotelink", {"globalId": url, "object": place})

    def move(self, key: str, transition: str) -> bool:
        """Let an issue go a step of its way; says whether it did."""
        answer = self._call("POST", f"{quote(key, safe='')}/transitions", {"transition": {"id": transition}})
        return 200 <= answer.status < 300

    def _call(self, method: str, path: str, content: Any = None) -> FetchResponse:
        left = self._until - time.monotonic()
        if left <= 0:
            raise Unreachable("The server took too long")
        answer = send(
            self._guard.pin(f"{self._url}/rest/api/2/issue/{path}"),
            method,
            self._headers,
            None if content is None else msgspec.json.encode(content),
            deadline_seconds=min(REQUEST_SECONDS, left),
            max_bytes=MAX_RESPONSE_BYTES,
        )
        if answer.status >= 500 or answer.status in _RETRYABLE_STATUSES:
            raise Unreachable(f"The server answered with status {answer.status}")
        return answer
