"""Request of a webhook delivery: its headers with secrets and signature, and their redacted form for the log."""

import base64
import hashlib
import hmac
import uuid
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple
from urllib.parse import parse_qsl

import msgspec

from ingot.core.db.times import Timestamp, to_datetime
from ingot.core.db.vault import Vault
from ingot.core.outgoing.urls import is_secret_parameter, redact_text, redact_url
from ingot.webhooks.policy import event_header, redacted_url
from ingot.webhooks.service import SIGNING_PREFIX
from ingot.webhooks.tables import Delivery, Hook
from ingot.webhooks.url_variables import fill_variables

REDACTED = "[REDACTED]"
_SECRET_HEADERS = ("set-cookie", "authorization", "www-authenticate", "proxy-authenticate")
_MIN_SECRET_LENGTH = 4


class HookSecrets(NamedTuple):
    """Secrets of a hook, decrypted."""

    token: str | None
    signing_token: str | None
    credentials: str | None
    custom_headers: tuple[tuple[str, str], ...]
    variables: dict[str, str]
    """Values of the URL's variables."""
    query: str
    """Query of the URL, which often contains tokens."""
    url: str | None = None
    """URL of a service's request, whose path is a secret."""
    others: tuple[str, ...] = ()
    """Secrets of a service, which its requests contain in any place."""

    def texts(self) -> list[str]:
        """Return all texts that must not be shown."""
        credentials = self.credentials or ""
        path = (self.url or "").partition("://")[2].partition("/")[2]
        parameters = (value for name, value in parse_qsl(self.query) if is_secret_parameter(name))
        secrets = (
            self.token,
            self.signing_token,
            credentials,
            credentials.partition(":")[2],
            _encoded(credentials),
            path,
            *(value for _, value in self.custom_headers),
            *self.variables.values(),
            *parameters,
            *self.others,
        )
        return [text for text in secrets if text and len(text) >= _MIN_SECRET_LENGTH]


class ServiceMessage(NamedTuple):
    """Request of a service about an event."""

    url: str
    body: str
    method: Literal["GET", "POST", "PUT", "bytes"] = "POST"
    """``bytes`` sends only the body, without HTTP, to the host and port of the URL."""
    content_type: str = "application/json"
    credentials: str | None = None
    """User name and password, separated by a colon."""
    headers: tuple[tuple[str, str], ...] = ()
    accepted: tuple[int, ...] = ()
    """Statuses that are no failure, besides those of success."""
    follow: "Callable[[bytes], Sequence[ServiceMessage]] | None" = None
    """Returns the requests that depend on the body of the response."""
    secrets: tuple[str, ...] = ()
    """Texts that must not be logged."""


FormatMessage = Callable[[str, str], Sequence[ServiceMessage]]
"""Returns the requests of a service about a payload, by its settings; none where the event needs none."""


def no_message(service: str, payload: str) -> Sequence[ServiceMessage]:  # noqa: ARG001 - The signature of FormatMessage.
    """Return no message, for a dispatcher without services."""
    return ()


class PreparedRequest(NamedTuple):
    """Headers of a request, and their redacted form for the log."""

    headers: list[tuple[str, str]]
    shown: dict[str, str]


def decrypt_secrets(vault: Vault, hook: Hook) -> HookSecrets:
    """Decrypt the secrets of a hook."""
    headers = msgspec.json.decode(vault.unseal(hook.custom_headers)) if hook.custom_headers else []
    sealed = (hook.token, hook.signing_token, hook.credentials)
    token, signing_token, credentials = (vault.unseal(each) if each else None for each in sealed)
    variables = msgspec.json.decode(vault.unseal(hook.url_variables)) if hook.url_variables else {}
    pairs = tuple((name, value) for name, value in headers)
    query = fill_variables(hook.url, variables).partition("#")[0].partition("?")[2]
    return HookSecrets(token, signing_token, credentials, pairs, variables, query)


def prepare_request(
    hook: Hook,
    secrets: HookSecrets,
    delivery: Delivery,
    body: bytes,
    instance: str,
    now: Timestamp,
    content_type: str = "application/json",
) -> PreparedRequest:
    """Build the headers of a request; a retry has the same idempotency key."""
    key = message_key(hook, delivery)
    plain = [
        ("Content-Type", content_type),
        ("X-Gitlab-Event", event_header(delivery.trigger, hook.kind)),
        ("X-Gitlab-Event-UUID", delivery.uuid),
        ("X-Gitlab-Webhook-UUID", str(uuid.uuid5(uuid.NAMESPACE_URL, f"{instance}/hooks/{hook.id}"))),
        ("X-Gitlab-Instance", instance),
        ("Idempotency-Key", key),
    ]
    if secrets.signing_token:
        seconds = str(int(to_datetime(now).timestamp()))
        plain += [
            ("webhook-id", key),
            ("webhook-timestamp", seconds),
            ("webhook-signature", signature(secrets.signing_token, key, seconds, body)),
        ]
    hidden = list(secrets.custom_headers)
    if secrets.token:
        hidden.append(("X-Gitlab-Token", secrets.token))
    if secrets.credentials:
        hidden.append(("Authorization", f"Basic {_encoded(secrets.credentials)}"))
    return PreparedRequest([*plain, *hidden], {**dict(plain), **{name: REDACTED for name, _ in hidden}})


def message_key(hook: Hook, delivery: Delivery) -> str:
    """Return the idempotency key of an event for a hook, by which a receiver detects a retry."""
    return str(uuid.uuid5(uuid.UUID(delivery.uuid), str(hook.id)))


def signature(secret: str, key: str, seconds: str, body: bytes) -> str:
    """Sign the message id, the time and the body, as Standard Webhooks specifies."""
    raw = (
        base64.b64decode(secret.removeprefix(SIGNING_PREFIX)) if secret.startswith(SIGNING_PREFIX) else secret.encode()
    )
    digest = hmac.new(raw, f"{key}.{seconds}.".encode() + body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def _encoded(credentials: str) -> str:
    return base64.b64encode(credentials.encode()).decode()


def loggable_url(hook: Hook) -> str:
    """Return the URL of a hook as its log shows it."""
    return redact_url(redacted_url(hook.url, credentials=hook.credentials is not None))


def loggable_headers(headers: list[tuple[str, str]], hidden: Sequence[str]) -> dict[str, str]:
    """Return the headers of a response without secrets that the receiver may have echoed."""
    return {
        name: REDACTED if name in _SECRET_HEADERS else redact_text(value.replace("\0", ""), hidden)
        for name, value in headers
    }


def loggable_body(body: bytes, hidden: Sequence[str]) -> str:
    """Return the body of a response as text, without secrets that the receiver may have echoed."""
    return redact_text(body.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}"), hidden)
