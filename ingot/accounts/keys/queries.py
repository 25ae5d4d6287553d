"""Queries of SSH and GPG keys."""

from collections.abc import Iterable

from sqlalchemy import bindparam, select

from ingot.accounts.keys.tables import GpgKey, SshKey, gpg_keys, ssh_keys
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import NotFound

_BY_ID = select(ssh_keys).where(ssh_keys.c.id == bindparam("key"))
_BY_SHA256 = select(ssh_keys).where(ssh_keys.c.fingerprint_sha256 == bindparam("fingerprint"))
_BY_MD5 = select(ssh_keys).where(ssh_keys.c.fingerprint_md5 == bindparam("fingerprint")).order_by(ssh_keys.c.id)
_BY_FINGERPRINTS = select(ssh_keys).where(in_list(ssh_keys.c.fingerprint_sha256, "fingerprints"))
_OF_USER = select(ssh_keys).where(ssh_keys.c.user_id == bindparam("user"))
_ONE_OF_USER = _OF_USER.where(ssh_keys.c.id == bindparam("key"))
_LIST = list_query(_OF_USER, ssh_keys.c.id, ssh_keys.c.id.asc())

_GPG_BY_FINGERPRINT = select(gpg_keys).where(gpg_keys.c.fingerprint == bindparam("fingerprint"))
_GPG_OF_USER = select(gpg_keys).where(gpg_keys.c.user_id == bindparam("user"))
_GPG_ONE_OF_USER = _GPG_OF_USER.where(gpg_keys.c.id == bindparam("key"))
_GPG_OF_USERS = select(gpg_keys).where(in_list(gpg_keys.c.user_id, "users")).order_by(gpg_keys.c.id.desc())
_MAX_GPG_KEYS = 20
"""Keys of a user that are tried on a signature."""
_GPG_LIST = list_query(_GPG_OF_USER, gpg_keys.c.id, gpg_keys.c.id.asc())


def list_keys(db: Connection, user_id: int, page: Page) -> Listing[SshKey]:
    """List the user's SSH keys, the oldest first."""
    return fetch_page(db, SshKey, _LIST, page, user=user_id)


def find_key(db: Connection, key_id: int) -> SshKey:
    """Return the SSH key with this id, of any user; raise NotFound otherwise."""
    key = db.first(SshKey, _BY_ID, key=key_id)
    if key is None:
        raise NotFound("Key")
    return key


def key_of_user_or_none(db: Connection, user_id: int, key_id: int) -> SshKey | None:
    """Return the user's SSH key with this id."""
    return db.first(SshKey, _ONE_OF_USER, user=user_id, key=key_id)


def find_key_of_user(db: Connection, user_id: int, key_id: int) -> SshKey:
    """Return the user's SSH key with this id; raise NotFound otherwise."""
    key = key_of_user_or_none(db, user_id, key_id)
    if key is None:
        raise NotFound("Key")
    return key


def key_by_fingerprint_or_none(db: Connection, sha256: str) -> SshKey | None:
    """Return the SSH key with this fingerprint (``SHA256:…``); the caller checks whether it has expired."""
    return db.first(SshKey, _BY_SHA256, fingerprint=sha256)


def keys_by_fingerprints(db: Connection, fingerprints: Iterable[str]) -> dict[str, SshKey]:
    """Return the SSH keys with these fingerprints (``SHA256:…``), by fingerprint."""
    wanted = sorted(set(fingerprints))
    keys = db.all(SshKey, _BY_FINGERPRINTS, fingerprints=wanted) if wanted else []
    return {key.fingerprint_sha256: key for key in keys}


def find_key_by_fingerprint(db: Connection, fingerprint: str) -> SshKey:
    """Return the SSH key with this fingerprint (``SHA256:…`` or ``aa:bb:…``); raise NotFound otherwise."""
    by_sha256 = fingerprint.startswith("SHA256:")
    key = db.first(SshKey, _BY_SHA256 if by_sha256 else _BY_MD5, fingerprint=fingerprint)
    if key is None:
        raise NotFound("Key")
    return key


def list_gpg_keys(db: Connection, user_id: int, page: Page) -> Listing[GpgKey]:
    """List the user's GPG keys, the oldest first."""
    return fetch_page(db, GpgKey, _GPG_LIST, page, user=user_id)


def gpg_keys_of_users(db: Connection, user_ids: Iterable[int]) -> dict[int, list[GpgKey]]:
    """Return the GPG keys of users that can verify signatures: the newest of each."""
    ids, keys = sorted(set(user_ids)), dict[int, list[GpgKey]]()
    for key in db.all(GpgKey, _GPG_OF_USERS, users=ids) if ids else []:
        keys.setdefault(key.user_id, []).append(key)
    return {user_id: newest[:_MAX_GPG_KEYS] for user_id, newest in keys.items()}


def gpg_key_of_user_or_none(db: Connection, user_id: int, key_id: int) -> GpgKey | None:
    """Return the user's GPG key with this id."""
    return db.first(GpgKey, _GPG_ONE_OF_USER, user=user_id, key=key_id)


def find_gpg_key_of_user(db: Connection, user_id: int, key_id: int) -> GpgKey:
    """Return the user's GPG key with this id; raise NotFound otherwise."""
    key = gpg_key_of_user_or_none(db, user_id, key_id)
    if key is None:
        raise NotFound("GPG Key")
    return key


def gpg_key_by_fingerprint_or_none(db: Connection, fingerprint: str) -> GpgKey | None:
    """Return the GPG key with this fingerprint, in upper case and without spaces."""
    return db.first(GpgKey, _GPG_BY_FINGERPRINT, fingerprint=fingerprint)
