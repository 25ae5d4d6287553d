"""The password check that pages, the API, OAuth and git share, and its limits on failed attempts.

A stranger must be able neither to guess a password nor to lock its owner out. So failures count by account and client
network, and all networks together only slow down those networks from which the user has never signed in. A browser in
which the user has signed in before has a limit of its own. An instance may lock accounts in addition (``users.locks``).
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial

import msgspec

from ingot.accounts.identity_providers.directory_users import authenticate_by_directory, is_directory_user
from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.instance.settings import current_settings
from ingot.accounts.instance.throttles import (
    attempts_in_window,
    count_attempt,
    count_within_limit,
    uncount_attempt,
)
from ingot.accounts.sessions.policy import GIT_PASSWORDS_DISABLED, HIDDEN, PasswordUse, password_refusal
from ingot.accounts.sessions.service import mail_unlock_link, record_sign_in
from ingot.accounts.sessions.tables import sign_ins
from ingot.accounts.two_factor.queries import is_second_factor_due
from ingot.accounts.users.confirmations import has_access_without_confirmation
from ingot.accounts.users.locks import count_failed_attempt, is_locked, unlock_user
from ingot.accounts.users.queries import find_user, user_by_login_or_none, user_or_none
from ingot.accounts.users.tables import User
from ingot.core.access.passwords import password_matches
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Unauthenticated, Unavailable
from ingot.core.http.client_networks import client_network
from ingot.core.settings import Settings

FAILURE_WINDOW_SECONDS = 600
MAX_FAILURES = 10
"""Limit for one account from one network, or from one browser in which its user has signed in before."""
MAX_FAILURES_PER_NETWORK = 100
MAX_FAILURES_OF_STRANGERS = 20
"""Limit for one account from all networks without a successful sign-in, after which their attempts are slowed down."""
SLOW_SECONDS = 30
"""Interval at which one attempt is then accepted."""
FAMILIAR_SECONDS = 90 * 24 * 3600
MAX_CONCURRENT_CHECKS = 3
"""Checks of one worker at the same time, fewer than it has threads: a flood of them must not delay other calls."""


class KnownDevice(msgspec.Struct, frozen=True):
    """A browser in which a user has signed in before."""

    user_id: int
    id: str


class PasswordAttempt(msgspec.Struct, frozen=True):
    """A login and password, their use, and the origin of the request."""

    use: PasswordUse
    login: str
    password: str
    ip: str
    user_agent: str = ""
    device: KnownDevice | None = None


class _OpenAttempt(msgspec.Struct, frozen=True):
    """An attempt that has been counted and recorded as failed, before its password is checked."""

    user: User | None
    in_directory: bool
    passwords_enabled: bool
    locked: bool
    """Whether the account is locked, so that no password is correct."""
    locks: bool
    """Whether the account is locked if this attempt fails."""
    keys: list[str]
    record_id: int | None


@cache
def _check_slots() -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(MAX_CONCURRENT_CHECKS)


@contextmanager
def _check_slot() -> Iterator[None]:
    """Occupy one of the slots for checks; raise Unavailable if none is free, because waiting would hold a thread."""
    slots = _check_slots()
    if not slots.acquire(blocking=False):
        raise Unavailable("Too many sign-ins at the same time")
    try:
        yield
    finally:
        slots.release()


def check_password(database: Database, settings: Settings, attempt: PasswordAttempt) -> User:
    """Return the user if the password is correct and suffices for its use; raise Unauthenticated or Throttled.

    Called outside any transaction, because hashing is slow. Each attempt is counted and recorded as a failure before
    the password is checked, so that concurrent attempts cannot exceed a limit, and taken back if the password is
    correct. An unknown user takes as long as a wrong password: one transaction and one hash. Users of a configured
    directory sign in with their directory password and no other. Raises Unavailable if too many checks run.
    """
    with _check_slot():
        return _check(database, settings, attempt)


def _check(database: Database, settings: Settings, attempt: PasswordAttempt) -> User:
    opened = database.write(partial(_open_attempt, settings=settings, attempt=attempt))
    user = opened.user
    usable = user is not None and not (opened.in_directory or opened.locked)
    matched = password_matches(user.password_hash if user and usable else None, attempt.password)
    by_directory = False
    if settings.ldap_url and not (matched and opened.passwords_enabled):
        directory_user = authenticate_by_directory(database, settings, attempt.login.strip(), attempt.password)
        user, by_directory = directory_user or user, directory_user is not None
    if user is None or not (matched or by_directory):
        if user is not None and opened.locks:
            database.write(partial(mail_unlock_link, user=user))
        raise Unauthenticated
    enabled = by_directory or opened.passwords_enabled
    refusal = database.read(partial(_refusal, user=user, use=attempt.use, passwords_enabled=enabled))
    if refusal == HIDDEN:
        raise Unauthenticated
    if refusal is None and attempt.use == "git" and not by_directory:
        refusal = database.read(_git_refusal)
    database.write(partial(_close_attempt, opened=opened, user_id=user.id, network=client_network(attempt.ip)))
    if refusal is not None:
        raise Unauthenticated(refusal)
    return user


def require_password_use(db: Connection, user_id: int, use: PasswordUse) -> User:
    """Return a user whose password was checked earlier; raise Unauthenticated if it may no longer be used so."""
    user = user_or_none(db, user_id)
    refusal = HIDDEN if user is None else _refusal(db, user, use, passwords_enabled=True)
    if user is None or refusal is not None:
        raise Unauthenticated(refusal or "")
    return user


def _refusal(db: Connection, user: User, use: PasswordUse, *, passwords_enabled: bool) -> str | None:
    due = is_second_factor_due(db, user)
    confirmed = has_access_without_confirmation(db, user)
    return password_refusal(user, use, passwords_enabled=passwords_enabled, second_factor_due=due, confirmed=confirmed)


def _git_refusal(db: Connection) -> str | None:
    return None if cached_all_settings(db).password_authentication_enabled_for_git else GIT_PASSWORDS_DISABLED


def is_current_password(database: Database, user: User, password: str) -> bool:
    """Check the password that a signed-in user enters again; raise Throttled after too many failures.

    Counted before the check, so that concurrent attempts cannot exceed the limit.
    """
    key = f"password of {user.id}"
    database.write(lambda db: count_within_limit(db, key, MAX_FAILURES, FAILURE_WINDOW_SECONDS))
    with _check_slot():
        matched = password_matches(user.password_hash, password)
    if matched:
        database.write(lambda db: uncount_attempt(db, key))
    return matched


def _open_attempt(db: Connection, settings: Settings, attempt: PasswordAttempt) -> _OpenAttempt:
    user = user_by_login_or_none(db, attempt.login)
    keys = _count(db, user, attempt)
    record_id = None
    if user is not None:
        record_id = record_sign_in(db, user.id, attempt.ip, attempt.user_agent, succeeded=False)
    in_directory = bool(settings.ldap_url) and user is not None and is_directory_user(db, user)
    locked = user is not None and is_locked(db, user)
    locks = user is not None and not in_directory and count_failed_attempt(db, user.id)
    return _OpenAttempt(user, in_directory, current_settings(db).signin_enabled, locked, locks, keys, record_id)


def _count(db: Connection, user: User | None, attempt: PasswordAttempt) -> list[str]:
    """Count an attempt and return the keys of its counters; raise Throttled above a limit."""
    # One counter per account, whether the login is a username or one of several addresses.
    account = str(user.id) if user else attempt.login.strip().lower()[:255]
    network = client_network(attempt.ip)
    if user is not None and attempt.device is not None and attempt.device.user_id == user.id:
        key = f"sign-in of {account} on device {attempt.device.id}"
        count_within_limit(db, key, MAX_FAILURES, FAILURE_WINDOW_SECONDS)
        return [key]
    keys = [f"sign-in from {network}", f"sign-in of {account} from {network}"]
    for key, limit in zip(keys, (MAX_FAILURES_PER_NETWORK, MAX_FAILURES), strict=True):
        count_within_limit(db, key, limit, FAILURE_WINDOW_SECONDS)
    if user is not None and attempts_in_window(db, _familiar_key(user.id, network), FAMILIAR_SECONDS):
        return keys
    keys.append(f"sign-in of {account}")
    if count_attempt(db, keys[-1], FAILURE_WINDOW_SECONDS).count > MAX_FAILURES_OF_STRANGERS:
        keys.append(f"slow sign-in of {account}")
        count_within_limit(db, keys[-1], 1, SLOW_SECONDS)
    return keys


def _close_attempt(db: Connection, opened: _OpenAttempt, user_id: int, network: str) -> None:
    """Take back an attempt whose password was correct, and remember the network."""
    for key in opened.keys:
        uncount_attempt(db, key)
    if opened.record_id is not None:
        db.delete(sign_ins, opened.record_id)
    unlock_user(db, find_user(db, user_id))
    key = _familiar_key(user_id, network)
    if attempts_in_window(db, key, FAMILIAR_SECONDS) is None:
        count_attempt(db, key, FAMILIAR_SECONDS)


def _familiar_key(user_id: int, network: str) -> str:
    return f"successful sign-in of {user_id} from {network}"
