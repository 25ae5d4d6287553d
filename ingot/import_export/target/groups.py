"""Target of the records of groups."""

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from sqlalchemy import Table

from ingot.accounts.avatars.service import replace_avatar
from ingot.accounts.instance.settings import current_settings
from ingot.collaboration.boards.service import DEFAULT_NAME, MAX_NAME_LENGTH
from ingot.collaboration.boards.tables import boards
from ingot.collaboration.iids.service import next_iid, raise_last_iid
from ingot.collaboration.labels.tables import labels
from ingot.collaboration.milestones.tables import milestones
from ingot.core.access.actor import Actor
from ingot.core.api.params import Upload
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid
from ingot.import_export.links import fingerprint, linked, store_links
from ingot.import_export.records import GROUP_ATTRIBUTES, GroupRecord, MilestoneRecord
from ingot.import_export.target.boards import LISTS, list_limit
from ingot.import_export.target.hooks import hook_columns, missing_secret, new_hook
from ingot.import_export.target.labels import label_columns
from ingot.import_export.target.members import write_members
from ingot.import_export.target.milestones import milestone_columns
from ingot.import_export.target.rows import (
    insert_rows,
    is_number,
    moment,
    replace_rows,
    rows_by_ids,
    rows_by_values,
    update_rows,
)
from ingot.import_export.target.text import clean, limited
from ingot.import_export.target.variables import badge_columns, write_variables
from ingot.import_export.users import UserMapping, referenced_users
from ingot.projects.badges.tables import badges
from ingot.projects.groups.params import CreateGroup, ProjectCreation
from ingot.projects.groups.queries import member_source
from ingot.projects.groups.service import VISIBILITY_ORDER, create_group
from ingot.projects.namespaces.queries import namespace_by_id, namespace_by_path
from ingot.projects.namespaces.tables import Namespace, namespaces
from ingot.projects.variables.queries import variable_owner
from ingot.webhooks.tables import hooks

_GROUPS, _PATHS, _BOARDS = "groups", "group paths", "group boards"
_CREATION_LEVELS = get_args(ProjectCreation)
_MEMBERS = "group members"


class StoredGroup(NamedTuple):
    """Group that was created or updated, and sentences for the report."""

    group_id: int
    problems: list[str]


