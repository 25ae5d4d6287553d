"""Storage of releases with their links, files and milestones."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ingot.collaboration.milestones.tables import milestones
from ingot.collaboration.releases.params import CreateLink
from ingot.collaboration.releases.service import MAX_LINKS, link_columns
from ingot.collaboration.releases.tables import release_links, release_milestones
from ingot.core.errors import Invalid
from ingot.git.core.names import MAX_BYTES
from ingot.import_export.records import ReleaseLinkRecord, ReleaseRecord
from ingot.import_export.target.context import Change, StoreContext, StoredIds
from ingot.import_export.target.milestones import milestone_ids
from ingot.import_export.target.rows import (
    Relation,
    insert_rows,
    moment,
    replace_rows,
    rows_by_values,
    update_rows,
)
from ingot.import_export.target.text import limited
from ingot.repositories.tags.tables import releases

MAX_FILE_BYTES = 2**31
"""Limit of the size of a file of a release."""
_MAX_NAME = 255
_LINK_KEY = ("release_id", "name", "url", "filepath", "link_type")
_LINKS = Relation(release_links, "release_id", _LINK_KEY)
_MILESTONES = Relation(release_milestones, "release_id", ("release_id", "milestone_id"))


class ReleaseFile(NamedTuple):
    """File of a release: its address at the source and its name."""

    link: str
    name: str


def release_files(record: ReleaseRecord) -> list[ReleaseFile]:
    """Return the files of a release that are copied."""
    return [ReleaseFile(link.file, link.name) for link in record.links[:MAX_LINKS] if link.file]


def store_releases(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store releases; a release of the same tag is replaced."""
    db, project_id = context.db, context.project.id
    valid = [change for change in changes if change.key.strip() and len(change.key.encode()) <= MAX_BYTES]
    for change in changes:
        if change not in valid:
            context.problem(f"The release {change.key[:80]!r} has an invalid tag name and was omitted.")
    rows = rows_by_values(db, releases, ("project_id", project_id), "tag", [change.key for change in valid], "id")
    stored = {tag: row_id for tag, (row_id,) in rows.items()}
    columns = {change.key: _columns(context, change.record) for change in valid}
    update_rows(db, releases, [(row_id, columns[tag]) for tag, row_id in stored.items()])
    new = [change.key for change in valid if change.key not in stored]
    inserted = [{"project_id": project_id, "tag": tag, **columns[tag]} for tag in new]
    ids = stored | dict(zip(new, insert_rows(db, releases, inserted), strict=True))
    links = [row for change in valid for row in _link_rows(context, ids[change.key], change.record)]
    replace_rows(db, _LINKS, list(stored.values()), links)
    _store_milestones(context, valid, ids, list(stored.values()))
    return {change.key: ids.get(change.key) for change in changes}


def _columns(context: StoreContext, record: ReleaseRecord) -> dict[str, Any]:
    released_at = moment(record.released_at or record.created_at, context.db.now)
    return {
        "author_id": context.user_or_none(record.author),
        "name": limited(record.name or "", _MAX_NAME) or None,
        "description": context.rewrite(record.description).text or None,
        "created_at": moment(record.created_at, released_at),
        "released_at": released_at,
    }


def _link_rows(context: StoreContext, release_id: int, record: ReleaseRecord) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    taken: set[tuple[str, str]] = set()
    for link in record.links[:MAX_LINKS]:
        try:
            (row,) = link_columns([_link(context, link)])
        except Invalid as error:
            context.problem(f"The link {link.name!r} of the release {record.tag} was omitted: {error}.")
            continue
        unique = {(name, row[name]) for name in ("name", "url", "filepath") if row[name] is not None}
        if unique & taken:
            context.problem(f"The link {link.name!r} of the release {record.tag} was omitted: it occurs twice.")
            continue
        taken |= unique
        rows.append(row)
    fixed = {"release_id": release_id, "created_at": moment(record.created_at, context.db.now)}
    return [{**fixed, **row} for row in rows]


def _link(context: StoreContext, link: ReleaseLinkRecord) -> CreateLink:
    path = context.uploads.get(link.file) if link.file else None
    kind: Any = link.link_type if link.link_type in ("other", "runbook", "image", "package") else "other"
    url = f"{context.base_url}/{context.project.full_path}{path}" if path else link.url
    return CreateLink(name=limited(link.name, _MAX_NAME), url=url, link_type=kind, filepath=link.filepath)


def _store_milestones(
    context: StoreContext, changes: Sequence[Change], ids: dict[str, int], existing: Sequence[int]
) -> None:
    """Store the milestones of releases, which records name by key or title; only those of the project itself."""
    names = {name for change in changes for name in change.record.milestones}
    owner = ("project_id", context.project.id)
    by_title = rows_by_values(context.db, milestones, owner, "title", names, "id")
    by_key = milestone_ids(context, names)
    own = {row_id for (row_id,) in by_title.values()}
    own |= set(rows_by_values(context.db, milestones, owner, "id", set(by_key.values()), "iid"))
    rows = []
    for change in changes:
        for name in change.record.milestones:
            milestone_id = by_key.get(name) or by_title.get(name, (None,))[0]
            if milestone_id in own:
                rows.append({"release_id": ids[change.key], "milestone_id": milestone_id})
            else:
                context.problem(f"The milestone {name!r} of the release {change.key} is not one of the project.")
    replace_rows(context.db, _MILESTONES, existing, rows)
