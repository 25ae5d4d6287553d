"""Exchange of bytes between a client and a git process, for HTTP, SSH and the forced command of OpenSSH alike."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import nullcontext
from enum import Enum
from time import monotonic
from typing import NamedTuple, Protocol

from ingot.core.http.transfer_rate import TransferTooSlow
from ingot.git.bucket.use_lock import copy_in_use
from ingot.transport.archive_requests import ArchiveTooLarge, RefNotServed, check_archive_request
from ingot.transport.backend import GitBackend, ServiceRequest
from ingot.transport.fetch_requests import HiddenObject, check_wants
from ingot.transport.git_process import ARCHIVE_LIMITS, FETCH_LIMITS, GitProcess
from ingot.transport.git_services import hidden_refs, max_request_bytes, protocol_environment, withheld_refs
from ingot.transport.message_filter import MessageFilter, clean_messages
from ingot.transport.packet_lines import MalformedPacket
from ingot.transport.push_requests import PushTooLarge, check_push
from ingot.transport.refusals import require_free_space
from ingot.transport.request_bodies import BadEncoding, ClientDisconnected, ClientStalled, RequestTooLarge

IDLE_SECONDS = 900.0
"""Git sends something every few seconds while it works; a client may need minutes to pack what it pushes."""


class GitClient(Protocol):
    """Connection to a git client."""

    interactive: bool
    """Whether the client reads responses before it has sent its whole request."""

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield the bytes that the client sends; raise ``ClientDisconnected``."""

    async def send(self, chunk: bytes) -> None:
        """Send bytes to the client; raise ``ClientDisconnected``, or ``ClientStalled`` if it reads too slowly."""

    async def wait_disconnected(self) -> None:
        """Return when the client has disconnected."""


class EndReason(Enum):
    """Reason why an exchange ended."""

    COMPLETED = "git ended successfully"
    GIT_FAILED = "git ended with an error"
    TOO_LARGE = "the request exceeds the size limit"
    BAD_ENCODING = "the request is not encoded as its header says"
    MALFORMED = "the request is not in the form of git's protocol"
    TOO_SLOW = "the request arrives too slowly"
    HIDDEN_OBJECT = "the request names an object that only hidden refs reach"
    PUSH_TOO_LARGE = "the request names too many refs or objects"
    REF_NOT_SERVED = "the request names a ref that is not served"
    ARCHIVE_TOO_LARGE = "the request names a commit with too many files"
    DISCONNECTED = "the client disconnected"
    STALLED = "the client neither sends nor reads"


class ExchangeEnd(NamedTuple):
    """Result of an exchange."""

    reason: EndReason
    status: int
    """Exit status of git; negative if it was killed."""
    responded: bool
    """Whether anything was sent to the client."""
    stderr: str


_REASONS: dict[type[Exception], EndReason] = {
    RequestTooLarge: EndReason.TOO_LARGE,
    BadEncoding: EndReason.BAD_ENCODING,
    MalformedPacket: EndReason.MALFORMED,
    TransferTooSlow: EndReason.TOO_SLOW,
    TimeoutError: EndReason.TOO_SLOW,
    HiddenObject: EndReason.HIDDEN_OBJECT,
    PushTooLarge: EndReason.PUSH_TOO_LARGE,
    RefNotServed: EndReason.REF_NOT_SERVED,
    ArchiveTooLarge: EndReason.ARCHIVE_TOO_LARGE,
    ClientDisconnected: EndReason.DISCONNECTED,
    ClientStalled: EndReason.STALLED,
}
_KILLED = -9
_FAILED = 128
"""Exit status of git when it fails."""


