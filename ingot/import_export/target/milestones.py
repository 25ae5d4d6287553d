"""Storage of milestones."""

from collections.abc import Iterable, Sequence
from typing import Any

from ingot.collaboration.milestones.queries import USABLE_MILESTONES
from ingot.collaboration.milestones.service import MAX_DESCRIPTION_LENGTH, MAX_TITLE_LENGTH
from ingot.collaboration.milestones.tables import Milestone, milestones
from ingot.core.db.expressions import in_list
from ingot.core.db.times import Timestamp
from ingot.import_export.records import MilestoneRecord
from ingot.import_export.target.context import Change, StoreContext, StoredIds
from ingot.import_export.target.iids import IidSequence, assign_iids
from ingot.import_export.target.rows import day_or_none, insert_rows, moment, rows_by_ids, update_rows
from ingot.import_export.target.text import limited

# A milestone of the project comes last, and so replaces one of a group.
_BY_TITLES = USABLE_MILESTONES.where(in_list(milestones.c.title, "titles")).order_by(milestones.c.group_id.is_(None))


def milestone_columns(record: MilestoneRecord, description: str, now: Timestamp) -> dict[str, Any]:
    """Return the columns of a milestone that its record sets."""
    title = limited(record.title, MAX_TITLE_LENGTH) or f"Milestone {record.iid}"
    start, due = day_or_none(record.start_date), day_or_none(record.due_date)
    created_at = moment(record.created_at, now)
    return {
        "title": title,
        "title_key": title.casefold(),
        "description": description[:MAX_DESCRIPTION_LENGTH] or None,
        "description_key": description[:MAX_DESCRIPTION_LENGTH].casefold(),
        "state": "closed" if record.state == "closed" else "active",
        "start_date": start if not due or not start or start <= due else None,
        "due_date": due,
        "updated_at": moment(record.updated_at, created_at),
    }


def store_milestones(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store milestones; one with the title of a milestone that the project can use already stands for it."""
    db, project = context.db, context.project
    columns = {
        change.key: milestone_columns(change.record, context.rewrite(change.record.description).text, db.now)
        for change in changes
    }
    titles = list({row["title"] for row in columns.values()})
    owner = {"project": project.id, "namespace": project.namespace_id}
    usable = {each.title: each for each in db.all(Milestone, _BY_TITLES, titles=titles, **owner)}
    linked = rows_by_ids(
        db, milestones, {change.local_id for change in changes if change.local_id}, "project_id", "title"
    )
    ids: dict[str, int | None] = {}
    updated: dict[int, dict[str, Any]] = {}
    new: dict[str, Change] = {}
    for change in changes:
        row = columns[change.key]
        same = usable.get(row["title"])
        owner_id, old_title = linked.get(change.local_id or 0, (None, None))
        if owner_id == project.id:
            if same is not None and same.id != change.local_id:
                context.problem(f"The milestone {old_title} was not renamed, because {row['title']} exists.")
                row |= {"title": old_title, "title_key": str(old_title).casefold()}
            ids[change.key] = change.local_id
            updated[change.local_id or 0] = row
        elif same is not None:
            ids[change.key] = same.id
            if same.project_id == project.id:
                updated[same.id] = row
        elif row["title"] in {columns[key]["title"] for key in new}:
            twin = next(key for key in new if columns[key]["title"] == row["title"])
            ids[change.key] = None
            context.problem(f"The milestones {twin} and {change.key} have the same title; the second was omitted.")
        else:
            new[change.key] = change
    update_rows(db, milestones, updated.items())
    return ids | _insert(context, list(new.values()), columns)


def _insert(context: StoreContext, new: Sequence[Change], columns: dict[str, dict[str, Any]]) -> dict[str, int]:
    db, project = context.db, context.project
    numbers = [(change.key, None if change.record.of_group else change.record.iid) for change in new]
    iids = assign_iids(context, IidSequence("milestone", milestones, "project_id", "%"), numbers)
    rows = [
        {
            "project_id": project.id,
            "group_id": None,
            "iid": iids[change.key],
            "created_at": moment(change.record.created_at, db.now),
            **columns[change.key],
        }
        for change in new
    ]
    return dict(zip([change.key for change in new], insert_rows(db, milestones, rows), strict=True))


def milestone_ids(context: StoreContext, keys: Iterable[str | None]) -> dict[str, int]:
    """Return the ids of milestones by the keys of their records; unknown ones are left out."""
    wanted = {key for key in keys if key}
    links = context.linked("milestones", sorted(wanted)) if wanted else {}
    existing = rows_by_ids(context.db, milestones, {link.local_id for link in links.values()}, "id")
    return {key: link.local_id for key, link in links.items() if link.local_id in existing}
