"""Users who have not confirmed their address, and how long they may use their accounts."""

from ingot.accounts.instance.settings import cached_stored_settings, decode_settings
from ingot.accounts.users.addresses import has_address
from ingot.accounts.users.tables import User
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration

SOFT_DAYS = 3


def has_access_without_confirmation(db: Connection, user: User) -> bool:
    """Return whether the user has confirmed the address, or need not have done it yet."""
    if user.confirmed_at is not None:
        return True
    settings = decode_settings(cached_stored_settings(db))
    in_time = settings.email_confirmation_setting == "soft" and add_duration(user.created_at, days=SOFT_DAYS) > db.now
    return in_time and has_address(user)
