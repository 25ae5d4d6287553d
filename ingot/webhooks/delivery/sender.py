"""Sender of one webhook's deliveries over a persistent connection, with a deadline for each delivery."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor

from msgspec.structs import replace

from ingot.core.db.times import Timestamp
from ingot.core.db.vault import Vault
from ingot.core.outgoing.client import HttpResponse, PinnedConnection
from ingot.core.outgoing.errors import ConnectionLost, HostUnresolved, RequestFailed, RequestRefused
from ingot.core.outgoing.guard import OutgoingRules, SsrfGuard
from ingot.webhooks.custom_templates import InvalidTemplate, fill_template
from ingot.webhooks.delivery.outcome import DeliveryOutcome
from ingot.webhooks.delivery.request import (
    FormatMessage,
    decrypt_secrets,
    loggable_body,
    loggable_headers,
    loggable_url,
    prepare_request,
)
from ingot.webhooks.tables import Delivery, Hook
from ingot.webhooks.url_variables import fill_variables

DEADLINE_SECONDS = 10.0
MAX_RESPONSE_BYTES = 64 * 1024
CONNECTION_SECONDS = 60.0
"""Lifetime of a connection; the guard resolves the host again for the next one."""
_TIMEOUT = "The server took too long"


class HookSender:
    """Sender for one hook; at most one request at a time."""

    def __init__(
        self,
        guard: SsrfGuard,
        vault: Vault,
        resolvers: Executor,
        instance: str,
        clock: Callable[[], Timestamp],
        format_message: FormatMessage,
    ) -> None:
        self._guard = guard
        self._vault = vault
        self._resolvers = resolvers
        self._instance = instance
        self._clock = clock
        self._format_message = format_message
        self._connection: PinnedConnection | None = None
        self._connected_to: tuple[str, bool, OutgoingRules] | None = None
        self._expires = 0.0

    async def send(self, hook: Hook, delivery: Delivery, payload: str) -> DeliveryOutcome:
        """Send one delivery; every failure becomes the outcome."""
        sent_at, started = self._clock(), time.monotonic()
        outcome = DeliveryOutcome(
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
            outcome = await self._attempt(hook, delivery, payload, outcome)
        except Exception as error:  # noqa: BLE001 - A delivery that cannot be sent must not block the following ones.
            outcome = outcome._replace(error=f"The request could not be sent: {type(error).__name__}")
        if outcome.status is None or self._connection is None or not self._connection.reusable:
            await self.close()
        return outcome._replace(seconds=round(time.monotonic() - started, 6))

    async def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _attempt(self, hook: Hook, delivery: Delivery, payload: str, outcome: DeliveryOutcome) -> DeliveryOutcome:
        secrets = decrypt_secrets(self._vault, hook)
        if hook.outfit is not None:
            message = self._format_message(self._vault.unseal(hook.outfit), payload)
            if message is None:
                return outcome._replace(silent=True)
            hook, payload = replace(hook, url=message.url), message.body
            secrets = secrets._replace(url=message.url)
        elif secrets.variables:
            hook = replace(hook, url=fill_variables(hook.url, secrets.variables))
        if hook.custom_webhook_template:
            try:
                payload = fill_template(hook.custom_webhook_template, payload)
            except InvalidTemplate as error:
                return outcome._replace(error=str(error), final=True)
        if (await self._rules()).silent:
            return outcome._replace(silent=True)
        body = payload.encode()
        prepared = prepare_request(hook, secrets, delivery, body, self._instance, outcome.sent_at)
        outcome = outcome._replace(request_headers=prepared.shown)
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                response = await self._post(hook, prepared.headers, body)
        except TimeoutError:
            return outcome._replace(error=_TIMEOUT)
        except HostUnresolved as refusal:
            return outcome._replace(error=refusal.reason)
        except RequestRefused as refusal:
            return outcome._replace(error=f"The request was blocked: {refusal.reason}", final=True)
        except RequestFailed as failure:
            return outcome._replace(error=failure.reason)
        hidden = secrets.texts()
        return outcome._replace(
            status=response.status,
            response_headers=loggable_headers(response.headers, hidden),
            response_body=loggable_body(response.body, hidden),
        )

    async def _rules(self) -> OutgoingRules:
        """Return the current rules, read in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._resolvers, self._guard.rules)

    async def _post(self, hook: Hook, headers: list[tuple[str, str]], body: bytes) -> HttpResponse:
        connection = await self._connect(hook)
        try:
            return await connection.request("POST", headers, body, max_bytes=MAX_RESPONSE_BYTES)
        except ConnectionLost:
            if connection.responses == 0:
                raise
        # The receiver closed a connection that was idle for too long, which is not a failure.
        await self.close()
        connection = await self._connect(hook)
        return await connection.request("POST", headers, body, max_bytes=MAX_RESPONSE_BYTES)

    async def _connect(self, hook: Hook) -> PinnedConnection:
        wanted = hook.url, hook.enable_ssl_verification, await self._rules()
        if self._connection is not None and self._connected_to == wanted and time.monotonic() < self._expires:
            return self._connection
        await self.close()
        loop = asyncio.get_running_loop()
        guard = self._guard.for_system_hooks() if hook.kind == "system" else self._guard
        url = await loop.run_in_executor(self._resolvers, guard.pin, hook.url)
        self._connection = await PinnedConnection.open(url, verify=hook.enable_ssl_verification)
        self._connected_to, self._expires = wanted, time.monotonic() + CONNECTION_SECONDS
        return self._connection
