"""State changes of tokens."""

import secrets
from collections.abc import Iterable

from sqlalchemy import bindparam

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.tokens import policy
from ingot.accounts.tokens.events import TokenRevoked, TokenRotated
from ingot.accounts.tokens.lifetimes import LIMITED_KINDS, latest_expiry, limited_expiry
from ingot.accounts.tokens.ports import AgentTools
from ingot.accounts.tokens.queries import credential_expiry, token_or_none
from ingot.accounts.tokens.tables import AccessToken, access_tokens
from ingot.core.access.actor import Actor, AuthMethod
from ingot.core.access.restrictions import GRANULAR, NO_RESTRICTIONS, TokenRestrictions, read_restrictions
from ingot.core.access.rules import require
from ingot.core.access.scopes import OAUTH_SCOPES, SCOPES, may_grant_scopes
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.errors import Denied, Invalid, NotFound, too_long_message
from ingot.core.events.bus import emit

_IMPERSONATION_PREFIX = "ingoti-"
_DROP_PRIVATE = access_tokens.delete().where(
    access_tokens.c.user_id == bindparam("user"), access_tokens.c.kind == "private"
)
_ALLOWED_SCOPES: dict[AuthMethod, set[str]] = {
    "personal": set(SCOPES),
    "oauth": set(OAUTH_SCOPES),
    "impersonation": set(SCOPES),
}
MAX_LENGTH = 255
_WEEK = 7
ROTATION = "token rotation"
"""Lock under which tokens are rotated: a token has one successor, and a family that is revoked gets no further one."""
_NO_DELEGATION = "OAuth, impersonation, project and group access tokens cannot create or rotate tokens"


def create_token(
    db: Connection,
    user_id: int,
    kind: AuthMethod,
    name: str,
    scopes: list[str],
    expires_at: Timestamp | None = None,
    secret: str = "",
    family_id: int | None = None,
    restrictions: TokenRestrictions = NO_RESTRICTIONS,
) -> tuple[AccessToken, str]:
    """Create a token; return it with its secret, which is not stored. A past ``expires_at`` makes it inactive."""
    errors: dict[str, list[str]] = {}
    if not name.strip():
        errors["name"] = ["can't be blank"]
    elif len(name) > MAX_LENGTH:
        errors["name"] = [too_long_message(MAX_LENGTH)]
    if restrictions.granular_scopes is not None:
        if scopes not in ([], [GRANULAR]):
            errors["scopes"] = ["cannot be combined with granular_scopes"]
        scopes = [GRANULAR]
    elif not scopes:
        errors["scopes"] = ["can't be blank"]
    elif not set(scopes) <= _ALLOWED_SCOPES[kind]:
        errors["scopes"] = ["can only contain available scopes"]
    # A rotated token keeps the names of tools that existed once.
    if restrictions.mcp_tools and family_id is None:
        unknown_tools = set(restrictions.mcp_tools) - set(db.ports[AgentTools].names())
        if unknown_tools:
            errors["mcp_tools"] = [f"have unknown names: {', '.join(sorted(unknown_tools))}"[:MAX_LENGTH]]
    settings = cached_all_settings(db)
    days = settings.max_personal_access_token_lifetime if kind in LIMITED_KINDS else None
    latest = None if days is None else latest_expiry(db.now, days)
    if expires_at is None and kind != "oauth" and settings.require_personal_access_token_expiry:
        errors["expires_at"] = ["can't be blank"]
    elif latest is not None and (expires_at or latest) > latest:
        errors["expires_at"] = [f"must not be after {latest[:10]}"]
    expires_at = expires_at or latest
    if errors:
        raise Invalid(**errors)
    prefixes = {"personal": settings.personal_access_token_prefix or "", "impersonation": _IMPERSONATION_PREFIX}
    secret = secret or prefixes.get(kind, "") + secrets.token_urlsafe(24)
    ordered = " ".join(scope for scope in dict.fromkeys(scopes))
    token_id = _insert(
        db, user_id, kind, name.strip(), ordered, secret, expires_at, family_id=family_id, restrictions=restrictions
    )
    token = token_or_none(db, token_id, kind)
    assert token is not None  # noqa: S101 - It was just inserted in this transaction.
    return token, secret