class GitExchange:
    """One exchange, from the start of git until it has ended and its changes are recorded."""

    def __init__(
        self, backend: GitBackend, request: ServiceRequest, client: GitClient, options: Sequence[str] = ()
    ) -> None:
        self._backend = backend
        self._request = request
        self._client = client
        self._args = [request.service.removeprefix("git-"), *options, "."]
        advertises = "--advertise-refs" in options
        self._push = backend.push(request) if request.service == "git-receive-pack" and not advertises else None
        # The response to a fetch is mostly a pack, and its messages name files of the repository only relatively.
        self._filter = (
            None if request.service == "git-upload-pack" else MessageFilter(request.repository.path, self._log_message)
        )
        self._active_at = monotonic()
        self._idle = False
        self._responded = False

    async def run(self) -> ExchangeEnd:
        """Run git and copy bytes in both directions; raise ``GitRequestRefused`` if the repository has disappeared."""
        refs, path = self._request.repository.ref_store, self._request.repository.path
        try:
            with nullcontext() if refs is None else copy_in_use(path):
                if self._request.service == "git-receive-pack":
                    require_free_space(path)
                return await self._run()
        except FileNotFoundError:
            if self._responded or self._request.repository.path.exists():
                raise
            raise await self._backend.missing(self._request.target) from None

    async def _run(self) -> ExchangeEnd:
        async with await self._start() as process:
            feeding = asyncio.ensure_future(self._feed(process))
            feeding.add_done_callback(_retrieve_exception)
            disconnect = asyncio.ensure_future(self._kill_on_disconnect(process))
            idle = asyncio.ensure_future(self._kill_when_idle(process))
            reason, status = EndReason.GIT_FAILED, _KILLED
            try:
                status = await self._respond(process, feeding)
                reason = self._reason(status, disconnect)
            except tuple(_REASONS) as error:
                reason = await self._request_error(error)
            finally:
                for task in (feeding, disconnect, idle):
                    task.cancel()
                if self._push is not None:
                    await self._push.finish(process)
            if reason is EndReason.GIT_FAILED:
                self._log_failure(status, process)
            if self._is_failure(reason) and not self._request.repository.path.exists():
                return await self._vanished()
            stderr = clean_messages(process.stderr, self._request.repository.path, self._log_message)
            return ExchangeEnd(reason, status, self._responded, stderr)

    def _is_failure(self, reason: EndReason) -> bool:
        """Return whether git failed; for a push it may report that to the client and end successfully."""
        refused = self._push is not None and not self._push.made_updates
        return reason is EndReason.GIT_FAILED or (reason is EndReason.COMPLETED and refused)

    async def _vanished(self) -> ExchangeEnd:
        """Return the end of an exchange whose repository was removed; raise the refusal if nothing was sent yet."""
        refusal = await self._backend.missing(self._request.target)
        if not self._responded:
            raise refusal
        return ExchangeEnd(EndReason.GIT_FAILED, _FAILED, True, f"{refusal.text}\n")

    async def _start(self) -> GitProcess:
        config, env = self._backend.config(self._request), protocol_environment(self._request.git_protocol)
        if self._push is not None:
            return await self._push.start(self._args, config, env)
        return await GitProcess.start(
            self._args,
            self._request.repository.path,
            config=config,
            env=env,
            limits=ARCHIVE_LIMITS if self._request.service == "git-upload-archive" else FETCH_LIMITS,
        )

    async def _respond(self, process: GitProcess, feeding: "asyncio.Future[None]") -> int:
        """Copy git's output to the client; return the exit status, or raise what was wrong with the request."""
        output = self._output(process)
        chunk = await anext(output, b"")
        if self._push is not None and not self._client.interactive:
            # Git may report an error after the first bytes; a violated limit of the request takes precedence.
            await asyncio.wait([feeding])
            feeding.result()
        while chunk:
            for part in [chunk] if self._push is None else self._push.hold(chunk):
                await self._send(part)
            chunk = await anext(output, b"")
        status = await process.wait()
        for part in [] if self._push is None else await self._push.conclude(status):
            await self._send(part)
        if not self._client.interactive:
            # Git may end before the rest of the request was checked.
            await asyncio.wait([feeding])
        if feeding.done():
            feeding.result()
        return status

    async def _output(self, process: GitProcess) -> AsyncIterator[bytes]:
        """Yield git's output without paths of this server."""
        while chunk := await process.read():
            if self._filter is not None:
                chunk = self._filter.feed(chunk)
            if chunk:
                yield chunk
        rest = b"" if self._filter is None else self._filter.finish()
        if rest:
            yield rest

    async def _request_error(self, error: Exception) -> EndReason:
        try:
            if isinstance(error, HiddenObject | PushTooLarge):
                await self._send(error.response)
        except (ClientDisconnected, ClientStalled) as failure:
            error = failure
        return _REASONS[type(error)]

    def _reason(self, status: int, disconnect: "asyncio.Future[None]") -> EndReason:
        if status == 0:
            return EndReason.COMPLETED
        if disconnect.done():
            return EndReason.DISCONNECTED
        return EndReason.STALLED if self._idle else EndReason.GIT_FAILED

    async def _send(self, chunk: bytes) -> None:
        self._responded = True
        await self._client.send(chunk)
        self._active_at = monotonic()

    async def _feed(self, process: GitProcess) -> None:
        """Pass the request to git, which is killed if the request is refused."""
        try:
            await process.feed(self._checked(self._limited()))
        except ClientDisconnected:  # An accepted push is completed; otherwise git is killed on the disconnect.
            raise
        except Exception:
            process.kill()
            raise

    async def _limited(self) -> AsyncIterator[bytes]:
        received, limit = 0, max_request_bytes(self._request.service, self._request.max_push_bytes)
        async for chunk in self._client.chunks():
            self._active_at = monotonic()
            received += len(chunk)
            if received > limit:
                raise RequestTooLarge
            yield chunk

    def _checked(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        service, project, repository = self._request.service, self._request.target.project, self._request.repository
        if service == "git-upload-archive":
            return check_archive_request(chunks, repository, hidden_refs(project), self._backend.pool)
        if service == "git-upload-pack" and (withheld := withheld_refs(project)):
            return check_wants(chunks, repository, withheld, self._backend.pool)
        if service == "git-receive-pack":
            return check_push(chunks, to_end=not self._client.interactive)
        return chunks

    async def _kill_on_disconnect(self, process: GitProcess) -> None:
        await self._client.wait_disconnected()
        if self._push is None or not self._push.accepted:
            process.kill()

    async def _kill_when_idle(self, process: GitProcess) -> None:
        while (left := self._active_at + IDLE_SECONDS - monotonic()) > 0:
            await asyncio.sleep(left)
        self._idle = True
        process.kill()

    def _log_message(self, message: str) -> None:
        self._backend.log("git message withheld", request_id=self._request.request_id, message=message)

    def _log_failure(self, status: int, process: GitProcess) -> None:
        request = self._request
        self._backend.log(
            "git failed",
            request_id=request.request_id,
            service=request.service,
            status=status,
            stderr=process.stderr,
        )


def _retrieve_exception(task: "asyncio.Future[None]") -> None:
    """Mark an exception as seen: an exchange that ended for another reason does not look at it."""
    if not task.cancelled():
        task.exception()
