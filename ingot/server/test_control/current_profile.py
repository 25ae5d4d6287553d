"""Profile ``current``: requests and responses as in today's versions of GitLab, where the kernel behaves like 9.4."""

import re

import msgspec

from ingot.core.http.request import Header, Message, Receive, Send
from ingot.core.settings import Settings
from ingot.server.test_control.exchange import AsgiApplication, respond, respond_bytes
from ingot.server.test_control.unreadable_objects import ListedObject, listed_object

_API = b"/api/v4"
_RAW_FILE = re.compile(rb"/api/v4/projects/[^/]+/repository/files/.+/raw")
_ACCEPTED = re.compile(r"/(projects|groups)/[^/]+|/projects/[^/]+/repository/merged_branches")
_RETURNS_DOCUMENT = re.compile(
    r"/projects/[^/]+/(releases/.+|issues/[^/]+/links/[^/]+|feature_flags/[^/]+|registry/repositories/.+)"
)
_FILE = re.compile(r"/projects/[^/]+/repository/files/.+")
_CANCELED_MERGE = re.compile(rb"/api/v4/projects/[^/]+/merge_requests/\d+/cancel_merge_when_pipeline_succeeds")
_MISSING_PARAMETER = re.compile(rb'\{"message":"400 \(Bad request\) \\"(.+)\\" not given"\}')
_INVALID_FILTER = re.compile(rb'\{"message":\{"(\w+)":\["is invalid"\]\}\}')
_HEADERS_OF_A_BODY = {b"content-type", b"content-length"}


def with_profile(application: AsgiApplication, settings: Settings) -> AsgiApplication:
    """Return the application with the behaviour of the profile of the instance."""
    return CurrentProfile(application) if settings.profile == "current" else application


class CurrentProfile:
    """Application in front of that of the server, which changes the calls whose behaviour depends on the version."""

    def __init__(self, application: AsgiApplication) -> None:
        self._application = application

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        if scope["method"] == "DELETE" and scope["raw_path"].startswith(_API):
            await self._delete(scope, receive, send)
            return
        if scope["method"] in ("GET", "HEAD") and _RAW_FILE.fullmatch(scope["raw_path"]):
            _add_default_ref(scope)
        if scope["method"] == "POST" and _CANCELED_MERGE.fullmatch(scope["raw_path"]):
            await self._cancel_merge(scope, receive, send)
            return
        await self._application(scope, receive, _RefusalRewriter(send, scope["method"]))

    async def _delete(self, scope: Message, receive: Receive, send: Send) -> None:
        """Delete an object: 204 without a body, or 404 if it does not exist; 9.4 returns 200 in both cases."""
        path = scope["raw_path"].removeprefix(_API).decode("latin-1")
        absence = await self._absence(scope, path)
        # Requested in any case, because a caller without permission is refused whether the object exists or not.
        deleted = await self._response(scope, receive)
        if absence is not None and deleted.status < 300:
            await respond_bytes(send, 404, absence.headers_of_body(), absence.body)
            return
        if deleted.status != 200 or (_RETURNS_DOCUMENT.fullmatch(path) and deleted.body):
            rewriter = _RefusalRewriter(send, scope["method"])
            await rewriter({"type": "http.response.start", "status": deleted.status, "headers": deleted.headers})
            await rewriter({"type": "http.response.body", "body": deleted.body})
        elif _ACCEPTED.fullmatch(path):
            await respond(send, 202, {"message": "202 Accepted"})
        elif _FILE.fullmatch(path) and not deleted.body:
            await respond(send, 400, {"message": "A file with this name doesn't exist"})
        else:
            await respond_bytes(send, 204, _without_body(deleted.headers), b"")

    async def _cancel_merge(self, scope: Message, receive: Receive, send: Send) -> None:
        """Cancel an automatic merge; 9.4 returns the merge request."""
        response = await self._response(scope, receive)
        if response.status == 201:
            await respond(send, 201, {"status": "success"})
        else:
            await respond_bytes(send, response.status, response.headers_of_body(), response.body)

    async def _absence(self, scope: Message, path: str) -> "_BufferedResponse | None":
        """Return the response that an object does not exist, or None if it may exist."""
        listed = listed_object(path)
        if listed is None:
            current = await self._read(scope, scope["raw_path"], scope["query_string"])
            return current if current.status == 404 else None
        if not await self._is_missing(scope, listed):
            return None
        absence = _BufferedResponse()
        await respond(absence.send, 404, {"message": listed.message})
        return absence

    async def _is_missing(self, scope: Message, listed: ListedObject) -> bool:
        """Return whether no page of a list contains an object; False if the caller may not see the list."""
        page = b"1"
        while page:
            response = await self._read(scope, _API + listed.path.encode("latin-1"), b"per_page=100&page=" + page)
            if response.status != 200 or not listed.is_missing_in(msgspec.json.decode(response.body)):
                return False
            page = dict(response.headers).get(b"x-next-page", b"")
        return True

    async def _read(self, scope: Message, path: bytes, query: bytes) -> "_BufferedResponse":
        reading = {"method": "GET", "raw_path": path, "query_string": query, "headers": _without_body(scope["headers"])}
        return await self._response({**scope, **reading}, _no_body)

    async def _response(self, scope: Message, receive: Receive) -> "_BufferedResponse":
        response = _BufferedResponse()
        await self._application(scope, receive, response.send)
        return response


class _BufferedResponse:
    """Response that is complete before any of it is sent."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: list[Header] = []
        self.body = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message["headers"])
        else:
            self.body += message.get("body", b"")

    def headers_of_body(self) -> list[Header]:
        return [header for header in self.headers if header[0].lower() == b"content-type"]


class _RefusalRewriter:
    """``send`` that changes messages of missing parameters and invalid filters to those of today's versions."""

    def __init__(self, send: Send, method: str) -> None:
        self._send = send
        self._method = method
        self._is_refusal = False
        self._refusal = _BufferedResponse()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._is_refusal = message["status"] == 400
        if not self._is_refusal:
            await self._send(message)
            return
        await self._refusal.send(message)
        if message["type"] == "http.response.start" or message.get("more_body"):
            return
        body = self._refusal.body
        if missing := _MISSING_PARAMETER.fullmatch(body):
            body = b'{"error":"%b is missing"}' % missing[1]
        elif self._method == "GET" and (invalid := _INVALID_FILTER.fullmatch(body)):
            body = b'{"error":"%b does not have a valid value"}' % invalid[1]
        headers = _without_body(self._refusal.headers) + self._refusal.headers_of_body()
        await respond_bytes(self._send, 400, headers, body)


async def _no_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


def _without_body(headers: list[Header]) -> list[Header]:
    return [header for header in headers if header[0].lower() not in _HEADERS_OF_A_BODY]


def _add_default_ref(scope: Message) -> None:
    """Add the parameter ``ref`` to the request of a raw file, which 9.4 requires."""
    query: bytes = scope["query_string"]
    if not any(part.startswith(b"ref=") for part in query.split(b"&")):
        scope["query_string"] = query + b"&ref=HEAD" if query else b"ref=HEAD"
