"""Accounts of directory users, which follow the directory at each sign-in and every hour."""

from functools import partial
from typing import Any

from sqlalchemy import bindparam, select

from ingot.accounts.identity_providers.directory import PROVIDER, Directory, DirectoryEntry, DirectoryError
from ingot.accounts.identity_providers.identities import ProviderIdentity, find_or_create_account
from ingot.accounts.identity_providers.ldap import configured_directory
from ingot.accounts.users.queries import find_user, identities_by_user, user_or_none
from ingot.accounts.users.service import block_by_directory, remove_block
from ingot.accounts.users.tables import User, identities, users
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Denied
from ingot.core.jobs.queue import enqueue
from ingot.core.names import NAMESPACES
from ingot.core.settings import Settings

CHECK_DIRECTORY = "check_directory"
_BATCH = 200
_DIRECTORY_USERS = (
    select(identities.c.user_id, identities.c.extern_uid)
    .where(identities.c.provider == PROVIDER, identities.c.user_id > bindparam("after"))
    .order_by(identities.c.user_id)
    .limit(_BATCH)
)


def is_directory_user(db: Connection, user: User) -> bool:
    """Return whether a user signs in with the password of the directory, and so not with one of this instance."""
    return any(held.provider == PROVIDER for held in identities_by_user(db, [user.id]).get(user.id, ()))


def authenticate_by_directory(database: Database, settings: Settings, login: str, password: str) -> User | None:
    """Return the user with this login and password in the directory; None also if the directory fails.

    A directory that is down must not prevent other users from signing in.
    """
    directory = configured_directory(settings)
    if directory is None or not login or not password:
        return None
    try:
        entry = directory.find(login)
        if entry is None or not directory.is_password(entry, password):
            return None
        return database.write(partial(_update_account, settings=settings, entry=entry))
    except (DirectoryError, Denied):
        return None


def _update_account(db: Connection, settings: Settings, entry: DirectoryEntry) -> User | None:
    """Return the account of an authenticated user, created or unblocked if necessary; None if they are disabled."""
    db.lock(NAMESPACES)
    identity = ProviderIdentity(PROVIDER, _normalized(entry.dn), entry.username, entry.name, entry.email)
    user = find_or_create_account(
        db, identity, sign_up=settings.ldap_sign_up, link_by_email=settings.ldap_link_by_email
    )
    _update_block(db, user, active=not entry.disabled)
    if user.password_expired:
        # An administrator set a password here. It is never used, so the user must not be asked to change it.
        db.update(users, user.id, password_hash=None, password_expired=False)
    return None if entry.disabled else find_user(db, user.id)


def _update_block(db: Connection, user: User, *, active: bool) -> None:
    if active and user.blocked_by_directory:
        remove_block(db, user)
    elif not active and user.state == "active":
        block_by_directory(db, user)


def enqueue_directory_check(db: Connection) -> None:
    """Enqueue the job that compares all accounts with the directory."""
    enqueue(db, CHECK_DIRECTORY, None, unique_key=CHECK_DIRECTORY)


class DirectoryCheck:
    """Handler of the job; idempotent."""

    def __init__(self, settings: Settings) -> None:
        self._directory = configured_directory(settings)

    def run(self, database: Database, _payload: Any) -> None:
        """Block the users whom the directory has removed or disabled, and unblock those who are back."""
        if self._directory is None:
            return
        after = 0
        while batch := database.read(lambda db, after=after: db.rows(_DIRECTORY_USERS, after=after)):  # type: ignore[misc] # Bound anew in each round.
            after = batch[-1][0]
            for user_id, dn in batch:
                try:
                    active = _is_active(self._directory, dn)
                except DirectoryError:
                    return  # The job runs again in an hour; a directory that is down must not block users.
                database.write(partial(_update_user, user_id=user_id, active=active))


def _is_active(directory: Directory, dn: str) -> bool:
    entry = directory.entry_at(dn)
    return entry is not None and not entry.disabled


def _update_user(db: Connection, user_id: int, active: bool) -> None:
    user = user_or_none(db, user_id)
    if user is not None:
        _update_block(db, user, active=active)


def _normalized(dn: str) -> str:
    """Return the DN in lower case, because directories compare DNs without case."""
    return dn.lower()