class GroupTarget:
    """Place where a group of a source is imported with its subgroups: the group ``slug`` below ``parent``."""

    def __init__(
        self,
        import_id: int,
        actor: Actor,
        parent: Namespace | None,
        slug: str,
        users: UserMapping,
        root_id: int | None = None,
    ) -> None:
        self._import_id = import_id
        self._actor = actor
        self._parent = parent
        self._slug = slug
        self._users = users
        self._root_id = root_id
        """Group that was created for the import, if there is one already."""

    def store(self, db: Connection, record: GroupRecord, avatar: bytes | None = None) -> StoredGroup:
        """Store a group, whose parent was stored before, in a transaction that holds the lock of namespaces."""
        digest = fingerprint(record)
        link = linked(db, self._import_id, _GROUPS, [record.key]).get(record.key)
        existing = rows_by_ids(db, namespaces, [link.local_id], "id") if link else {}
        if link is not None and link.fingerprint == digest and existing:
            return StoredGroup(link.local_id, [])
        problems: list[str] = []
        group = namespace_by_id(db, link.local_id) if link and existing else self._find_or_create(db, record, problems)
        columns = {"description": clean(record.description or ""), **_attributes(record)}
        if any(getattr(group, name) != value for name, value in columns.items()):
            db.update(namespaces, group.id, **columns, updated_at=db.now)
        self._store_members(db, group, record, problems.append)
        _store_labels(db, group.id, record)
        _store_milestones(db, group.id, record.milestones)
        variables = {f"{each.name} {each.environment_scope}": each for each in record.variables}
        write_variables(db, variable_owner(group), variables, problems.append)
        self._store_badges(db, group.id, record, problems.append)
        self._store_hooks(db, group.id, record, problems.append)
        self._store_boards(db, group.id, record)
        if record.avatar:
            _set_avatar(db, group, avatar, problems.append)
        store_links(db, self._import_id, _GROUPS, [(record.key, group.id, digest)])
        store_links(db, self._import_id, _PATHS, [(record.full_path, group.id, "")])
        return StoredGroup(group.id, problems)

    def _find_or_create(self, db: Connection, record: GroupRecord, problems: list[str]) -> Namespace:
        """Return the group of a record; a subgroup that exists below the imported group is reused."""
        parent_path, _, path = record.full_path.rpartition("/")
        above = linked(db, self._import_id, _PATHS, [parent_path]).get(parent_path)
        parent = namespace_by_id(db, above.local_id) if above else self._parent
        slug = path if above else self._slug
        if above is None and self._root_id is not None:
            return namespace_by_id(db, self._root_id)
        if above and parent is not None:
            found = namespace_by_path(db, f"{parent.full_path}/{slug}")
            if found is not None and found.kind == "group":
                return found
        visibility = allowed_visibility(db, record.visibility, parent)
        if visibility != record.visibility:
            problems.append(f"The group {slug} is {visibility} instead of {record.visibility}.")
        chosen: Any = visibility
        try:
            return create_group(db, self._actor, CreateGroup(name=record.name, path=slug, visibility=chosen), parent)
        except Invalid as error:
            if "name" not in error.errors or "path" in error.errors:
                raise
        problems.append(f"The group {slug} has its path as its name, because {record.name!r} cannot be used.")
        return create_group(db, self._actor, CreateGroup(name=slug, path=slug, visibility=chosen), parent)

    def _store_members(
        self, db: Connection, group: Namespace, record: GroupRecord, problem: Callable[[str], None]
    ) -> None:
        if not record.members:
            return
        users = self._users.resolve(db, referenced_users(record.members).values())
        records = {f"{group.id} {member.user.key}": member for member in record.members}
        known = linked(db, self._import_id, _MEMBERS, list(records))
        ids = write_members(
            db,
            member_source(group),
            records,
            {key: users[member.user.key] for key, member in records.items()},
            {link.local_id for link in known.values()},
            self._users.importer_id,
            problem,
        )
        store_links(db, self._import_id, _MEMBERS, [(key, row_id, "") for key, row_id in ids.items() if row_id])

    def _store_badges(self, db: Connection, group_id: int, record: GroupRecord, problem: Callable[[str], None]) -> None:
        columns = {f"{group_id} {badge.key}": badge_columns(badge, problem) for badge in record.badges}
        owner = {"project_id": None, "group_id": group_id, "created_at": db.now}
        self._store_linked(db, "group badges", badges, columns, owner)

    def _store_hooks(self, db: Connection, group_id: int, record: GroupRecord, problem: Callable[[str], None]) -> None:
        columns = {f"{group_id} {hook.key}": hook_columns(db, hook, problem) for hook in record.hooks}
        for hook in record.hooks:
            if row := columns[f"{group_id} {hook.key}"]:
                row["created_at"] = moment(hook.created_at, db.now)
        for row in self._store_linked(db, "group hooks", hooks, columns, new_hook(db, "group", group_id)):
            problem(missing_secret(row["url"]))

    def _store_boards(self, db: Connection, group_id: int, record: GroupRecord) -> None:
        columns: dict[str, dict[str, Any] | None] = {
            f"{group_id} {board.key}": {
                "name": limited(board.name, MAX_NAME_LENGTH) or DEFAULT_NAME,
                "hide_backlog_list": board.hide_backlog_list,
                "hide_closed_list": board.hide_closed_list,
                "updated_at": db.now,
            }
            for board in record.boards
        }
        owner = {"project_id": None, "group_id": group_id, "created_at": db.now}
        self._store_linked(db, _BOARDS, boards, columns, owner)
        ids = linked(db, self._import_id, _BOARDS, list(columns))
        titles = {each.label for board in record.boards for each in board.lists}
        known = rows_by_values(db, labels, ("group_id", group_id), "title", titles, "id")
        lists = [
            {
                "board_id": ids[f"{group_id} {board.key}"].local_id,
                "label_id": known[each.label][0],
                "position": each.position,
                "max_issue_count": list_limit(each),
                "created_at": db.now,
            }
            for board in record.boards
            for each in board.lists
            if each.label in known
        ]
        replace_rows(db, LISTS, [link.local_id for link in ids.values()], lists)

    def _store_linked(
        self,
        db: Connection,
        kind: str,
        table: Table,
        columns: Mapping[str, dict[str, Any] | None],
        fixed: dict[str, Any],
    ) -> Sequence[dict[str, Any]]:
        """Insert or update rows that have no key of their own here; return the new ones."""
        given = {key: row for key, row in columns.items() if row is not None}
        links = linked(db, self._import_id, kind, list(given))
        known = rows_by_ids(db, table, {link.local_id for link in links.values()}, "id")
        ids = {key: link.local_id for key, link in links.items() if link.local_id in known}
        update_rows(db, table, [(row_id, _without_creation(given[key])) for key, row_id in ids.items()])
        new = {key: {**fixed, **row} for key, row in given.items() if key not in ids}
        ids |= dict(zip(new, insert_rows(db, table, list(new.values())), strict=True))
        store_links(db, self._import_id, kind, [(key, row_id, "") for key, row_id in ids.items()])
        return list(new.values())


