"""State changes of SSH and GPG keys."""

from ingot.accounts.keys.events import KeyAdded, KeyRemoved
from ingot.accounts.keys.gpg_format import parse_gpg_key
from ingot.accounts.keys.params import CreateKey
from ingot.accounts.keys.queries import (
    find_gpg_key_of_user,
    find_key,
    gpg_key_by_fingerprint_or_none,
    key_by_fingerprint_or_none,
)
from ingot.accounts.keys.restrictions import key_restriction_error
from ingot.accounts.keys.ssh_format import PublicKey, parse_public_key
from ingot.accounts.keys.tables import GpgKey, SshKey, gpg_keys, ssh_keys
from ingot.accounts.users.queries import find_user
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.errors import Denied, Invalid, too_long_message
from ingot.core.events.bus import emit

MAX_LENGTH = 255


def create_key(db: Connection, user_id: int, params: CreateKey) -> SshKey:
    """Add an SSH key to a user; raise Invalid if it is already registered. An expired key gives no access."""
    _require_person(db, user_id)
    return add_key(db, user_id, params.title, params.key, params.expires_at)


def add_key(db: Connection, user_id: int | None, title: str, text: str, expires_at: Timestamp | None) -> SshKey:
    """Add an SSH key that is not registered yet; one without a user is a deploy key."""
    title = title.strip()
    key = _parse_key(title, text)
    restriction = key_restriction_error(db, key.kind, key.bits)
    if restriction is not None:
        raise Invalid(key=[restriction])
    if key_by_fingerprint_or_none(db, key.fingerprint_sha256) is not None:
        raise Invalid(fingerprint=["has already been taken"])
    key_id = db.insert(
        ssh_keys,
        user_id=user_id,
        title=title,
        key=key.line,
        kind=key.kind,
        bits=key.bits,
        fingerprint_sha256=key.fingerprint_sha256,
        fingerprint_md5=key.fingerprint_md5,
        created_at=db.now,
        expires_at=expires_at,
    )
    emit(db, KeyAdded(key_id, user_id, key.line, db.now))
    return find_key(db, key_id)


def rename_key(db: Connection, key_id: int, title: str) -> None:
    """Change the title of an SSH key."""
    title = title.strip()
    title_error = _title_error(title)
    if title_error is not None:
        raise Invalid(title=[title_error])
    db.update(ssh_keys, key_id, title=title)


def delete_key(db: Connection, key: SshKey) -> None:
    """Delete an SSH key."""
    if db.delete_counted(ssh_keys, key.id):
        emit(db, KeyRemoved(key.id, key.user_id, key.key, key.created_at))


def create_gpg_key(db: Connection, user_id: int, text: str) -> GpgKey:
    """Add a GPG key to a user; raise Invalid if it is already registered."""
    _require_person(db, user_id)
    key = parse_gpg_key(text)
    if gpg_key_by_fingerprint_or_none(db, key.fingerprint) is not None:
        raise Invalid(fingerprint=["has already been taken"])
    key_id = db.insert(gpg_keys, user_id=user_id, key=key.text, fingerprint=key.fingerprint, created_at=db.now)
    return find_gpg_key_of_user(db, user_id, key_id)


def delete_gpg_key(db: Connection, key: GpgKey) -> None:
    """Delete a GPG key."""
    db.delete(gpg_keys, key.id)


def _require_person(db: Connection, user_id: int) -> None:
    """Raise Denied for a bot, whose key would still give access after its token has expired."""
    if find_user(db, user_id).bot:
        raise Denied("Bot users cannot have keys")


def _parse_key(title: str, text: str) -> PublicKey:
    """Parse a key; raise Invalid with all reasons at once."""
    title_error = _title_error(title)
    errors = {} if title_error is None else {"title": [title_error]}
    try:
        key = parse_public_key(text)
    except Invalid as error:
        raise Invalid(**errors, **error.errors) from error
    if errors:
        raise Invalid(**errors)
    return key


def _title_error(title: str) -> str | None:
    if not title:
        return "can't be blank"
    return too_long_message(MAX_LENGTH) if len(title) > MAX_LENGTH else None
