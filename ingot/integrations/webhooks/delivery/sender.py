"""Sending for one hook: over one connection for as long as that lasts, within one deadline each."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor

from msgspec.structs import replace

from ingot.core.db.times import Timestamp
from ingot.core.db.vault import Vault
from ingot.core.outgoing.async_client import ConnectionClosed, HttpConnection, HttpResponse
from ingot.core.outgoing.client import Unreachable
from ingot.core.outgoing.guard import HostNotResolved, OutgoingRequestBlocked, SsrfGuard
from ingot.integrations.webhooks.delivery.outcome import DeliveryOutcome
from ingot.integrations.webhooks.delivery.request import (
    FormatMessage,
    loggable_body,
    loggable_headers,
    loggable_url,
    prepare_request,
    unseal_secrets,
)
from ingot.integrations.webhooks.tables import Delivery, Hook
from ingot.integrations.webhooks.url_variables import fill_variables

DEADLINE_SECONDS = 10.0
MAX_RESPONSE_BYTES = 64 * 1024
CONNECTION_SECONDS = 60.0
"""For how long a connection is used: then the guard is asked again where the name leads."""
_TOO_LONG = "The server took too long"


class HookSender:
    """Sends what one hook has to tell; at most one request at a time."""

    def __init__(
        self,
        guard: SsrfGuard,
        vault: Vault,
        resolving: Executor,
        instance: str,
        clock: Callable[[], Timestamp],
        dress: FormatMessage,
    ) -> None:
        self._guard = guard
        self._vault = vault
        self._resolving = resolving
        self._instance = instance
        self._clock = clock
        self._dress = dress
        self._line: HttpConnection | None = None
        self._line_for: tuple[str, bool] | None = None
        self._line_until = 0.0

    async def send(self, hook: Hook, delivery: Delivery, payload: str) -> DeliveryOutcome:
        """Send one delivery; whatever goes wrong is the outcome."""
        sent_at, started = self._clock(), time.monotonic()
        trial = DeliveryOutcome(
            delivery_id=delivery.id,
            hook_id=hook.id,
            attempt=delivery.attempts + 1,
            url=loggable_url(hook),
            request_headers={},
            status=None,
            response_headers={},
            response_body="",
            seconds=0.0,
            error=None,
            sent_at=sent_at,
            final=False,
        )
        try:
            trial = await self._try(hook, delivery, payload, trial)
        except Exception as error:  # noqa: BLE001 - A delivery that cannot be sent must not keep others from it.
            trial = trial._replace(error=f"It could not be sent: {type(error).__name__}")
        if trial.status is None or self._line is None or not self._line.reusable:
            self.close()
        return trial._replace(seconds=round(time.monotonic() - started, 6))

    async def _try(self, hook: Hook, delivery: Delivery, payload: str, trial: DeliveryOutcome) -> DeliveryOutcome:
        secrets = unseal_secrets(self._vault, hook)
        if hook.outfit is not None:
            dressed = self._dress(self._vault.unseal(hook.outfit), payload)
            if dressed is None:
                return trial._replace(silent=True)
            hook, payload = replace(hook, url=dressed.url), dressed.body
            secrets = secrets._replace(url=dressed.url)
        elif secrets.variables:
            hook = replace(hook, url=fill_variables(hook.url, secrets.variables))
        body = payload.encode()
        prepared = prepare_request(hook, secrets, delivery, body, self._instance, trial.sent_at)
        trial = trial._replace(request_headers=prepared.shown)
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                reply = await self._post(hook, prepared.headers, body)
        except TimeoutError:
            return trial._replace(error=_TOO_LONG)
        except HostNotResolved as refusal:
            return trial._replace(error=refusal.reason)
        except OutgoingRequestBlocked as refusal:
            return trial._replace(error=f"The request was blocked: {refusal.reason}", final=True)
        except Unreachable as trouble:
            return trial._replace(error=trouble.reason)
        return trial._replace(
            status=reply.status,
            response_headers=loggable_headers(reply.headers, secrets),
            response_body=loggable_body(reply.body, secrets),
        )

    def close(self) -> None:
        """Let go of the connection."""
        if self._line is not None:
            self._line.close()
            self._line = None

    async def _post(self, hook: Hook, headers: list[tuple[str, str]], body: bytes) -> HttpResponse:
        line = await self._connected(hook)
        try:
            return await line.post(headers, body, max_bytes=MAX_RESPONSE_BYTES)
        except ConnectionClosed:
            if line.used == 0:
                raise
        # The receiver had closed a connection that it did not need any more; that is no failure.
        self.close()
        line = await self._connected(hook)
        return await line.post(headers, body, max_bytes=MAX_RESPONSE_BYTES)

    async def _connected(self, hook: Hook) -> HttpConnection:
        wanted = hook.url, hook.enable_ssl_verification
        if self._line is not None and self._line_for == wanted and time.monotonic() < self._line_until:
            return self._line
        self.close()
        loop = asyncio.get_running_loop()
        pinned = await loop.run_in_executor(self._resolving, self._guard.pin, hook.url)
        self._line = await HttpConnection.open(pinned, verify=hook.enable_ssl_verification)
        self._line_for, self._line_until = wanted, time.monotonic() + CONNECTION_SECONDS
        return self._line
