"""Longest lifetime of access tokens, which administrators set in days."""

from sqlalchemy import bindparam, or_, select, update

from ingot.accounts.instance.all_settings import all_settings, cached_all_settings
from ingot.accounts.tokens.tables import access_tokens
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, add_duration

MAX_TOKENS = 5_000
"""Tokens that are shortened in one transaction; the next run continues."""
LIMITED_KINDS = ("personal", "impersonation")
"""Kinds of tokens that the setting limits; those of bots of projects and groups are personal ones."""
_TOO_LONG = (
    select(access_tokens.c.id)
    .where(
        or_(*(access_tokens.c.kind == kind for kind in LIMITED_KINDS)),
        access_tokens.c.revoked.is_(False),
        or_(access_tokens.c.expires_at.is_(None), access_tokens.c.expires_at > bindparam("latest")),
    )
    .order_by(access_tokens.c.id)
    .limit(MAX_TOKENS)
)
_SHORTEN = update(access_tokens).where(access_tokens.c.id.in_(_TOO_LONG)).values(expires_at=bindparam("expiry"))


def latest_expiry(now: Timestamp, days: int) -> Timestamp:
    """Return the start of the last day on which a token may expire."""
    return Timestamp(add_duration(now, days=days)[:10] + "T00:00:00.000Z")


def limited_expiry(db: Connection, expires_at: Timestamp | None) -> Timestamp | None:
    """Return a default expiry date, or the latest one that tokens may have if that is earlier."""
    days = cached_all_settings(db).max_personal_access_token_lifetime
    return expires_at if expires_at is None or days is None else min(expires_at, latest_expiry(db.now, days))


def shorten_tokens(db: Connection) -> None:
    """Let existing tokens expire no later than new ones may; those without an expiry date get one."""
    days = all_settings(db).max_personal_access_token_lifetime
    if days is not None:
        latest = latest_expiry(db.now, days)
        db.run(_SHORTEN, latest=latest, expiry=latest)
