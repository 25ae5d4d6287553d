"""Detection of a second rotation with the same token, which then is in the hands of two: it may have been stolen."""

from functools import partial

from sqlalchemy import bindparam, select

from ingot.accounts.tokens.service import ROTATION, revoke_token
from ingot.accounts.tokens.tables import AccessToken, access_tokens
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.log import log_warning

_ROTATED = select(access_tokens).where(
    access_tokens.c.digest == bindparam("digest"),
    access_tokens.c.revoked.is_(True),
    access_tokens.c.family_id.is_not(None),
)
_FAMILY = select(access_tokens).where(
    # Found by the index of these two.
    access_tokens.c.user_id == bindparam("user"),
    access_tokens.c.kind == bindparam("kind"),
    access_tokens.c.family_id == bindparam("family"),
    access_tokens.c.revoked.is_(False),
)


def revoke_family_of_reused_token(database: Database, secret: str) -> None:
    """Revoke the token that replaced a rotated one, with which a rotation was requested again.

    An expired token changes nothing, so that old secrets cannot be used to disable tokens.
    """
    token = database.read(partial(_rotated_token_or_none, secret=secret))
    if token is not None and database.write(partial(_revoke_family, token=token)):
        log_warning("token reused", user=token.user_id, token=token.id, family=token.family_id)


def _rotated_token_or_none(db: Connection, secret: str) -> AccessToken | None:
    token = db.first(AccessToken, _ROTATED, digest=db.vault.digest(secret))
    return token if token is not None and (token.expires_at is None or token.expires_at > db.now) else None


def _revoke_family(db: Connection, token: AccessToken) -> int:
    """Revoke the active tokens of a family, of which there is one at most; return their number."""
    db.lock(ROTATION)
    active = db.all(AccessToken, _FAMILY, user=token.user_id, kind=token.kind, family=token.family_id)
    for successor in active:
        revoke_token(db, successor)
    return len(active)
