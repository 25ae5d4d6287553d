"""ASGI application of a server for tests: control endpoints, recorded requests, faults, and the real application."""

import hmac
import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl

import msgspec

from ingot.core.errors import Failure, Invalid, NotFound
from ingot.core.http.request import Message, Receive, Send
from ingot.server.test_control.control import TestControl
from ingot.server.test_control.current_profile import with_profile
from ingot.server.test_control.exchange import read_body, respond
from ingot.server.test_control.faults import FaultRule, apply_fault
from ingot.server.test_control.seed_description import parse_description

PREFIX = "/-/testing/"
SECRET_HEADER = b"x-ingot-testing"
MAX_BODY_BYTES = 64 * 2**20
P = TypeVar("P", bound=msgspec.Struct)


class NamedSnapshot(msgspec.Struct, forbid_unknown_fields=True):
    """Name of a snapshot."""

    name: str = ""


class ClockChange(msgspec.Struct, forbid_unknown_fields=True):
    """Changes of the clock, in this order."""

    set: str | None = None
    advance: float = 0.0
    frozen: bool | None = None


class ListFilter(msgspec.Struct, forbid_unknown_fields=True):
    """Filter of a list; with ``wait``, respond when there are ``count`` elements."""

    after: int = 0
    wait: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 0.0
    count: int = 1


class RequestFilter(ListFilter):
    """Filter of the requests received."""

    method: str = ""
    path: str = ""


class DeliveryFilter(ListFilter):
    """Filter of the deliveries of webhooks."""

    receiver: str = ""
    event: str = ""


class TestFrontend:
    """Application in front of that of the server."""

    def __init__(self, control: TestControl, secret: str) -> None:
        self._control = control
        self._secret = secret.encode()
        process = control.process
        self._application = with_profile(process, process.settings)
        self._endpoints: dict[tuple[str, str], Callable[[bytes, bytes], Awaitable[Any]]] = {
            ("POST", "reset"): self._reset,
            ("POST", "snapshot"): self._take_snapshot,
            ("POST", "seed"): self._seed,
            ("GET", "clock"): self._show_clock,
            ("POST", "clock"): self._change_clock,
            ("GET", "faults"): self._list_faults,
            ("POST", "faults"): self._add_fault,
            ("DELETE", "faults"): self._clear_faults,
            ("GET", "requests"): self._list_requests,
            ("DELETE", "requests"): self._clear_requests,
            ("GET", "hooks"): self._list_hooks,
            ("DELETE", "hooks"): self._clear_hooks,
            ("POST", "jobs/run"): self._run_jobs,
        }

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        path: str = scope["raw_path"].decode("latin-1")
        receiver = self._control.receiver_of(path)
        if receiver is not None:
            await self._with_faults(self._receive_hook, scope, receive, send)
        elif path.startswith(PREFIX):
            await self._serve_control(path.removeprefix(PREFIX).rstrip("/"), scope, receive, send)
        else:
            async with (
                self._control.gate.passage(),
                self._control.requests.record(scope, receive, send) as (recording_receive, recording_send),
            ):
                await self._with_faults(self._application, scope, recording_receive, recording_send)

    async def _with_faults(
        self, application: Callable[..., Awaitable[None]], scope: Message, receive: Receive, send: Send
    ) -> None:
        fault = self._control.faults.take(scope)
        if fault is None:
            await application(scope, receive, send)
        else:
            await apply_fault(fault, self._control.faults.pause, application, scope, receive, send)

    async def _receive_hook(self, scope: Message, receive: Receive, send: Send) -> None:
        receiver = self._control.receiver_of(scope["raw_path"].decode("latin-1")) or ""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        body = await read_body(receive, MAX_BODY_BYTES)
        await self._control.hooks.receive(receiver, headers, body)
        await respond(send, 200, {})

    async def _serve_control(self, name: str, scope: Message, receive: Receive, send: Send) -> None:
        given = dict(scope["headers"]).get(SECRET_HEADER, b"")
        if not hmac.compare_digest(given, self._secret):
            await respond(send, 401, {"message": "The header X-Ingot-Testing must contain the secret of this server"})
            return
        endpoint = self._endpoints.get((scope["method"], name))
        if endpoint is None:
            methods = ", ".join(method for method, known in self._endpoints if known == name)
            message = f"This control endpoint accepts {methods}" if methods else "There is no such control endpoint"
            await respond(send, 405 if methods else 404, {"message": message})
            return
        body = await read_body(receive, MAX_BODY_BYTES)
        try:
            document = await endpoint(scope["query_string"], body)
        except NotFound as error:
            await respond(send, 404, {"message": str(error)})
        except (Failure, msgspec.MsgspecError, re.error, ValueError) as error:
            await respond(send, 400, {"message": str(error)})
        else:
            await respond(send, 204 if document is None else 200, document)

    async def _reset(self, _: bytes, body: bytes) -> None:
        await self._control.reset(_parsed(body, NamedSnapshot).name)

    async def _take_snapshot(self, _: bytes, body: bytes) -> None:
        name = _parsed(body, NamedSnapshot).name
        if not name:
            raise Invalid("A snapshot needs a name")
        await self._control.take_snapshot(name)

    async def _seed(self, _: bytes, body: bytes) -> Any:
        return await self._control.seed(parse_description(body))

    async def _show_clock(self, *_: bytes) -> Any:
        return self._control.clock_state()

    async def _change_clock(self, _: bytes, body: bytes) -> Any:
        change = _parsed(body, ClockChange)
        return await self._control.change_clock(change.set, change.advance, change.frozen)

    async def _list_faults(self, *_: bytes) -> Any:
        return self._control.faults.rules

    async def _add_fault(self, _: bytes, body: bytes) -> Any:
        self._control.faults.add(_parsed(body, FaultRule))
        return self._control.faults.rules

    async def _clear_faults(self, *_: bytes) -> None:
        self._control.faults.clear()

    async def _list_requests(self, query: bytes, _: bytes) -> Any:
        chosen = _filter(query, RequestFilter)
        method = chosen.method.upper()
        log = self._control.requests
        if chosen.wait:
            return await log.wait(chosen.wait, chosen.count, method, chosen.path, chosen.after)
        return log.entries(method, chosen.path, chosen.after)

    async def _clear_requests(self, *_: bytes) -> None:
        self._control.requests.clear()

    async def _list_hooks(self, query: bytes, _: bytes) -> Any:
        chosen = _filter(query, DeliveryFilter)
        hooks = self._control.hooks
        if chosen.wait:
            await hooks.wait(chosen.wait, chosen.count, chosen.receiver, chosen.event, chosen.after)
        deliveries = hooks.deliveries(chosen.receiver, chosen.event, chosen.after)
        return {"url": self._control.receiver_url, "deliveries": deliveries}

    async def _clear_hooks(self, *_: bytes) -> None:
        self._control.hooks.clear()

    async def _run_jobs(self, *_: bytes) -> None:
        await self._control.run_jobs()


def _parsed(body: bytes, kind: type[P]) -> P:
    return msgspec.json.decode(body or b"{}", type=kind)


def _filter(query: bytes, kind: type[P]) -> P:
    fields = dict(parse_qsl(query.decode(), keep_blank_values=True, errors="strict"))
    return msgspec.convert(fields, kind, strict=False)
