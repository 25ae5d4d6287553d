"""Feed tokens: they let a feed reader read the Atom feeds of a user, and nothing else.

They are derived from the private token, so resetting that one also ends the access of feed readers.
"""

import hmac
import re

from msgspec.structs import replace

from ingot.accounts.instance.access_settings import access_settings
from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.tokens.queries import private_token_digest_or_none
from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.tables import User
from ingot.core.db.connection import Connection

_FORMAT = re.compile(r"glft-([0-9a-f]{64})-([1-9][0-9]{0,17})")


def feed_token(db: Connection, user_id: int) -> str:
    """Return the feed token of a user; empty if the user has no private token, or the instance no feed tokens."""
    if cached_all_settings(db).disable_feed_token:
        return ""
    digest = private_token_digest_or_none(db, user_id)
    return f"glft-{db.vault.derive('feed token', digest)}-{user_id}" if digest is not None else ""


def user_by_feed_token_or_none(db: Connection, token: str) -> User | None:
    """Return the active user with this feed token, without rights that need a sign-in.

    A user who must accept the terms of service reads nothing.
    """
    parts = _FORMAT.fullmatch(token)
    if parts is None:
        return None
    user = user_or_none(db, int(parts[2]))
    expected = feed_token(db, user.id) if user is not None else ""
    is_valid = hmac.compare_digest(token.encode(), expected.encode())
    settings = access_settings(db)
    if not is_valid or user is None or user.state != "active" or user.placeholder:
        return None
    if settings.requires_acceptance(user.terms_accepted_at):
        return None
    return replace(user, admin=user.admin and not settings.admin_mode)
