"""Sender of one webhook's deliveries over a persistent connection, with a deadline for each delivery."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor

from msgspec.structs import replace

from ingot.core.db.times import Timestamp
from ingot.core.db.vault import Vault
from ingot.core.outgoing.client import HttpResponse, PinnedConnection, send_bytes
from ingot.core.outgoing.errors import ConnectionLost, HostUnresolved, RequestFailed, RequestRefused
from ingot.core.outgoing.guard import OutgoingRules, PinnedUrl, SsrfGuard
from ingot.webhooks.custom_templates import InvalidTemplate, fill_template
from ingot.webhooks.delivery.outcome import DeliveryOutcome
from ingot.webhooks.delivery.request import (
    FormatMessage,
    HookSecrets,
    ServiceMessage,
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
            return await self._send_messages(hook, delivery, payload, outcome)
        if secrets.variables:
            hook = replace(hook, url=fill_variables(hook.url, secrets.variables))
        if hook.custom_webhook_template:
            try:
                payload = fill_template(hook.custom_webhook_template, payload)
            except InvalidTemplate as error:
                return outcome._replace(error=str(error), final=True)
        return (await self._exchange(hook, secrets, delivery, ServiceMessage(hook.url, payload), outcome))[0]

    async def _send_messages(
        self, hook: Hook, delivery: Delivery, payload: str, before: DeliveryOutcome
    ) -> DeliveryOutcome:
        """Send the requests of a service, up to the first failure; a retry repeats those before it."""
        outfit = self._vault.unseal(hook.outfit or b"")
        loop, empty = asyncio.get_running_loop(), decrypt_secrets(self._vault, hook)
        # In a thread, because some services look into the database.
        messages = deque(await loop.run_in_executor(self._resolvers, self._format_message, outfit, payload))
        outcome = before._replace(silent=True)
        while messages and outcome.succeeded:
            message = messages.popleft()
            secrets = empty._replace(
                url=message.url,
                credentials=message.credentials,
                custom_headers=message.headers,
                query=message.url.partition("?")[2],
                others=message.secrets,
            )
            sent_to = replace(hook, url=message.url)
            outcome, body = await self._exchange(sent_to, secrets, delivery, message, before)
            if outcome.status in message.accepted:
                outcome = outcome._replace(silent=True)
            elif outcome.succeeded and message.follow is not None:
                messages.extend(message.follow(body))
        return outcome

    async def _exchange(
        self,
        hook: Hook,
        secrets: HookSecrets,
        delivery: Delivery,
        message: ServiceMessage,
        outcome: DeliveryOutcome,
    ) -> tuple[DeliveryOutcome, bytes]:
        """Send one request; return the outcome and the body of the response."""
        if (await self._rules()).silent:
            return outcome._replace(silent=True), b""
        body = message.body.encode()
        prepared = prepare_request(hook, secrets, delivery, body, self._instance, outcome.sent_at, message.content_type)
        outcome = outcome._replace(request_headers=prepared.shown)
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                response = await self._request(hook, message.method, prepared.headers, body)
        except TimeoutError:
            return outcome._replace(error=_TIMEOUT), b""
        except HostUnresolved as refusal:
            return outcome._replace(error=refusal.reason), b""
        except RequestRefused as refusal:
            return outcome._replace(error=f"The request was blocked: {refusal.reason}", final=True), b""
        except RequestFailed as failure:
            return outcome._replace(error=failure.reason), b""
        hidden = secrets.texts()
        outcome = outcome._replace(
            status=response.status,
            response_headers=loggable_headers(response.headers, hidden),
            response_body=loggable_body(response.body, hidden),
        )
        return outcome, response.body

    async def _rules(self) -> OutgoingRules:
        """Return the current rules, read in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._resolvers, self._guard.rules)

    async def _request(self, hook: Hook, method: str, headers: list[tuple[str, str]], body: bytes) -> HttpResponse:
        if method == "bytes":
            await send_bytes(await self._pin(hook), body)
            # Receivers of such messages do not respond; one that was sent as a whole counts as accepted.
            return HttpResponse(200, [], b"", truncated=False)
        content = None if method == "GET" else body
        connection = await self._connect(hook)
        try:
            return await connection.request(method, headers, content, max_bytes=MAX_RESPONSE_BYTES)
        except ConnectionLost:
            if connection.responses == 0:
                raise
        # The receiver closed a connection that was idle for too long, which is not a failure.
        await self.close()
        connection = await self._connect(hook)
        return await connection.request(method, headers, content, max_bytes=MAX_RESPONSE_BYTES)

    async def _connect(self, hook: Hook) -> PinnedConnection:
        wanted = hook.url, hook.enable_ssl_verification, await self._rules()
        if self._connection is not None and self._connected_to == wanted and time.monotonic() < self._expires:
            return self._connection
        await self.close()
        self._connection = await PinnedConnection.open(await self._pin(hook), verify=hook.enable_ssl_verification)
        self._connected_to, self._expires = wanted, time.monotonic() + CONNECTION_SECONDS
        return self._connection

    async def _pin(self, hook: Hook) -> PinnedUrl:
        guard = self._guard.for_system_hooks() if hook.kind == "system" else self._guard
        return await asyncio.get_running_loop().run_in_executor(self._resolvers, guard.pin, hook.url)