def allowed_visibility(db: Connection, visibility: str, parent: Namespace | None) -> str:
    """Return the visibility of the source, lowered to that of the parent, and private if it is restricted."""
    chosen = visibility if visibility in VISIBILITY_ORDER else "private"
    if parent is not None:
        chosen = min(chosen, parent.visibility, key=VISIBILITY_ORDER.__getitem__)
    return "private" if chosen in current_settings(db).restricted_visibility_levels else chosen


def _attributes(record: GroupRecord) -> dict[str, object]:
    """Return the attributes that are valid here, as columns."""
    columns: dict[str, object] = {}
    for name in GROUP_ATTRIBUTES:
        value = record.attributes.get(name)
        if isinstance(value, bool) if name != "project_creation_level" else value in _CREATION_LEVELS:
            columns[name] = value
    return columns


def _set_avatar(db: Connection, group: Namespace, avatar: bytes | None, problem: Callable[[str], None]) -> None:
    if avatar is None:
        problem(f"The avatar of the group {group.full_path} is not available at the source or too large.")
        return
    try:
        replace_avatar(db, namespaces, group.id, group.avatar_id, Upload("avatar", "", io.BytesIO(avatar)))
    except Invalid as error:
        problem(f"The avatar of the group {group.full_path} was left out: {error}.")


def _without_creation(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in columns.items() if name != "created_at"}


def _store_labels(db: Connection, group_id: int, record: GroupRecord) -> None:
    rows = {str(row["title"]): row for row in map(label_columns, record.labels) if row["title"]}
    stored = rows_by_values(db, labels, ("group_id", group_id), "title", list(rows), "id")
    update_rows(db, labels, [(row_id, {**rows[title], "updated_at": db.now}) for title, (row_id,) in stored.items()])
    fixed = {"project_id": None, "group_id": group_id, "created_at": db.now, "updated_at": db.now}
    db.insert_many(labels, [{**fixed, **row} for title, row in rows.items() if title not in stored])


def _store_milestones(db: Connection, group_id: int, records: Sequence[MilestoneRecord]) -> None:
    owner = ("group_id", group_id)
    rows: dict[str, tuple[MilestoneRecord, dict[str, Any]]] = {}
    for record in records:
        columns = milestone_columns(record, clean(record.description or ""), db.now)
        rows.setdefault(columns["title"], (record, columns))
    stored = rows_by_values(db, milestones, owner, "title", list(rows), "id")
    update_rows(db, milestones, [(row_id, rows[title][1]) for title, (row_id,) in stored.items()])
    new = [rows[title] for title in rows if title not in stored]
    taken = set(rows_by_values(db, milestones, owner, "iid", [record.iid for record, _ in new], "id"))
    inserted: list[dict[str, Any]] = []
    free = [record.iid for record, _ in new if is_number(record.iid) and record.iid not in taken]
    if free:
        raise_last_iid(db, "group", group_id, "milestone", max(free))
    for record, columns in new:
        is_free = is_number(record.iid) and record.iid not in taken
        iid = record.iid if is_free else next_iid(db, "group", group_id, "milestone")
        taken.add(iid)
        fixed = {"project_id": None, "group_id": group_id, "iid": iid}
        inserted.append({**fixed, "created_at": moment(record.created_at, db.now), **columns})
    db.insert_many(milestones, inserted)
