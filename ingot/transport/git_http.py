"""Git's smart protocol over HTTP, on ``/<namespace>/<project>.git``; files of repositories are not served."""

import asyncio
import re
from collections.abc import AsyncIterator
from time import monotonic
from urllib.parse import unquote

from ingot.core.api.call_log import CallLog, CallOwner, WritingCall
from ingot.core.errors import Unavailable
from ingot.core.http.frontend import send_response
from ingot.core.http.request import Header, Request, Send, Trace
from ingot.core.http.stream import wait_for_disconnect
from ingot.core.http.transfer_slots import TransferSlots
from ingot.git.core.errors import UNREADABLE_ERRORS
from ingot.git.writing.mirror_push import MIRROR_HEADER
from ingot.transport.authorization import HttpAuthorization
from ingot.transport.backend import GitBackend, ServiceRequest
from ingot.transport.exchange import EndReason, ExchangeEnd, GitExchange
from ingot.transport.fetch_counter import FetchCounter, PackDetector
from ingot.transport.git_services import max_request_bytes
from ingot.transport.packet_lines import FLUSH, encode_packet
from ingot.transport.policy import Service
from ingot.transport.push_messages import ClientAddress
from ingot.transport.refusals import GitRequestRefused, storage_refusal, unavailable
from ingot.transport.request_bodies import ClientDisconnected, read_body

MAX_COMPRESSED_REQUEST_BYTES = 64 * 2**20
"""Size of a compressed request after decompression; clients compress requests for packs, but not packs themselves."""
EXPECTED_SECONDS = 5.0
"""Time in which a client usually sends the request that follows the refs."""
_MAX_EXPECTED = 256
_CLIENT_CLOSED_REQUEST = 499
_CALL = re.compile(rb"/(?P<path>.+?)(?:\.git)?/(?P<call>info/refs|git-upload-pack|git-receive-pack)/?")
_REPOSITORY_FILE = re.compile(rb"/.+\.git/.+")
_SERVICES: dict[bytes, Service] = {b"git-upload-pack": "git-upload-pack", b"git-receive-pack": "git-receive-pack"}
_NO_CACHE: list[Header] = [
    (b"cache-control", b"no-cache, max-age=0, must-revalidate"),
    (b"pragma", b"no-cache"),
    (b"expires", b"Fri, 01 Jan 1980 00:00:00 GMT"),
    (b"x-content-type-options", b"nosniff"),
]
_REFUSALS = {
    EndReason.GIT_FAILED: (400, "Git does not understand this request."),
    EndReason.MALFORMED: (400, "Git does not understand this request."),
    EndReason.BAD_ENCODING: (400, "The body is not encoded as its Content-Encoding says."),
    EndReason.TOO_LARGE: (413, "The request is larger than allowed."),
    EndReason.TOO_SLOW: (408, "The body arrived too slowly."),
    EndReason.STALLED: (408, "The request took too long."),
}
_COMPLETE = (
    EndReason.COMPLETED,
    EndReason.GIT_FAILED,
    EndReason.MALFORMED,
    EndReason.HIDDEN_OBJECT,
    EndReason.PUSH_TOO_LARGE,
)
"""Ends after which the response is complete; after all others it is cut off, so that the client reports an error."""


_MIRROR_HEADER = MIRROR_HEADER.lower().encode()
_MIRROR_PATH = re.compile(rb"[0-9a-f]{16}(,[0-9a-f]{16}){0,19}")


class ExpectedRequests:
    """Clients that have received the refs of a repository and have not yet sent the request that follows."""

    def __init__(self) -> None:
        self._expected: dict[tuple[str, bytes, Service], float] = {}

    def __bool__(self) -> bool:
        """Return whether a request is expected now."""
        return any(monotonic() - since < EXPECTED_SECONDS for since in self._expected.values())

    def add(self, request: Request, path: bytes, service: Service) -> None:
        """Expect a request of this client."""
        if len(self._expected) >= _MAX_EXPECTED:
            del self._expected[next(iter(self._expected))]
        self._expected[request.origin.ip, path, service] = monotonic()

    def discard(self, request: Request, path: bytes, service: Service) -> None:
        """Note that the request has arrived."""
        self._expected.pop((request.origin.ip, path, service), None)