def issue_token(
    db: Connection,
    actor: Actor,
    user_id: int,
    kind: AuthMethod,
    name: str,
    scopes: list[str],
    expires_at: Timestamp | None,
    restrictions: TokenRestrictions = NO_RESTRICTIONS,
) -> tuple[AccessToken, str]:
    """Create a token on behalf of a caller; raise Denied if it would be more powerful than the caller's credential."""
    require(policy.may_issue_tokens(actor), _NO_DELEGATION)
    latest = _require_delegable(db, actor, scopes, expires_at)
    return create_token(
        db, user_id, kind, name, scopes, expires_at or limited_expiry(db, latest), restrictions=restrictions
    )


def issue_bot_token(
    db: Connection,
    actor: Actor,
    user_id: int,
    name: str,
    scopes: list[str],
    expires_at: Timestamp | None,
    restrictions: TokenRestrictions = NO_RESTRICTIONS,
) -> tuple[AccessToken, str]:
    """Create a token of a bot of a project or group; raise Denied if it would be more powerful than the credential."""
    require(policy.may_issue_bot_tokens(actor), _NO_DELEGATION)
    latest = _require_delegable(db, actor, scopes, expires_at)
    return create_token(
        db, user_id, "personal", name, scopes, expires_at or limited_expiry(db, latest), restrictions=restrictions
    )


def _require_delegable(
    db: Connection, actor: Actor, scopes: Iterable[str], expires_at: Timestamp | None
) -> Timestamp | None:
    """Raise Denied if a token would exceed the caller's credential; return the expiry of the credential, if any."""
    if not may_grant_scopes(actor, scopes):
        raise Denied("The new token cannot have scopes that your token lacks")
    latest = credential_expiry(db, actor)
    if latest is not None and expires_at is not None and expires_at > latest:
        raise Denied("The new token cannot expire later than your token")
    return latest


def revoke_token(db: Connection, token: AccessToken) -> None:
    """Revoke a token."""
    db.update(access_tokens, token.id, revoked=True)
    emit(db, TokenRevoked(user_id=token.user_id))


def rotate_token(
    db: Connection, actor: Actor, token: AccessToken, expires_at: Timestamp | None, *, of_bot: bool = False
) -> tuple[AccessToken, str]:
    """Revoke a token and create a new one with the same name and scopes, for one week by default.

    A token that rotates itself may prolong its life, which is the purpose of rotation. Of another token, a caller gets
    no more than the caller's credential has.
    """
    db.must_hold(ROTATION)
    scopes, latest = token.scopes.split(), None
    if token.id != actor.token_id:
        may_issue = policy.may_issue_bot_tokens if of_bot else policy.may_issue_tokens
        require(may_issue(actor), _NO_DELEGATION)
        latest = _require_delegable(db, actor, scopes, expires_at)
    if not token.active(db.now):
        raise Invalid("400 (Bad request) the token is already revoked or expired")
    family_id = token.family_id or token.id
    db.update(access_tokens, token.id, revoked=True, family_id=family_id)
    days = min(_WEEK, cached_all_settings(db).max_personal_access_token_lifetime or _WEEK)
    by_default = latest_expiry(db.now, days)
    new_expiry = expires_at or min(by_default, latest or by_default)
    successor, secret = create_token(
        db,
        token.user_id,
        token.kind,
        token.name,
        scopes,
        new_expiry,
        family_id=family_id,
        restrictions=read_restrictions(token.restrictions),
    )
    emit(db, TokenRotated(user_id=token.user_id, expires_at=new_expiry))
    return successor, secret


def reset_private_token(db: Connection, user_id: int) -> str:
    """Replace the user's private token; the previous one stops working at once."""
    db.run(_DROP_PRIVATE, user=user_id)
    secret = secrets.token_urlsafe(24)
    _insert(db, user_id, "private", "Private token", "", secret, None, sealed=db.vault.seal(secret))
    return secret


def _insert(
    db: Connection,
    user_id: int,
    kind: AuthMethod,
    name: str,
    scopes: str,
    secret: str,
    expires_at: Timestamp | None,
    sealed: bytes | None = None,
    family_id: int | None = None,
    restrictions: TokenRestrictions = NO_RESTRICTIONS,
) -> int:
    return db.insert(
        access_tokens,
        user_id=user_id,
        kind=kind,
        name=name,
        name_key=name.casefold(),
        scopes=scopes,
        digest=db.vault.digest(secret),
        sealed=sealed,
        revoked=False,
        created_at=db.now,
        expires_at=expires_at,
        family_id=family_id,
        restrictions=restrictions.stored,
    )


def revoke_personal_token(db: Connection, user_id: int, token_id: int) -> None:
    """Revoke one of a user's own personal access tokens."""
    token = token_or_none(db, token_id, "personal", user_id)
    if token is None:
        raise NotFound("Token")
    revoke_token(db, token)
