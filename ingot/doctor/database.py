"""Checks of the database: whether it can be used at all, and what its rows should promise but do not."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from sqlalchemy import and_, exists, func, or_, select, text

from ingot.avatars.service import drop_avatar
from ingot.avatars.tables import avatars
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.db.engines import SqliteEngine
from ingot.db.schema import metadata
from ingot.doctor.findings import Finding
from ingot.errors import Unavailable
from ingot.groups.namespaces.subscribers import give_namespace
from ingot.groups.namespaces.tables import namespaces
from ingot.jobs.admin import retry_job
from ingot.jobs.tables import Job, jobs
from ingot.migrations.run import newest_revision
from ingot.names import NAMESPACES
from ingot.users.accounts.events import UserCreated
from ingot.users.accounts.queries import count_administrators
from ingot.users.accounts.tables import User, users
from ingot.users.tokens.queries import private_token_of
from ingot.users.tokens.service import reset_private_token
from ingot.users.tokens.tables import access_tokens

_WITHOUT_NAMESPACE = select(users).where(~exists().where(namespaces.c.owner_id == users.c.id)).order_by(users.c.id)
_PRIVATE_TOKEN = exists().where(access_tokens.c.user_id == users.c.id, access_tokens.c.kind == "private")
_WITHOUT_TOKEN = select(users).where(~_PRIVATE_TOKEN).order_by(users.c.id)
_WITH_TOKEN = select(users.c.id).where(_PRIVATE_TOKEN).order_by(users.c.id).limit(1)
_WITHOUT_USER = select(namespaces.c.id, namespaces.c.full_path).where(
    namespaces.c.kind == "user",
    or_(namespaces.c.owner_id.is_(None), ~exists().where(users.c.id == namespaces.c.owner_id)),
)
_DANGLING = select(users.c.id, users.c.username).where(
    users.c.avatar_id.is_not(None), ~exists().where(avatars.c.id == users.c.avatar_id)
)
_GAVE_UP = select(jobs).where(jobs.c.state == "dead").order_by(jobs.c.id)
_REVISION = text("SELECT version_num FROM alembic_version")
_LIVES = select(func.count()).select_from(users)


def check_database(database: Database) -> Iterator[Finding]:
    """Whether it answers and fits this code; only then are its rows looked at."""
    try:
        revision = _revision(database)
        if revision != newest_revision():
            yield Finding(
                f"The database is at revision {revision or 'none'}, this version of Ingot needs {newest_revision()}: "
                "run `ingot migrate`, or the version that fits",
                hopeless=True,
            )
            return
        yield from _integrity(database)
        yield from database.read(lambda db: list(_rows(database, db)))
        # Last, because what was mended until here may have been the cause.
        yield from _references(database)
    except Unavailable as error:
        yield Finding(f"The database cannot be used: {error}", hopeless=True)
    except database.engine.errors as error:
        yield Finding(f"The database is damaged: {error}", hopeless=True)


def _revision(database: Database) -> str | None:
    try:
        revision: str | None = database.read(lambda db: db.value(_REVISION))
    except database.engine.errors as error:
        if "alembic_version" in str(error):  # Nothing was ever migrated here.
            return None
        raise
    return revision


def _integrity(database: Database) -> Iterator[Finding]:
    if not isinstance(database.engine, SqliteEngine):
        # The server watches over its own files; that it counts the users shows that it can read ours.
        database.read(lambda db: db.value(_LIVES))
        return
    for (said,) in database.read(lambda db: db.rows(text("PRAGMA integrity_check"))):
        if said != "ok":
            yield Finding(f"The database is damaged, restore a backup: {said}", hopeless=True)


def _references(database: Database) -> Iterator[Finding]:
    if isinstance(database.engine, SqliteEngine):
        for table, row, parent, _ in database.read(lambda db: db.rows(text("PRAGMA foreign_key_check"))):
            yield Finding(f"Row {row} of {table} points to a row of {parent} that is gone")


def _rows(database: Database, db: Connection) -> Iterator[Finding]:
    yield from _secret_fits(db)
    if count_administrators(db) == 0:
        yield Finding("Nobody is an active administrator: run `ingot user admin NAME`")
    for user in db.all(User, _WITHOUT_NAMESPACE):
        mend = partial(database.write, partial(_give_namespace, user=user))
        yield Finding(f"{user.username} has no namespace", mend)
    for user in db.all(User, _WITHOUT_TOKEN):
        mend = partial(database.write, partial(_give_token, user_id=user.id))
        yield Finding(f"{user.username} has no private token", mend)
    for _, path in db.rows(_WITHOUT_USER):
        yield Finding(f"The namespace {path} belongs to nobody")
    for user_id, username in db.rows(_DANGLING):
        mend = partial(database.write, partial(_forget_avatar, user_id=user_id))
        yield Finding(f"The picture of {username} is gone", mend)
    for (avatar_id,) in db.rows(_orphaned_avatars()):
        yield Finding(
            f"Picture {avatar_id} is nobody's", partial(database.write, partial(drop_avatar, avatar_id=avatar_id))
        )
    for job in db.all(Job, _GAVE_UP):
        said = f"Job {job.id} ({job.kind}) gave up after {job.attempts} tries: {job.last_error or 'its worker died'}"
        yield Finding(said, partial(database.write, partial(retry_job, job_id=job.id)))


def _secret_fits(db: Connection) -> Iterator[Finding]:
    from cryptography.exceptions import InvalidTag

    holder = db.value(_WITH_TOKEN)
    if holder is None:
        return
    try:
        private_token_of(db, holder)
    except InvalidTag:
        yield Finding("The instance's secret is not the one that this database was filled with: bring it back")


def _orphaned_avatars() -> Any:
    """Pictures that no row of any table holds, whichever tables have pictures."""
    holders = [
        column
        for table in metadata.sorted_tables
        for column in table.columns
        if any(key.target_fullname == "avatars.id" for key in column.foreign_keys)
    ]
    return select(avatars.c.id).where(and_(*(~exists().where(column == avatars.c.id) for column in holders)))


def _give_namespace(db: Connection, user: User) -> None:
    """Do what a new user's namespace is made by; where the path is taken, a person has to decide."""
    db.lock(NAMESPACES)
    give_namespace(db, UserCreated(user_id=user.id, username=user.username, name=user.name))


def _give_token(db: Connection, user_id: int) -> None:
    reset_private_token(db, user_id)


def _forget_avatar(db: Connection, user_id: int) -> None:
    db.update(users, user_id, avatar_id=None, avatar_file=None)
