"""Contents of a group export: the group and its subgroups, without their projects, with GitLab's names."""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain

from sqlalchemy import bindparam, select

from ingot.collaboration.boards.tables import board_lists, boards
from ingot.collaboration.labels.tables import labels
from ingot.collaboration.milestones.tables import milestones
from ingot.git.maintenance.store import RepositoryStore
from ingot.import_export.exports.archive_writer import ExportWriter
from ingot.import_export.exports.project_archive import (
    write_avatar,
    write_repository_bundle,
    write_versions,
)
from ingot.import_export.exports.project_tree import (
    HOOK_COLUMNS,
    board_list_row,
    collect_users,
    member_rows,
    user_rows,
)
from ingot.import_export.exports.rows import Row, RowReader
from ingot.import_export.exports.subject_parts import label_row, milestone_row
from ingot.import_export.exports.work_items import VISIBILITY_LEVELS
from ingot.projects.badges.tables import badges
from ingot.projects.namespaces.tables import namespace_tree, namespaces
from ingot.projects.projects.tables import group_wikis
from ingot.webhooks.tables import EVENT_FLAGS, hooks

_DESCENDANTS = (
    select(namespaces)
    .join(namespace_tree, namespace_tree.c.descendant_id == namespaces.c.id)
    .where(namespace_tree.c.ancestor_id == bindparam("root"))
    .order_by(namespaces.c.full_path)
)


def _labels(reader: RowReader, group_id: int) -> Iterator[Row]:
    for batch in reader.batches(labels, "group_id", group_id):
        yield from map(label_row, batch)


def _milestones(reader: RowReader, group_id: int) -> Iterator[Row]:
    for batch in reader.batches(milestones, "group_id", group_id):
        yield from map(milestone_row, batch)


def _badges(reader: RowReader, group_id: int) -> Iterator[Row]:
    for row in reader.all_rows(badges, "group_id", group_id):
        columns = ("id", "group_id", "name", "link_url", "image_url", "created_at")
        yield {**{name: row[name] for name in columns}, "type": "GroupBadge"}


def _boards(reader: RowReader, group_id: int) -> Iterator[Row]:
    rows = reader.all_rows(boards, "group_id", group_id)
    lists = reader.children(board_lists, "board_id", [row["id"] for row in rows])
    used = [each["label_id"] for each in chain.from_iterable(lists.values()) if each["label_id"] is not None]
    known = reader.by_ids(labels, used)
    columns = ("id", "name", "group_id", "hide_backlog_list", "hide_closed_list", "created_at", "updated_at")
    for row in rows:
        yield {
            **{name: row[name] for name in columns},
            "lists": [
                board_list_row(each, label_row(known[each["label_id"]]))
                for each in lists[row["id"]]
                if each["label_id"] is not None
            ],
        }


def _hooks(reader: RowReader, group_id: int) -> Iterator[Row]:
    for row in reader.all_rows(hooks, "group_id", group_id):
        if row["kind"] == "group":
            yield {name: row[name] for name in (*HOOK_COLUMNS, *EVENT_FLAGS)}


GROUP_RELATIONS: Mapping[str, Callable[[RowReader, int], Iterator[Row]]] = {
    "labels": _labels,
    "milestones": _milestones,
    "badges": _badges,
    "boards": _boards,
    "members": lambda reader, group_id: member_rows(reader, "group", group_id),
    "hooks": _hooks,
}
"""Functions that yield the rows of each relation; webhooks are not part of GitLab's format."""


class GroupArchive:
    """Writer of the parts of one group's export."""

    def __init__(self, reader: RowReader, store: RepositoryStore, group_id: int, *, with_emails: bool = False) -> None:
        self._reader = reader
        self._store = store
        self._group_id = group_id
        self._with_emails = with_emails
        self._users: set[int] = set()

    def write(self, archive: ExportWriter, description: str | None = None) -> int:
        """Write the whole archive; return the number of rows in its tree. ``description`` replaces the group's own."""
        write_versions(archive)
        groups = self._reader.rows(namespaces, _DESCENDANTS, root=self._group_id)
        archive.add_text("tree/groups/_all.ndjson", "".join(f"{group['id']}\n" for group in groups))
        count = 0
        for group in groups:
            row = self._group_row(group)
            if description is not None and group["id"] == self._group_id:
                row["description"] = description
            archive.add_rows(f"tree/groups/{group['id']}.json", [row])
            for name in GROUP_RELATIONS:
                count += archive.add_rows(f"tree/groups/{group['id']}/{name}.ndjson", self._rows(name, group["id"]))
            write_avatar(archive, self._reader, group, f"tree/groups/{group['id']}/avatar")
            for wiki in self._reader.all_rows(group_wikis, "group_id", group["id"]):
                name = f"repositories/{group['id']}.wiki.bundle"
                write_repository_bundle(archive, self._store, name, wiki["repository_key"])
        archive.add_rows("tree/groups/user_contributions.ndjson", self.contributors())
        return count

    def attributes(self) -> Row:
        """Return the attributes of the group."""
        return self._group_row(self._reader.by_ids(namespaces, [self._group_id])[self._group_id])

    def relation(self, name: str) -> Iterator[Row]:
        """Yield the rows of a relation of the group itself."""
        return self._rows(name, self._group_id)

    def contributors(self) -> Iterator[Row]:
        """Yield the users that the relations so far refer to."""
        return user_rows(self._reader, self._users, with_emails=self._with_emails)

    def _rows(self, name: str, group_id: int) -> Iterator[Row]:
        for row in GROUP_RELATIONS[name](self._reader, group_id):
            collect_users(row, self._users)
            yield row

    def _group_row(self, group: Row) -> Row:
        columns = ("id", "name", "path", "description", "lfs_enabled", "request_access_enabled")
        return {
            **{name: group[name] for name in columns},
            "parent_id": None if group["id"] == self._group_id else group["parent_id"],
            "share_with_group_lock": group["share_with_group_lock"],
            "visibility_level": VISIBILITY_LEVELS[group["visibility"]],
            "avatar_file": group["avatar_file"],
            "project_creation_level": group["project_creation_level"],
        }
