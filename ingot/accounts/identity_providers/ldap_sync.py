"""People of the directory: their accounts here follow what it says of them."""

from functools import partial
from typing import Any

from sqlalchemy import bindparam, select

from ingot.accounts.identity_providers.account_link import ProviderIdentity, find_or_create_account
from ingot.accounts.identity_providers.ldap import (
    PROVIDER,
    DirectoryEntry,
    DirectoryError,
    LdapDirectory,
    configured_directory_or_none,
)
from ingot.accounts.users.queries import find_user, identities_by_user, user_or_none
from ingot.accounts.users.service import block_by_directory, remove_block
from ingot.accounts.users.tables import User, identities, users
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.jobs.queue import enqueue
from ingot.core.names import NAMESPACES
from ingot.errors import Denied
from ingot.log import log_failure
from ingot.settings import Settings

CHECK_DIRECTORY = "check directory"
_BATCH = 200
_PEOPLE = (
    select(identities.c.user_id, identities.c.extern_uid)
    .where(identities.c.provider == PROVIDER, identities.c.user_id > bindparam("after"))
    .order_by(identities.c.user_id)
    .limit(_BATCH)
)


def is_directory_user(db: Connection, user: User) -> bool:
    """Whether a user signs in by the directory, and so by no password of ours."""
    return any(held.provider == PROVIDER for held in identities_by_user(db, [user.id]).get(user.id, ()))


def authenticate_by_directory(database: Database, settings: Settings, login: str, password: str) -> User | None:
    """Whom the directory proves; nobody where it does not answer, so that all others still get in."""
    directory = configured_directory_or_none(settings)
    if directory is None or not login or not password:
        return None
    try:
        entry = directory.find(login)
        if entry is None or not directory.verify_password(entry, password):
            return None
        return database.write(partial(_sign_in_directory_user, settings=settings, entry=entry))
    except Denied:
        return None
    except DirectoryError as error:
        log_failure("directory did not answer", error)
        return None


def _sign_in_directory_user(db: Connection, settings: Settings, entry: DirectoryEntry) -> User | None:
    """The account of somebody who proved themselves there; a block of the directory's ends or begins with that."""
    db.lock(NAMESPACES)
    known = ProviderIdentity(PROVIDER, _normalized_dn(entry.dn), entry.username, entry.name, entry.email)
    user = find_or_create_account(db, known, sign_up=settings.ldap_sign_up, link_by_email=settings.ldap_link_by_email)
    _update_block(db, user, there=not entry.disabled)
    if user.password_expired:
        # Whoever set a password here meant well, but it opens nothing: nobody can be asked to change it.
        db.update(users, user.id, password_hash=None, password_expired=False)
    return None if entry.disabled else find_user(db, user.id)


def _update_block(db: Connection, user: User, *, there: bool) -> None:
    if there and user.blocked_by_directory:
        remove_block(db, user)
    elif not there and user.state == "active":
        block_by_directory(db, user)


def enqueue_directory_check(db: Connection) -> None:
    """Let a job ask the directory, which no transaction should wait for."""
    enqueue(db, CHECK_DIRECTORY, None, unique_key=CHECK_DIRECTORY)


class DirectoryJobs:
    """The handler of the job; it may run twice."""

    def __init__(self, settings: Settings) -> None:
        self._directory = configured_directory_or_none(settings)

    def check(self, database: Database, _payload: Any) -> None:
        """Block whom the directory does not have any more, and let in again whom it has once more."""
        if self._directory is None:
            return
        after = 0
        while people := database.read(lambda db, after=after: db.rows(_PEOPLE, after=after)):  # type: ignore[misc] # Bound anew in each round.
            after = people[-1][0]
            for user_id, dn in people:
                try:
                    there = _is_in_directory(self._directory, dn)
                except DirectoryError as error:  # Asked again in an hour; silence blocks no user.
                    log_failure("directory did not answer", error)
                    return
                database.write(partial(_reconcile_user, user_id=user_id, there=there))


def _is_in_directory(directory: LdapDirectory, dn: str) -> bool:
    entry = directory.at(dn)
    return entry is not None and not entry.disabled


def _reconcile_user(db: Connection, user_id: int, there: bool) -> None:
    user = user_or_none(db, user_id)
    if user is not None:
        _update_block(db, user, there=there)


def _normalized_dn(dn: str) -> str:
    """The name of a place, by which it is found again: directories do not tell large letters from small ones."""
    return dn.lower()
