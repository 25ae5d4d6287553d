"""Queries of tokens."""

from functools import lru_cache
from typing import Any

from msgspec.structs import replace
from sqlalchemy import and_, bindparam, or_, select

from ingot.accounts.instance.access_settings import decode_access_settings
from ingot.accounts.instance.tables import instance_settings
from ingot.accounts.tokens.params import ListTokens
from ingot.accounts.tokens.tables import AccessToken, TokenAuditEvent, TokenHolder, access_tokens, token_audit_events
from ingot.accounts.users.tables import User, users
from ingot.core.access.actor import Actor
from ingot.core.access.restrictions import read_restrictions
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains, like_pattern
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.db.times import Timestamp
from ingot.core.errors import NotFound

_BY_DIGEST = (
    select(
        access_tokens.c.id,
        access_tokens.c.kind,
        access_tokens.c.scopes,
        access_tokens.c.revoked,
        access_tokens.c.expires_at,
        users.c.id,
        users.c.username,
        users.c.name,
        users.c.admin,
        users.c.external,
        users.c.state,
        users.c.password_expired,
        users.c.bot,
        users.c.terms_accepted_at,
        access_tokens.c.restrictions,
        select(instance_settings.c.document).where(instance_settings.c.id == 1).scalar_subquery(),
    )
    .join(users, users.c.id == access_tokens.c.user_id)
    .where(access_tokens.c.digest == bindparam("digest"))
)
_BY_ID = select(access_tokens).where(access_tokens.c.id == bindparam("token"))
_OF_USER = select(access_tokens).where(
    access_tokens.c.user_id == bindparam("user"), access_tokens.c.kind == bindparam("kind")
)

_FILTERS = {
    "user": access_tokens.c.user_id == bindparam("user"),
    "active": and_(
        access_tokens.c.revoked.is_(False),
        or_(access_tokens.c.expires_at.is_(None), access_tokens.c.expires_at > bindparam("now")),
    ),
    "inactive": or_(access_tokens.c.revoked.is_(True), access_tokens.c.expires_at <= bindparam("now")),
    "revoked": access_tokens.c.revoked.is_(True),
    "unrevoked": access_tokens.c.revoked.is_(False),
    "search": contains(access_tokens.c.name_key, "pattern"),
    "created_before": access_tokens.c.created_at <= bindparam("created_before"),
    "created_after": access_tokens.c.created_at >= bindparam("created_after"),
}

_EVENTS = select(token_audit_events)
_EVENTS_OF_TOKEN = list_query(
    _EVENTS.where(token_audit_events.c.token_id == bindparam("token")),
    token_audit_events.c.id,
    token_audit_events.c.id.desc(),
)
_EVENTS_OF_USER = list_query(
    _EVENTS.where(token_audit_events.c.user_id == bindparam("user")),
    token_audit_events.c.id,
    token_audit_events.c.id.desc(),
)


@lru_cache(maxsize=256)
def _list_query(filters: frozenset[str]) -> ListQuery:
    matching = select(access_tokens).where(
        access_tokens.c.kind == bindparam("kind"), *(_FILTERS[name] for name in sorted(filters))
    )
    return list_query(matching, access_tokens.c.id, access_tokens.c.id.asc())


def token_holder_or_none(db: Connection, token: str) -> TokenHolder | None:
    """Return a token with its user, from the read cache; the caller checks whether it is still valid."""
    digest = db.vault.digest(token)
    return db.cached(
        ("token", digest),
        lambda: _token_holder_or_none(db, digest),
        _holder_size,
        lambda holder: {"access_tokens": holder.token_id, "users": holder.user_id},
    )


def _token_holder_or_none(db: Connection, digest: bytes) -> TokenHolder | None:
    """Return a token with its user, whose rights depend on the settings of the instance."""
    rows = db.rows(_BY_DIGEST, digest=digest)
    if not rows:
        return None
    *columns, accepted_at, restrictions, document = rows[0]
    settings = decode_access_settings(document or "{}")
    holder = TokenHolder(*[*columns, False, read_restrictions(restrictions)])
    return replace(
        holder,
        admin=holder.admin and not settings.limits_token(holder.kind, holder.scopes),
        terms_due=not holder.bot and settings.requires_acceptance(accepted_at),
    )


def _holder_size(holder: TokenHolder) -> int:
    return 1_000 + len(holder.scopes) + 2 * len(holder.restrictions.stored or "")


def token_or_none(db: Connection, token_id: int, kind: str, user_id: int | None = None) -> AccessToken | None:
    """Return the token with this id, kind and, if given, user."""
    token = db.first(AccessToken, _BY_ID, token=token_id)
    if token is None or token.kind != kind or user_id not in (None, token.user_id):
        return None
    return token


def credential_expiry(db: Connection, actor: Actor) -> Timestamp | None:
    """Return when the token of the caller expires; None for a session and for a token without an expiry."""
    token = token_or_none(db, actor.token_id, actor.via) if actor.token_id else None
    return token.expires_at if token is not None else None


def find_impersonation_token(db: Connection, user: User, token_id: int) -> AccessToken:
    """Return an impersonation token of the user; raise NotFound otherwise."""
    token = token_or_none(db, token_id, "impersonation", user.id)
    if token is None:
        raise NotFound("Impersonation Token")
    return token


def private_token_or_none(db: Connection, user_id: int) -> str:
    """Return the user's private token in plain text; raise NotFound otherwise."""
    token = db.first(AccessToken, _OF_USER, user=user_id, kind="private")
    if token is None or token.sealed is None:
        raise NotFound("Private Token")
    return db.vault.unseal(token.sealed)


def private_token_digest_or_none(db: Connection, user_id: int) -> bytes | None:
    """Return the digest of the user's private token, from which the feed token is derived."""
    token = db.first(AccessToken, _OF_USER, user=user_id, kind="private")
    return token.digest if token is not None else None


def list_tokens(db: Connection, kind: str, user_id: int | None, params: ListTokens, page: Page) -> Listing[AccessToken]:
    """List the tokens of one kind, of one user or of all users."""
    filters: set[str] = set()
    values: dict[str, Any] = {"kind": kind}
    if user_id is not None:
        filters.add("user")
        values["user"] = user_id
    if params.state in ("active", "inactive"):
        filters.add(params.state)
        values["now"] = db.now
    if params.revoked is not None:
        filters.add("revoked" if params.revoked else "unrevoked")
    if params.search:
        filters.add("search")
        values["pattern"] = like_pattern(params.search)
    for name in ("created_before", "created_after"):
        if getattr(params, name) is not None:
            filters.add(name)
            values[name] = getattr(params, name)
    return fetch_page(db, AccessToken, _list_query(frozenset(filters)), page, **values)


def list_audit_events(db: Connection, token: AccessToken, page: Page) -> Listing[TokenAuditEvent]:
    """List the calls that changed something and were made with a token, newest first."""
    return fetch_page(db, TokenAuditEvent, _EVENTS_OF_TOKEN, page, token=token.id)


def list_audit_events_of_user(db: Connection, user_id: int, page: Page) -> Listing[TokenAuditEvent]:
    """List the calls that changed something and were made with any token of a user, newest first."""
    return fetch_page(db, TokenAuditEvent, _EVENTS_OF_USER, page, user=user_id)