class GitHttp:
    """HTTP component for git's smart protocol."""

    def __init__(
        self, backend: GitBackend, authorization: HttpAuthorization, fetches: FetchCounter, call_log: CallLog
    ) -> None:
        self._backend = backend
        self._authorization = authorization
        self._fetches = fetches
        self._call_log = call_log
        self._slots = TransferSlots(backend.settings.max_transfers)
        self._expected = ExpectedRequests()

    def close(self) -> None:
        """Write the numbers of fetches that are not written yet."""
        self._fetches.close()

    def expects_requests(self) -> bool:
        """Return whether a client is between the requests of a push or fetch, which a restart would interrupt."""
        return bool(self._expected)

    def handles(self, request: Request) -> bool:
        """Return whether the path belongs to the smart protocol or to a file of a repository."""
        return bool(_CALL.fullmatch(request.path) or _REPOSITORY_FILE.fullmatch(request.path))

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Respond to one request."""
        try:
            await self._serve(request, send, trace)
            return
        except GitRequestRefused as error:
            refused = error
        except Exception as error:
            full = storage_refusal(error)
            if trace.answered or not (full or isinstance(error, Unavailable)):
                raise
            refused = full or unavailable(error if isinstance(error, Unavailable) else None)
        headers = [(b"content-type", b"text/plain; charset=utf-8"), *_NO_CACHE, *refused.headers]
        await send_response(send, trace, refused.status, headers, f"{refused.text}\n".encode())

    async def _serve(self, request: Request, send: Send, trace: Trace) -> None:
        call = _CALL.fullmatch(request.path)
        service = _service(request, call["call"]) if call else None
        if call is None or service is None:
            raise GitRequestRefused(404, "Not found. This server speaks the smart HTTP protocol only.")
        trace.route = f"/:path.git/{service}"
        identity = await self._authorization.identify(request)
        target = await self._authorization.authorize_target(identity, call["path"], service, trace)
        base_url = request.origin.base
        service_request = ServiceRequest(
            service,
            target,
            await self._backend.open(target),
            identity.authenticate,
            "http",
            ClientAddress(unquote(call["path"].decode("ascii")), f"{base_url}/"),
            base_url,
            await self._backend.max_push_bytes(),
            request.headers.get(b"git-protocol", b"").decode("latin-1"),
            trace.request_id,
            _visited(request),
        )
        advertise = call["call"] == b"info/refs"
        # In version 2 of the protocol, a fetch lists the refs with a request of its own.
        lists_refs = advertise or (service == "git-upload-pack" and service_request.git_protocol[:9] == "version=2")
        another_follows = lists_refs or _is_probe(request)
        self._expected.discard(request, call["path"], service)
        if another_follows:  # Before the response, because the server may stop accepting connections meanwhile.
            self._expected.add(request, call["path"], service)
        _require_form(request, service, advertise=advertise)
        async with self._slots.hold(identity.transfers):
            await (self._advertise if advertise else self._exchange)(service_request, request, send, trace)
        if service == "git-receive-pack" and trace.status == 200 and not another_follows:
            owner = CallOwner("", target.owner.full_path)
            self._call_log(WritingCall(identity.actor, "POST", trace.route, owner, 200, request.origin.ip))
        if another_follows:  # The time starts anew with the response.
            self._expected.add(request, call["path"], service)

    async def _advertise(self, service_request: ServiceRequest, request: Request, send: Send, trace: Trace) -> None:
        service = service_request.service
        prefix = b"" if service_request.git_protocol[:9] == "version=2" else _service_line(service)
        client = _HttpClient(request, send, trace, f"application/x-{service}-advertisement", prefix=prefix)
        end = await GitExchange(self._backend, service_request, client, ["--stateless-rpc", "--advertise-refs"]).run()
        if not end.responded and end.reason is not EndReason.DISCONNECTED:
            raise GitRequestRefused(503, UNREADABLE_ERRORS)
        await client.finish(end)

    async def _exchange(self, service_request: ServiceRequest, request: Request, send: Send, trace: Trace) -> None:
        service = service_request.service
        limit = max_request_bytes(service, service_request.max_push_bytes)
        if request.headers.get(b"content-encoding", b"identity").lower() != b"identity":
            limit = min(limit, MAX_COMPRESSED_REQUEST_BYTES)
        streamed = service == "git-receive-pack"
        client = _HttpClient(
            request, send, trace, f"application/x-{service}-result", max_bytes=limit, streamed=streamed
        )
        end = await GitExchange(self._backend, service_request, client, ["--stateless-rpc"]).run()
        if not end.responded and end.reason in _REFUSALS:
            raise GitRequestRefused(*_REFUSALS[end.reason])
        target = service_request.target
        if client.packs.found and target.project is not None and not target.wiki:
            self._fetches.note(target.project.id)
        await client.finish(end)


def _is_probe(request: Request) -> bool:
    """Return whether a client only tries its credentials, with an empty request, before it sends a large one."""
    return request.headers.get(b"content-length") == b"%d" % len(FLUSH)


class _HttpClient:
    """Git client of one HTTP request."""

    interactive = False

    def __init__(
        self,
        request: Request,
        send: Send,
        trace: Trace,
        content_type: str,
        *,
        max_bytes: int | None = None,
        streamed: bool = False,
        prefix: bytes = b"",
    ) -> None:
        self._request = request
        self._send = send
        self._trace = trace
        self._content_type = content_type.encode()
        self._max_bytes = max_bytes
        self._streamed = streamed
        self._prefix = prefix
        self._body_ended = asyncio.Event()
        self._disconnected = False
        self.packs = PackDetector()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the decompressed body, or nothing for a request without one."""
        try:
            if self._max_bytes is not None:
                encoding = self._request.headers.get(b"content-encoding", b"").lower()
                # Only a push may pause, while the client prepares the next objects.
                body = read_body(self._request.receive, encoding, self._max_bytes, streamed=self._streamed)
                async for chunk in body:
                    yield chunk
        except ClientDisconnected:
            self._disconnected = True
            raise
        finally:
            self._body_ended.set()

    async def send(self, chunk: bytes) -> None:
        """Send a part of the body, and the head before the first."""
        if not self._trace.answered:
            await self._send_head()
            chunk = self._prefix + chunk
        self.packs.feed(chunk)
        await self._send({"type": "http.response.body", "body": chunk, "more_body": True})

    async def wait_disconnected(self) -> None:
        """Wait for the end of the body, then for the end of the connection: only one task may receive at a time."""
        await self._body_ended.wait()
        if not self._disconnected:
            await wait_for_disconnect(self._request.receive)

    async def finish(self, end: ExchangeEnd) -> None:
        """End the response, unless the exchange was interrupted."""
        if end.reason in _COMPLETE:
            if not self._trace.answered:
                await self._send_head()
            await self._send({"type": "http.response.body", "body": b""})
        elif not self._trace.answered:
            self._trace.status = _CLIENT_CLOSED_REQUEST

    async def _send_head(self) -> None:
        request_id = (b"x-request-id", self._trace.request_id.encode())
        self._trace.status = 200
        self._trace.answered = True
        headers = [(b"content-type", self._content_type), *_NO_CACHE, request_id]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})


def _require_form(request: Request, service: Service, *, advertise: bool) -> None:
    method = "GET" if advertise else "POST"
    if request.method != method:
        raise GitRequestRefused(405, "Method not allowed.", (b"allow", method.encode()))
    content_type = f"application/x-{service}-request"
    if not advertise and request.headers.get(b"content-type") != content_type.encode():
        raise GitRequestRefused(415, f"The content type must be {content_type}.")


def _service(request: Request, call: bytes) -> Service | None:
    if call != b"info/refs":
        return _SERVICES.get(call)
    for part in request.query.split(b"&"):
        if part.startswith(b"service="):
            return _SERVICES.get(part.removeprefix(b"service="))
    return None


def _service_line(service: Service) -> bytes:
    return encode_packet(f"# service={service}\n".encode()) + FLUSH


def _visited(request: Request) -> str:
    """Return the path of a push through mirrors; empty if it is not in the form that this server sends."""
    path = request.headers.get(_MIRROR_HEADER, b"")
    return path.decode() if _MIRROR_PATH.fullmatch(path) else ""
