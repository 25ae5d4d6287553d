"""Mapping of users of a source to users of this instance, and placeholder users."""

import re
import secrets
from collections.abc import Collection, Iterable, Mapping
from functools import cache, lru_cache
from typing import NamedTuple, cast

import msgspec
from sqlalchemy import (
    Column,
    Executable,
    Table,
    UniqueConstraint,
    and_,
    bindparam,
    delete,
    exists,
    func,
    select,
    update,
)

from ingot.accounts.users.addresses import claims_to_address, unknown_address
from ingot.accounts.users.params import CreateUser
from ingot.accounts.users.queries import find_user, user_by_username_or_none
from ingot.accounts.users.service import create_user
from ingot.accounts.users.tables import users as users_table
from ingot.collaboration.emoji.events import VotesChanged
from ingot.collaboration.emoji.policy import DOWNVOTE, UPVOTE
from ingot.collaboration.emoji.tables import award_emoji
from ingot.collaboration.notes.tables import notes
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list, one_of
from ingot.core.db.schema import all_tables
from ingot.core.events.bus import emit
from ingot.core.names import NAMESPACES
from ingot.core.offload import outside_transaction
from ingot.import_export.tables import SourceUser, SourceUserStatus, source_users
from ingot.import_export.work_item_records import Transferred, UserRecord
from ingot.projects.namespaces.queries import namespace_of_user
from ingot.projects.namespaces.service import delete_namespace

_BY_KEYS = select(source_users.c.source_key, source_users.c.user_id).where(
    source_users.c.namespace_id == bindparam("namespace"),
    source_users.c.source_host == bindparam("host"),
    in_list(source_users.c.source_key, "keys"),
)
_BY_USERNAMES = (
    select(source_users.c.source_username, source_users.c.user_id, source_users.c.placeholder, users_table.c.username)
    .join(users_table, users_table.c.id == source_users.c.user_id)
    .where(
        source_users.c.namespace_id == bindparam("namespace"),
        source_users.c.source_host == bindparam("host"),
        in_list(func.lower(source_users.c.source_username), "names"),
    )
)
_PLACEHOLDERS = select(source_users).where(
    source_users.c.namespace_id == bindparam("namespace"),
    source_users.c.source_host == bindparam("host"),
    source_users.c.placeholder,
)
_OF_PLACEHOLDER = select(source_users).where(source_users.c.user_id == bindparam("user"), source_users.c.placeholder)
_other_awards = award_emoji.alias("other")
_DOUBLE_VOTES = (
    select(award_emoji.c.subject_kind, award_emoji.c.subject_id, award_emoji.c.name)
    .join(
        _other_awards,
        and_(*(_other_awards.c[name] == award_emoji.c[name] for name in ("subject_kind", "subject_id", "name"))),
    )
    .where(
        award_emoji.c.user_id == bindparam("old"),
        _other_awards.c.user_id == bindparam("new"),
        one_of(award_emoji.c.name, UPVOTE, DOWNVOTE),
    )
)
"""Votes that two users gave to one subject: they count once when the users become one."""
_FOREIGN_TO_USERNAMES = re.compile(r"[^a-z0-9_.-]+")
_MAX_NAME_LENGTH = 255
_MAX_USERNAME_LENGTH = 64
# Rows of the placeholder's own account, which end with it.
_ACCOUNT_TABLES = frozenset({"access_tokens", "namespaces", "source_users"})


class Importer(NamedTuple):
    """User who imports: an administrator may attribute content to any user, others only to themselves."""

    user_id: int
    admin: bool


class _Mapped(NamedTuple):
    user_id: int | None
    # The user who must confirm the mapping first.
    proposed_id: int | None = None


