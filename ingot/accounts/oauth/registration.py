"""Registration of clients by themselves (RFC 7591), for agents that no administrator has registered."""

import secrets
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from sqlalchemy import bindparam, delete, exists, func, select

from ingot.accounts.instance.throttles import count_within_limit
from ingot.accounts.oauth.queries import find_own_application
from ingot.accounts.oauth.service import MAX_NAME_LENGTH, OUT_OF_BAND, delete_application, redirect_uris_error
from ingot.accounts.oauth.tables import Application, oauth_applications, oauth_tokens
from ingot.accounts.tokens.tables import access_tokens
from ingot.core.access.scopes import IDENTITY_SCOPES, MCP_SCOPE
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration, to_datetime
from ingot.core.errors import Throttled

REGISTRATIONS_PER_HOUR = 20
"""Registrations of one network per hour."""
MAX_CLIENTS = 5_000
"""Clients that have registered themselves; then no more can."""
UNAUTHORIZED_DAYS = 1
"""Days after which a client is deleted that no user has authorized."""
UNUSED_DAYS = 90
"""Days after its newest token after which a client is deleted; clients renew their tokens after two hours of use."""
_ALLOWED_SCOPES = (MCP_SCOPE, *IDENTITY_SCOPES)
_SCHEMES_OF_AGENTS = frozenset({"cursor"})
"""Schemes without a dot, which RFC 8252 (7.1) asks for, of programs that do not follow it."""
_GRANT_TYPES = ["authorization_code", "refresh_token"]
_HOUR = 3600
_EXPIRED_PER_RUN = 500

_COUNT = select(func.count()).select_from(oauth_applications).where(oauth_applications.c.dynamic)
_TOKENS = select(oauth_tokens.c.id).where(oauth_tokens.c.application_id == oauth_applications.c.id)
_USED_TOKENS = _TOKENS.join(access_tokens, access_tokens.c.id == oauth_tokens.c.access_token_id).where(
    access_tokens.c.created_at > bindparam("unused_since")
)
_DELETE_UNAUTHORIZED = delete(oauth_applications).where(
    oauth_applications.c.dynamic, oauth_applications.c.created_at <= bindparam("registered_before"), ~exists(_TOKENS)
)
_UNUSED = (
    select(oauth_applications)
    .where(
        oauth_applications.c.dynamic,
        oauth_applications.c.created_at <= bindparam("unused_since"),
        ~exists(_USED_TOKENS),
    )
    .order_by(oauth_applications.c.id)
    .limit(_EXPIRED_PER_RUN)
)


class RegistrationError(Exception):
    """Refusal of a registration, with its code of RFC 7591."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class ClientMetadata(NamedTuple):
    """The parts of a client's registration that have an effect."""

    name: str
    redirect_uris: list[str]
    scopes: list[str]


def read_metadata(sent: dict[str, Any]) -> ClientMetadata:
    """Return the metadata of a request; raise RegistrationError if no such client can be registered.

    As the RFC provides for, other scopes and ways to authenticate are replaced by those that such a client can have.
    """
    addresses = sent.get("redirect_uris")
    if not isinstance(addresses, list) or not all(isinstance(address, str) for address in addresses):
        raise RegistrationError("invalid_redirect_uri", "redirect_uris must be a list of addresses.")
    error = redirect_uris_error(addresses) or next(filter(None, map(_insecurity, addresses)), None)
    if error:
        raise RegistrationError("invalid_redirect_uri", f"A redirect URI {error}")
    name = sent.get("client_name", "Unnamed client")
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name.strip()) <= MAX_NAME_LENGTH:
        raise RegistrationError("invalid_client_metadata", f"client_name must have 1 to {MAX_NAME_LENGTH} characters.")
    _require_choice(sent, "grant_types", "authorization_code")
    _require_choice(sent, "response_types", "code")
    scope = sent.get("scope") or ""
    if not isinstance(scope, str):
        raise RegistrationError("invalid_client_metadata", "scope must be a text.")
    requested = [name for name in dict.fromkeys(scope.split()) if name in _ALLOWED_SCOPES]
    return ClientMetadata(name.strip(), addresses, requested or list(_ALLOWED_SCOPES))


def register_application(db: Connection, metadata: ClientMetadata, network: str) -> Application:
    """Register a public application without an owner; raise Throttled beyond the limits."""
    count_within_limit(db, f"oauth registration:{network}", REGISTRATIONS_PER_HOUR, _HOUR)
    if db.value(_COUNT) >= MAX_CLIENTS:
        raise Throttled(_HOUR)
    application_id = db.insert(
        oauth_applications,
        owner_id=None,
        uid=secrets.token_hex(32),
        # A digest of nothing that is known to anybody: a public client has no secret.
        secret_digest=db.vault.digest(secrets.token_hex(32)),
        name=metadata.name,
        redirect_uri="\n".join(metadata.redirect_uris),
        scopes=" ".join(metadata.scopes),
        confidential=False,
        dynamic=True,
        created_at=db.now,
        updated_at=db.now,
    )
    return find_own_application(db, application_id, None)


def registration_document(application: Application) -> dict[str, Any]:
    """Return the response to a registration."""
    return {
        "client_id": application.uid,
        "client_id_issued_at": int(to_datetime(application.created_at).timestamp()),
        "client_name": application.name,
        "redirect_uris": application.redirect_uris,
        "grant_types": _GRANT_TYPES,
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "scope": application.scopes,
    }


def delete_unused_clients(db: Connection) -> int:
    """Delete clients that registered themselves and that nobody uses, with their tokens."""
    deleted = db.run_counted(_DELETE_UNAUTHORIZED, registered_before=add_duration(db.now, days=-UNAUTHORIZED_DAYS))
    unused = db.all(Application, _UNUSED, unused_since=add_duration(db.now, days=-UNUSED_DAYS))
    for application in unused:
        delete_application(db, application)
    return deleted + len(unused)


def _insecurity(address: str) -> str | None:
    """Return why nobody may register an address for a client: others could receive its codes."""
    if address == OUT_OF_BAND:
        return "must be an absolute URI."
    parts = urlsplit(address)
    if parts.scheme == "http" and not _is_loopback(parts.hostname or ""):
        return "must use https, unless it is on the user's own machine."
    if parts.scheme in ("http", "https", *_SCHEMES_OF_AGENTS) or "." in parts.scheme:
        return None
    return "must use https or a scheme of the client with a dot, such as com.example.agent."


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _require_choice(sent: dict[str, Any], name: str, required: str) -> None:
    values = sent.get(name) or [required]
    if not isinstance(values, list) or required not in values:
        raise RegistrationError("invalid_client_metadata", f"{name} must contain {required}.")
