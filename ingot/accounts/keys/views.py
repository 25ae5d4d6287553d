"""What callers see of keys."""

from ingot.accounts.keys.tables import GpgKey, SshKey
from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.views import AdminUserView, admin_user_view
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp


class KeyView(View):
    """An SSH key."""

    id: int
    title: str
    key: str
    created_at: Timestamp
    expires_at: Timestamp | None
    usage_type: str
    can_push: bool


class KeyWithUserView(KeyView):
    """An SSH key and whom it stands for, if it stands for a user."""

    user: AdminUserView | None


class GpgKeyView(View):
    """A GPG key."""

    id: int
    key: str
    created_at: Timestamp


def key_view(key: SshKey) -> KeyView:
    """The key, without whose it is: the path said so."""
    return KeyView(*_fields(key))


def key_with_user_view(db: Connection, key: SshKey, base: str) -> KeyWithUserView:
    """The key for administrators, who may not know whose it is."""
    user = user_or_none(db, key.user_id) if key.user_id is not None else None
    return KeyWithUserView(*_fields(key), admin_user_view(db, user, base) if user else None)


def _fields(key: SshKey) -> tuple[int, str, str, Timestamp, Timestamp | None, str, bool]:
    # Whether a key may push was a matter of deploy keys, but users' keys carried the field too.
    return key.id, key.title, key.key, key.created_at, key.expires_at, "auth_and_signing", False


def gpg_key_view(key: GpgKey) -> GpgKeyView:
    """The key, without whose it is: the path said so."""
    return GpgKeyView(key.id, key.key, key.created_at)