class UserMapping:
    """Mapping of the users of one source in the projects below one root namespace.

    ``chosen`` is the table of the importing user: usernames of this instance by usernames, keys or e-mail addresses of
    the source.
    """

    def __init__(self, host: str, namespace_id: int, importer: Importer, chosen: Mapping[str, str]) -> None:
        self._host = host
        self._namespace_id = namespace_id
        self._importer = importer
        self.importer_id = importer.user_id
        self._chosen = {name.casefold(): username for name, username in chosen.items()}

    def apply_chosen(self, db: Connection) -> None:
        """Assign placeholders of earlier imports that the table now names, or propose them to their users."""
        db.lock(NAMESPACES)
        placeholders = db.all(SourceUser, _PLACEHOLDERS, namespace=self._namespace_id, host=self._host)
        for known in placeholders:
            record = UserRecord(
                key=known.source_key,
                username=known.source_username,
                name=known.source_name,
                email=known.source_email,
            )
            mapped = self._chosen_user(db, record)
            if mapped is not None and mapped.user_id is not None:
                assign(db, known.user_id, mapped.user_id)
            elif mapped is not None and mapped.proposed_id != known.reassign_to_user_id:
                columns = {"status": "awaiting_approval", "reassign_to_user_id": mapped.proposed_id}
                db.update(source_users, known.id, **columns, reassigned_by_user_id=self.importer_id, updated_at=db.now)

    @property
    def has_chosen(self) -> bool:
        """Whether the importing user has given a table."""
        return bool(self._chosen)

    def has_unknown(self, db: Connection, users: Collection[UserRecord]) -> bool:
        """Return whether ``resolve`` would have to add some of the users."""
        keys = {user.key for user in users}
        return len(db.rows(_BY_KEYS, namespace=self._namespace_id, host=self._host, keys=list(keys))) < len(keys)

    def resolve(self, db: Connection, users: Collection[UserRecord]) -> dict[str, int]:
        """Return the local user of each source user by its key; unknown ones become placeholder users."""
        by_key = {user.key: user for user in users}
        known = dict(db.rows(_BY_KEYS, namespace=self._namespace_id, host=self._host, keys=list(by_key)))
        new = [user for key, user in by_key.items() if key not in known]
        if new:
            db.lock(NAMESPACES)
            # Another import may have added them before this one held the lock.
            known |= dict(db.rows(_BY_KEYS, namespace=self._namespace_id, host=self._host, keys=list(by_key)))
        return known | {user.key: self._add(db, user) for user in new if user.key not in known}

    def by_username(self, db: Connection, usernames: Collection[str]) -> dict[str, tuple[int, str | None]]:
        """Return the local user, and its name unless it is a placeholder, of each known username in lower case."""
        names = [username.lower() for username in usernames]
        rows = db.rows(_BY_USERNAMES, namespace=self._namespace_id, host=self._host, names=names)
        return {name.lower(): (user_id, None if placeholder else local) for name, user_id, placeholder, local in rows}

    def _add(self, db: Connection, user: UserRecord) -> int:
        mapped = self._mapped(db, user)
        user_id = mapped.user_id or create_placeholder(db, user)
        status: SourceUserStatus = "pending_reassignment"
        if mapped.user_id:
            status = "completed"
        elif mapped.proposed_id:
            status = "awaiting_approval"
        db.insert(
            source_users,
            namespace_id=self._namespace_id,
            source_host=self._host,
            source_key=user.key,
            source_username=user.username,
            source_name=user.name,
            source_email=user.email.lower() if user.email else None,
            user_id=user_id,
            placeholder=mapped.user_id is None,
            status=status,
            reassign_to_user_id=mapped.user_id or mapped.proposed_id,
            reassigned_by_user_id=self._importer.user_id if mapped.user_id or mapped.proposed_id else None,
            created_at=db.now,
            updated_at=db.now,
        )
        return user_id

    def _chosen_user(self, db: Connection, user: UserRecord) -> _Mapped | None:
        for name in filter(None, (user.username, user.key, user.email)):
            username = self._chosen.get(name.casefold())
            found = user_by_username_or_none(db, username) if username else None
            if found is not None and not found.placeholder:
                permitted = self._importer.admin or found.id == self._importer.user_id
                return _Mapped(found.id) if permitted else _Mapped(None, found.id)
        return None

    def _mapped(self, db: Connection, user: UserRecord) -> _Mapped:
        chosen = self._chosen_user(db, user)
        if chosen is not None:
            return chosen
        for claim in claims_to_address(db, user.email.lower()) if user.email else ():
            permitted = self._importer.admin or claim.user_id == self._importer.user_id
            if claim.in_use and permitted and not find_user(db, claim.user_id).placeholder:
                return _Mapped(claim.user_id)
        return _Mapped(None)


