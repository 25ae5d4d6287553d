"""Response structs of SSH and GPG keys."""

from collections.abc import Sequence

from ingot.accounts.keys.ports import KeyProject
from ingot.accounts.keys.queries import list_gpg_keys, list_keys
from ingot.accounts.keys.tables import GpgKey, SshKey
from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.views import AdminUserView, admin_user_view
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page
from ingot.core.db.times import Timestamp

_ALL = Page(size=100)


class KeyView(View):
    """An SSH key."""

    id: int
    title: str
    key: str
    created_at: Timestamp
    expires_at: Timestamp | None
    usage_type: str
    can_push: bool


class DeployKeyProjectView(View):
    """Permission of a deploy key in a project."""

    id: int
    deploy_key_id: int
    project_id: int
    created_at: Timestamp
    can_push: bool


class KeyWithUserView(KeyView):
    """An SSH key with its user, which is null for deploy keys, and the projects of a deploy key."""

    user: AdminUserView | None
    deploy_keys_projects: list[DeployKeyProjectView]


class GpgKeyView(View):
    """A GPG key."""

    id: int
    key: str
    created_at: Timestamp


def key_view(key: SshKey) -> KeyView:
    """Return a key; its user is known from the path."""
    return KeyView(*_fields(key))


def key_with_user_view(db: Connection, key: SshKey, projects: Sequence[KeyProject], base: str) -> KeyWithUserView:
    """Return a key with its user and its projects, for administrators."""
    user = user_or_none(db, key.user_id) if key.user_id is not None else None
    links = [DeployKeyProjectView(*project) for project in projects]
    return KeyWithUserView(*_fields(key), admin_user_view(db, user, base) if user else None, links)


def _fields(key: SshKey) -> tuple[int, str, str, Timestamp, Timestamp | None, str, bool]:
    # ``can_push`` is meaningful only for deploy keys, but the specification has it on users' keys too.
    return key.id, key.title, key.key, key.created_at, key.expires_at, "auth_and_signing", False


def gpg_key_view(key: GpgKey) -> GpgKeyView:
    """Return a key; its user is known from the path."""
    return GpgKeyView(key.id, key.key, key.created_at)


def keys_of_user(db: Connection, user_id: int) -> list[SshKey]:
    """Return the SSH keys of a user with all that their owner sees."""
    return list_keys(db, user_id, _ALL).items


def gpg_keys_of_user(db: Connection, user_id: int) -> list[GpgKey]:
    """Return the GPG keys of a user with all that their owner sees."""
    return list_gpg_keys(db, user_id, _ALL).items
