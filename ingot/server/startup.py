"""Initialization of an instance before it serves: data directory, secret, schema, root and the placeholder user."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path

from ingot.accounts.instance.tables import instance_settings
from ingot.accounts.tokens.service import create_token
from ingot.accounts.tokens.subscribers import subscriptions as token_subscriptions
from ingot.accounts.users.params import CreateUser
from ingot.accounts.users.queries import placeholder_user
from ingot.accounts.users.service import create_user
from ingot.accounts.users.tables import users
from ingot.core.access.passwords import hash_password
from ingot.core.db.clocks import wall_clock
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.errors import NotFound
from ingot.core.events.bus import collect_subscribers
from ingot.core.late_imports import require_modules
from ingot.core.migrations.errors import SchemaError
from ingot.core.migrations.run import RESTORING, migrate
from ingot.core.names import NAMESPACES
from ingot.core.settings import Settings
from ingot.projects.namespaces.subscribers import subscriptions as namespace_subscriptions
from ingot.server.app import open_database

PLACEHOLDER = "ghost"


def make_data_directory(data: Path) -> None:
    """Create the data directory and the instance secret, readable only by the owner."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = data / "secrets"
    folder.mkdir(mode=0o700, exist_ok=True)
    key = folder / "instance.key"
    if not key.exists():
        temporary = folder / f".{secrets.token_hex(8)}"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(file.fileno())
        try:
            # A link never replaces a file: if two first starts run at once, one secret wins.
            os.link(temporary, key)
        except FileExistsError:
            pass
        temporary.unlink()


def initialize_instance(
    settings: Settings, clock: Callable[[], Timestamp] = wall_clock, *, needs_password: bool = True
) -> str | None:
    """Initialize and migrate an instance; return root's password if one was generated.

    Without ``needs_password``, root has a password only if the settings contain one.
    """
    if (settings.data / RESTORING).exists():
        raise SchemaError(f"A restore into {settings.data} has not finished. Empty the directory and restore again.")
    make_data_directory(settings.data)
    migrate(settings)
    database = open_database(settings, clock)
    # The other subscribers of new users send mail and webhooks, for which there is no recipient yet.
    database.subscribers = collect_subscribers([token_subscriptions, namespace_subscriptions])
    try:
        if settings.repository_storages:
            # Imported on demand, because it loads the packages of projects and repositories.
            from ingot.server.storage_marks import mark_storages

            mark_storages(database, settings)
        if database.read(_is_populated):
            return None
        password = settings.root_password or (secrets.token_urlsafe(12) if needs_password else None)
        hashed = hash_password(password) if password is not None else None
        # A transaction that is interrupted to import it would leave the first id of a user unused on PostgreSQL.
        require_modules("cryptography.hazmat.primitives.ciphers.aead")
        populated = database.write(lambda db: _populate(db, settings, hashed))
    finally:
        database.close()
    return password if populated and not settings.root_password else None


def _is_populated(db: Connection) -> bool:
    try:
        placeholder_user(db)
    except NotFound:
        return False
    return True


def _populate(db: Connection, settings: Settings, password_hash: str | None) -> bool:
    db.lock(NAMESPACES)
    if _is_populated(db):
        return False
    db.insert(instance_settings, id=1, document="{}", created_at=db.now, updated_at=db.now)
    root = create_user(
        db,
        CreateUser(email="admin@example.com", name="Administrator", username="root", admin=True),
        password_hash,
    )
    if settings.root_token:
        create_token(db, root.id, "personal", "First token", ["api", "sudo"], secret=settings.root_token)
    placeholder = create_user(
        db,
        CreateUser(email="ghost@example.com", name="Ghost User", username=PLACEHOLDER, force_random_password=True),
        None,
    )
    db.update(
        users,
        placeholder.id,
        placeholder=True,
        bio="Holds the contributions of deleted users.",
    )
    return True