def create_placeholder(db: Connection, user: UserRecord) -> int:
    """Create the placeholder of a source user, who cannot sign in; return its id."""
    stem = _FOREIGN_TO_USERNAMES.sub("_", user.username.casefold()).strip(".-_")[:_MAX_USERNAME_LENGTH] or "user"
    placeholder = create_user(
        db,
        CreateUser(
            email=unknown_address(),
            username=f"{stem}_placeholder_{secrets.token_hex(4)}",
            name=_plain_name(user),
            force_random_password=True,
            skip_confirmation=True,
            external=True,
        ),
        None,
        placeholder=True,
    )
    return placeholder.id


def _plain_name(user: UserRecord) -> str:
    printable = "".join(character for character in user.name if character.isprintable()).strip()
    return (printable or user.username)[:_MAX_NAME_LENGTH] or "Unknown user"


def referenced_users(records: Iterable[Transferred]) -> dict[str, UserRecord]:
    """Return all users that occur in records, by their keys."""
    found: dict[str, UserRecord] = {}
    for record in records:
        _collect(record, found)
    return found


def _collect(value: object, found: dict[str, UserRecord]) -> None:
    if isinstance(value, UserRecord):
        found[value.key] = value
    elif isinstance(value, Transferred):
        for name in _nested_fields(type(value)):
            _collect(getattr(value, name), found)
    elif isinstance(value, list):
        for item in value:
            _collect(item, found)


@lru_cache(1024)
def _nested_fields(record: type[Transferred]) -> tuple[str, ...]:
    """Return the fields of a record that can hold records, so that texts are not searched."""
    plain = (msgspec.inspect.StrType, msgspec.inspect.IntType, msgspec.inspect.BoolType, msgspec.inspect.DictType)
    described = cast("msgspec.inspect.StructType", msgspec.inspect.type_info(record))
    return tuple(field.name for field in described.fields if not isinstance(field.type, plain))


def assign(db: Connection, placeholder_id: int, user_id: int) -> None:
    """Move everything of a placeholder to a user, and delete the placeholder.

    Later runs of the imports attribute the content of the source user to this user.
    """
    db.lock(NAMESPACES)
    for kind, subject_id, name in db.rows(_DOUBLE_VOTES, old=placeholder_id, new=user_id):
        emit(db, VotesChanged(kind, subject_id, upvotes=-(name == UPVOTE), downvotes=-(name == DOWNVOTE)))
    for column in _references_to_users():
        for statement in _reassignments(column):
            db.run(statement, old=placeholder_id, new=user_id)
    for source_user in db.all(SourceUser, _OF_PLACEHOLDER, user=placeholder_id):
        values = {"user_id": user_id, "placeholder": False, "status": "completed", "updated_at": db.now}
        db.update(source_users, source_user.id, reassign_to_user_id=user_id, **values)
    delete_namespace(db, namespace_of_user(db, placeholder_id))
    db.delete(users_table, placeholder_id)


@cache
def _references_to_users() -> tuple[Column[int], ...]:
    return tuple(
        column
        for table in outside_transaction(all_tables, all_tables)  # The first call imports modules.
        if table.name not in _ACCOUNT_TABLES
        for column in table.columns
        if column is notes.c.resolved_by_id or any(key.target_fullname == "users.id" for key in column.foreign_keys)
    )


@lru_cache(1024)
def _reassignments(column: Column[int]) -> tuple[Executable, ...]:
    """Return the statements that replace a user; rows that the other user has already are deleted first."""
    mine = column.table
    other = mine.alias("other")
    duplicates = [
        delete(mine).where(
            column == bindparam("old"),
            exists().where(
                other.c[column.name] == bindparam("new"),
                *(other.c[name] == mine.c[name] for name in names if name != column.name),
            ),
        )
        for names in _unique_columns(mine)
        if column.name in names
    ]
    return (*duplicates, update(mine).where(column == bindparam("old")).values({column: bindparam("new")}))


def _unique_columns(table: Table) -> list[tuple[str, ...]]:
    constraints = [unique.columns for unique in table.constraints if isinstance(unique, UniqueConstraint)]
    indexes = [index.columns for index in table.indexes if index.unique]
    return [tuple(column.name for column in columns) for columns in (*constraints, *indexes)]


def importer_of(actor: Actor) -> Importer:
    """Return the caller as the importing user."""
    return Importer(actor.user_id, actor.admin)
