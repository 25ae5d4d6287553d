"""Storage of labels and their priorities, and lookup of labels by title."""

from collections.abc import Iterable, Sequence

from ingot.collaboration.labels.colors import parse_color
from ingot.collaboration.labels.queries import usable_labels
from ingot.collaboration.labels.service import DEFAULT_COLOR, MAX_DESCRIPTION_LENGTH, MAX_TITLE_LENGTH
from ingot.collaboration.labels.tables import label_priorities, labels
from ingot.import_export.records import LabelRecord
from ingot.import_export.target.context import Change, StoreContext, StoredIds
from ingot.import_export.target.rows import (
    Relation,
    bounded,
    insert_rows,
    replace_rows,
    rows_by_ids,
    update_rows,
)
from ingot.import_export.target.text import clean, limited

_PRIORITIES = Relation(label_priorities, "label_id", ("project_id", "label_id", "priority"))


def label_title(title: str) -> str:
    """Return the title of a label as it is stored: labels are separated by commas in requests."""
    return limited(title.replace(",", ";"), MAX_TITLE_LENGTH)


def label_columns(record: LabelRecord) -> dict[str, object]:
    """Return the columns of a label that its record sets."""
    title = label_title(record.title)
    return {
        "title": title,
        "title_key": title.casefold(),
        "color": parse_color(record.color) or DEFAULT_COLOR,
        "description": clean(record.description or "")[:MAX_DESCRIPTION_LENGTH] or None,
    }


def store_labels(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store labels; one with the title of a label of an ancestor group stands for that label."""
    db, project = context.db, context.project
    usable = usable_labels(db, project, [label_title(change.record.title) for change in changes])
    linked = rows_by_ids(db, labels, {change.local_id for change in changes if change.local_id}, "project_id", "title")
    ids: dict[str, int | None] = {}
    inserted: dict[str, dict[str, object]] = {}
    by_title: dict[str, list[str]] = {}
    updated: dict[int, dict[str, object]] = {}
    for change in changes:
        columns = label_columns(change.record)
        title = str(columns["title"])
        if not title:
            context.problem(f"The label {change.key} has no title and was omitted.")
            ids[change.key] = None
            continue
        same = usable.get(title)
        owner, old_title = linked.get(change.local_id or 0, (None, None))
        if owner == project.id and same is not None and same.id != change.local_id:
            context.problem(f"The label {old_title} was not renamed to {title}, because that label exists.")
            columns |= {"title": old_title, "title_key": str(old_title).casefold()}
            same = None
        row_id = change.local_id if owner == project.id else same.id if same else None
        ids[change.key] = row_id
        if row_id is None:
            inserted.setdefault(title, {"project_id": project.id, "group_id": None, **columns})
            by_title.setdefault(title, []).append(change.key)
        elif owner == project.id or (same is not None and same.project_id == project.id):
            updated[row_id] = {**columns, "updated_at": db.now}
    times = {"created_at": db.now, "updated_at": db.now}
    new_ids = insert_rows(db, labels, [{**row, **times} for row in inserted.values()])
    for title, label_id in zip(inserted, new_ids, strict=True):
        ids |= dict.fromkeys(by_title[title], label_id)
    update_rows(db, labels, updated.items())
    _store_priorities(context, changes, ids, set(new_ids))
    return ids


def _store_priorities(context: StoreContext, changes: Sequence[Change], ids: StoredIds, new: set[int]) -> None:
    rows = [
        {"project_id": context.project.id, "label_id": ids[change.key], "priority": bounded(change.record.priority)}
        for change in changes
        if change.record.priority is not None and ids[change.key] is not None
    ]
    # A label of a group has priorities in other projects too, so priorities are only replaced for the project's own.
    own = rows_by_ids(context.db, labels, {row_id for row_id in ids.values() if row_id} - new, "project_id")
    existing = [label_id for label_id, (project_id,) in own.items() if project_id == context.project.id]
    replace_rows(context.db, _PRIORITIES, existing, rows)


def ensure_labels(context: StoreContext, titles: Iterable[str]) -> dict[str, int]:
    """Return the ids of labels by the titles of the source; missing ones are created."""
    stored = {title: label_title(title) for title in titles}
    wanted = [title for title in dict.fromkeys(stored.values()) if title]
    usable = {label.title: label.id for label in usable_labels(context.db, context.project, wanted).values()}
    missing = [title for title in wanted if title not in usable]
    now = context.db.now
    rows = [
        {
            "project_id": context.project.id,
            "group_id": None,
            "title": title,
            "title_key": title.casefold(),
            "color": DEFAULT_COLOR,
            "description": None,
            "created_at": now,
            "updated_at": now,
        }
        for title in missing
    ]
    usable |= dict(zip(missing, insert_rows(context.db, labels, rows), strict=True))
    return {title: usable[label] for title, label in stored.items() if label}
