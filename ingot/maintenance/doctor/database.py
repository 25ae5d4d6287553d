"""Checks of the database: schema revision, integrity, and consistency of rows."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from sqlalchemy import and_, exists, func, or_, select, text

from ingot.accounts.appearance.records import stored_appearance
from ingot.accounts.avatars.service import delete_avatar
from ingot.accounts.avatars.tables import avatars
from ingot.accounts.tokens.queries import private_token_or_none
from ingot.accounts.tokens.service import reset_private_token
from ingot.accounts.tokens.tables import access_tokens
from ingot.accounts.users.events import UserCreated
from ingot.accounts.users.queries import count_administrators
from ingot.accounts.users.tables import User, users
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.engines import SqliteEngine
from ingot.core.db.schema import all_tables
from ingot.core.errors import Unavailable
from ingot.core.jobs.admin import retry_job
from ingot.core.jobs.tables import Job, jobs
from ingot.core.migrations.run import newest_revision
from ingot.core.names import NAMESPACES
from ingot.maintenance.doctor.findings import DoctorFinding
from ingot.projects.namespaces.subscribers import create_user_namespace
from ingot.projects.namespaces.tables import namespaces

_WITHOUT_NAMESPACE = select(users).where(~exists().where(namespaces.c.owner_id == users.c.id)).order_by(users.c.id)
_PRIVATE_TOKEN = exists().where(access_tokens.c.user_id == users.c.id, access_tokens.c.kind == "private")
_WITHOUT_TOKEN = select(users).where(~_PRIVATE_TOKEN, ~users.c.bot).order_by(users.c.id)
_WITH_TOKEN = select(users.c.id).where(_PRIVATE_TOKEN).order_by(users.c.id).limit(1)
_WITHOUT_USER = select(namespaces.c.id, namespaces.c.full_path).where(
    namespaces.c.kind == "user",
    or_(namespaces.c.owner_id.is_(None), ~exists().where(users.c.id == namespaces.c.owner_id)),
)
_DANGLING = select(users.c.id, users.c.username).where(
    users.c.avatar_id.is_not(None), ~exists().where(avatars.c.id == users.c.avatar_id)
)
_DEAD_JOBS = select(jobs).where(jobs.c.state == "dead").order_by(jobs.c.id)
_REVISION = text("SELECT version_num FROM alembic_version")
_COUNT_USERS = select(func.count()).select_from(users)


def check_database(database: Database) -> Iterator[DoctorFinding]:
    """Check the connection and the schema; if they are usable, check the rows."""
    try:
        revision = _check_revision(database)
        if revision != newest_revision():
            yield DoctorFinding(
                f"The database is at revision {revision or 'none'}, this version of Ingot needs {newest_revision()}: "
                "run `ingot migrate`, or use the matching version",
                blocks_other_checks=True,
            )
            return
        yield from _check_integrity(database)
        yield from database.read(lambda db: list(_check_rows(database, db)))
        # Last, because the repairs so far may have fixed the cause.
        yield from _check_references(database)
    except Unavailable as error:
        yield DoctorFinding(f"The database cannot be used: {error.__cause__ or error}", blocks_other_checks=True)
    except database.engine.errors as error:
        yield DoctorFinding(f"The database is damaged: {error}", blocks_other_checks=True)


def _check_revision(database: Database) -> str | None:
    try:
        revision: str | None = database.read(lambda db: db.value(_REVISION))
    except database.engine.errors as error:
        if "alembic_version" in str(error):  # The database was never migrated.
            return None
        raise
    return revision


def _check_integrity(database: Database) -> Iterator[DoctorFinding]:
    if not isinstance(database.engine, SqliteEngine):
        # PostgreSQL checks its own files; counting the users verifies that the tables can be read.
        database.read(lambda db: db.value(_COUNT_USERS))
        return
    for (result,) in database.read(lambda db: db.rows(text("PRAGMA integrity_check"))):
        if result != "ok":
            yield DoctorFinding(f"The database is damaged, restore a backup: {result}", blocks_other_checks=True)


def _check_references(database: Database) -> Iterator[DoctorFinding]:
    if isinstance(database.engine, SqliteEngine):
        for table, row, parent, _ in database.read(lambda db: db.rows(text("PRAGMA foreign_key_check"))):
            yield DoctorFinding(f"Row {row} of {table} references a missing row of {parent}")


def _check_rows(database: Database, db: Connection) -> Iterator[DoctorFinding]:
    yield from _check_secret(db)
    if count_administrators(db) == 0:
        yield DoctorFinding("There is no active administrator: run `ingot user admin NAME`")
    for user in db.all(User, _WITHOUT_NAMESPACE):
        repair = partial(database.write, partial(_add_namespace, user=user))
        yield DoctorFinding(f"{user.username} has no namespace", repair)
    for user in db.all(User, _WITHOUT_TOKEN):
        repair = partial(database.write, partial(_add_private_token, user_id=user.id))
        yield DoctorFinding(f"{user.username} has no private token", repair)
    for _, path in db.rows(_WITHOUT_USER):
        yield DoctorFinding(f"The namespace {path} has no owner")
    for user_id, username in db.rows(_DANGLING):
        repair = partial(database.write, partial(_clear_avatar, user_id=user_id))
        yield DoctorFinding(f"The avatar of {username} is missing", repair)
    for (avatar_id,) in db.rows(_check_orphaned_avatars()):
        if avatar_id not in stored_appearance(db).image_ids:
            yield DoctorFinding(
                f"Avatar {avatar_id} is not used", partial(database.write, partial(delete_avatar, avatar_id=avatar_id))
            )
    for job in db.all(Job, _DEAD_JOBS):
        error = job.last_error or "its worker was killed"
        problem = f"Job {job.id} ({job.kind}) failed after {job.attempts} attempts: {error}"
        yield DoctorFinding(problem, partial(database.write, partial(retry_job, job_id=job.id)))


def _check_secret(db: Connection) -> Iterator[DoctorFinding]:
    from cryptography.exceptions import InvalidTag

    holder = db.value(_WITH_TOKEN)
    if holder is None:
        return
    try:
        private_token_or_none(db, holder)
    except InvalidTag:
        yield DoctorFinding("The instance secret does not match this database: restore the original one")


def _check_orphaned_avatars() -> Any:
    """Return the query of avatars that no table references."""
    holders = [
        column
        for table in all_tables()
        for column in table.columns
        if any(key.target_fullname == "avatars.id" for key in column.foreign_keys)
    ]
    return select(avatars.c.id).where(and_(*(~exists().where(column == avatars.c.id) for column in holders)))


def _add_namespace(db: Connection, user: User) -> None:
    """Create a user's missing namespace; if the path is taken, an administrator must decide."""
    db.lock(NAMESPACES)
    create_user_namespace(db, UserCreated(user_id=user.id, username=user.username, name=user.name))


def _add_private_token(db: Connection, user_id: int) -> None:
    reset_private_token(db, user_id)


def _clear_avatar(db: Connection, user_id: int) -> None:
    db.update(users, user_id, avatar_id=None, avatar_file=None)
