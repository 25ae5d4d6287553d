"""What a receiver gets: the headers with their secrets and signature, and what may be shown of them."""

import base64
import hashlib
import hmac
import uuid
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import parse_qsl

import msgspec

from ingot.core.db.times import Timestamp, to_datetime
from ingot.core.db.vault import Vault
from ingot.core.outgoing.guard import redact_text, redact_url
from ingot.core.outgoing.urls import is_secret_parameter
from ingot.integrations.webhooks.policy import event_header, redacted_url
from ingot.integrations.webhooks.service import SIGNING_PREFIX
from ingot.integrations.webhooks.tables import Delivery, Hook
from ingot.integrations.webhooks.url_variables import fill_variables

REDACTED = "[REDACTED]"
_SECRET_RESPONSE_HEADERS = ("set-cookie", "authorization", "www-authenticate", "proxy-authenticate")
_MIN_SECRET_LENGTH = 4


class HookSecrets(NamedTuple):
    """What only the hook and its receiver know."""

    token: str | None
    signing_token: str | None
    credentials: str | None
    custom_headers: tuple[tuple[str, str], ...]
    variables: dict[str, str]
    """What names in the URL stand for."""
    query: str
    """What the URL asks with, where tokens are often put."""
    url: str | None = None
    """Where the way there is a secret of its own."""

    def texts(self) -> list[str]:
        """All that must not be shown."""
        credentials = self.credentials or ""
        way = (self.url or "").partition("://")[2].partition("/")[2]
        asked = (value for name, value in parse_qsl(self.query) if is_secret_parameter(name))
        known = (
            self.token,
            self.signing_token,
            credentials,
            credentials.partition(":")[2],
            _encoded(credentials),
            way,
            *(value for _, value in self.custom_headers),
            *self.variables.values(),
            *asked,
        )
        return [text for text in known if text and len(text) >= _MIN_SECRET_LENGTH]


class IntegrationRequest(NamedTuple):
    """What a service sends, and where to."""

    url: str
    body: str


FormatMessage = Callable[[str, str], IntegrationRequest | None]
"""Makes of an outfit and a payload what a service sends; nothing, where it has nothing to say about that."""


def no_message_format(outfit: str, payload: str) -> IntegrationRequest | None:  # noqa: ARG001 - Every way to dress takes these two.
    """What is sent where nobody knows how to dress."""
    return None


class PreparedRequest(NamedTuple):
    """A request that is ready to be sent, and how it may be shown."""

    headers: list[tuple[str, str]]
    shown: dict[str, str]


def unseal_secrets(vault: Vault, hook: Hook) -> HookSecrets:
    """Read a hook's secrets."""
    headers = msgspec.json.decode(vault.unseal(hook.custom_headers)) if hook.custom_headers else []
    sealed = (hook.token, hook.signing_token, hook.credentials)
    token, signing_token, credentials = (vault.unseal(each) if each else None for each in sealed)
    variables = msgspec.json.decode(vault.unseal(hook.url_variables)) if hook.url_variables else {}
    pairs = tuple((name, value) for name, value in headers)
    query = fill_variables(hook.url, variables).partition("#")[0].partition("?")[2]
    return HookSecrets(token, signing_token, credentials, pairs, variables, query)


def prepare_request(
    hook: Hook, secrets: HookSecrets, delivery: Delivery, body: bytes, instance: str, now: Timestamp
) -> PreparedRequest:
    """All headers of a request; what is sent again has the same key."""
    key = message_key(hook, delivery)
    plain = [
        ("Content-Type", "application/json"),
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
    """What tells a receiver that it got something before: the same thing for the same hook."""
    return str(uuid.uuid5(uuid.UUID(delivery.uuid), str(hook.id)))


def signature(secret: str, key: str, seconds: str, body: bytes) -> str:
    """The signature of the Standard Webhooks: over the message's id, the time and the body."""
    raw = (
        base64.b64decode(secret.removeprefix(SIGNING_PREFIX)) if secret.startswith(SIGNING_PREFIX) else secret.encode()
    )
    digest = hmac.new(raw, f"{key}.{seconds}.".encode() + body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def _encoded(credentials: str) -> str:
    return base64.b64encode(credentials.encode()).decode()


def loggable_url(hook: Hook) -> str:
    """A hook's URL as its log shows it."""
    return redact_url(redacted_url(hook.url, credentials=hook.credentials is not None))


def loggable_headers(headers: list[tuple[str, str]], secrets: HookSecrets) -> dict[str, str]:
    """An answer's headers without what a receiver may have given back of the secrets."""
    hidden = secrets.texts()
    return {
        name: REDACTED if name in _SECRET_RESPONSE_HEADERS else redact_text(value.replace("\0", ""), hidden)
        for name, value in headers
    }


def loggable_body(body: bytes, secrets: HookSecrets) -> str:
    """An answer's body, likewise; what is no text is shown as far as it is."""
    return redact_text(body.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}"), secrets.texts())
