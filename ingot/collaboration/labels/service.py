"""State changes of labels and of their assignment to subjects."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET
from sqlalchemy import bindparam, delete, text, update

from ingot.collaboration.labels.colors import parse_color
from ingot.collaboration.labels.events import LabelsMerging
from ingot.collaboration.labels.params import CreateGroupLabel, CreateLabel, EditGroupLabel, EditLabel
from ingot.collaboration.labels.queries import (
    MAX_PRIORITIZED,
    label_by_id,
    label_by_title,
    labels_of,
    outside_labels,
    priorities_of,
    prioritized_labels,
    same_title_in_descendants,
    usable_labels,
)
from ingot.collaboration.labels.tables import Label, label_links, label_priorities, labels
from ingot.collaboration.subjects import Subject
from ingot.collaboration.subscriptions.service import delete_subscriptions, transfer_subscriptions
from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.errors import Conflict, Invalid, too_long_message
from ingot.core.events.bus import emit
from ingot.projects.members.queries import MemberSource
from ingot.projects.projects.tables import Project

DEFAULT_COLOR = "#428BCA"
MAX_TITLE_LENGTH = 255
MAX_DESCRIPTION_LENGTH = 1_000_000
_UNLINK = delete(label_links).where(
    label_links.c.subject_kind == bindparam("kind"),
    label_links.c.subject_id == bindparam("subject"),
    in_list(label_links.c.label_id, "removed"),
)
_UNLINK_ALL = delete(label_links).where(
    label_links.c.subject_kind == bindparam("kind"), label_links.c.subject_id == bindparam("subject")
)
_STATE = (
    update(label_links)
    .where(label_links.c.subject_kind == bindparam("kind"), label_links.c.subject_id == bindparam("subject"))
    .values(state=bindparam("new_state"), confidential=bindparam("now_confidential"))
)
_SET_PRIORITY = text(
    "INSERT INTO label_priorities (project_id, label_id, priority) VALUES (:project, :label, :priority) "
    "ON CONFLICT (project_id, label_id) DO UPDATE SET priority = excluded.priority"
)
_UNSET_PRIORITY = delete(label_priorities).where(
    label_priorities.c.project_id == bindparam("project"), label_priorities.c.label_id == bindparam("label")
)
# Subjects that already have the remaining label are not changed; links to the merged label are deleted with it.
_MERGE_LINKS = text(
    "INSERT INTO label_links (label_id, subject_kind, subject_id, project_id, state, confidential) "
    "SELECT :into, subject_kind, subject_id, project_id, state, confidential FROM label_links WHERE label_id = :label "
    "ON CONFLICT (subject_kind, subject_id, label_id) DO NOTHING"
)
_MERGE_PRIORITIES = text(
    "INSERT INTO label_priorities (project_id, label_id, priority) "
    "SELECT project_id, :into, priority FROM label_priorities WHERE label_id = :label "
    "ON CONFLICT (project_id, label_id) DO NOTHING"
)
_COPY_LINKS = text(
    "INSERT INTO label_links (label_id, subject_kind, subject_id, project_id, state, confidential) "
    "SELECT :into, subject_kind, subject_id, project_id, state, confidential FROM label_links "
    "WHERE label_id = :label AND project_id = :project ON CONFLICT (subject_kind, subject_id, label_id) DO NOTHING"
)
_DELETE_LINKS = delete(label_links).where(
    label_links.c.label_id == bindparam("label"), label_links.c.project_id == bindparam("project")
)
_COPY_PRIORITY = text(
    "INSERT INTO label_priorities (project_id, label_id, priority) "
    "SELECT project_id, :into, priority FROM label_priorities WHERE label_id = :label AND project_id = :project "
    "ON CONFLICT (project_id, label_id) DO NOTHING"
)


def title_error(title: str) -> str | None:
    """Return why a label title is invalid, or None if it is valid."""
    if not title.strip():
        return "can't be blank"
    if len(title.strip()) > MAX_TITLE_LENGTH:
        return too_long_message(MAX_TITLE_LENGTH)
    # A comma separates labels in parameters.
    return "is invalid" if "," in title else None


def color_error(color: str) -> str | None:
    """Return why a color is invalid, or None if it is valid."""
    return None if parse_color(color) else "must be a valid color code"


def create_label(db: Connection, source: MemberSource, params: CreateGroupLabel) -> Label:
    """Create a label of a project or group; raise Conflict if a usable label has the same title."""
    if label_by_title(db, source, params.name.strip()) is not None:
        raise Conflict("Label already exists")
    owner = {"project_id": source.id} if source.kind == "project" else {"group_id": source.id}
    label = add_label(db, params.name, params.color, params.description, **owner)
    if isinstance(params, CreateLabel) and params.priority is not None:
        _set_priority(db, source.id, label.id, params.priority)
    return label


def add_label(
    db: Connection,
    title: str,
    color: str = DEFAULT_COLOR,
    description: str | None = None,
    *,
    project_id: int | None = None,
    group_id: int | None = None,
) -> Label:
    """Insert the row of a label; raise Invalid if a value is not valid."""
    title = title.strip()
    _validate(title, color, description)
    row = {
        "project_id": project_id,
        "group_id": group_id,
        "title": title,
        "title_key": title.casefold(),
        "color": parse_color(color),
        "description": description or None,
        "created_at": db.now,
        "updated_at": db.now,
    }
    return Label(db.insert(labels, **row), *row.values())  # type: ignore[arg-type] # In the order of the columns.


def edit_label(db: Connection, source: MemberSource, label: Label, params: EditGroupLabel) -> Label:
    """Update the given fields of a label."""
    sent = given_fields(params, "priority", "name", "label_id")
    columns: dict[str, Any] = {}
    if "new_name" in sent:
        title = sent["new_name"].strip()
        columns |= {"title": title, "title_key": title.casefold()}
    if "color" in sent:
        columns["color"] = parse_color(sent["color"])
    if "description" in sent:
        columns["description"] = sent["description"] or None
    _validate(columns.get("title", label.title), sent.get("color", label.color), columns.get("description"))
    if columns.get("title", label.title) != label.title and label_by_title(db, source, columns["title"]) is not None:
        raise Invalid(title=["has already been taken"])
    if columns:
        db.update(labels, label.id, **columns, updated_at=db.now)
    if isinstance(params, EditLabel) and params.priority is not UNSET:
        _set_priority(db, source.id, label.id, params.priority)
    return label_by_id(db, label.id)


def prioritize_labels(db: Connection, project_id: int, ordered: Sequence[int], dropped: Sequence[int] = ()) -> None:
    """Set the priorities of labels in a project to this order and unset those of ``dropped``."""
    ranks = priorities_of(db, project_id, ordered)
    for priority, label_id in enumerate(ordered):
        if ranks.get(label_id) != priority:
            _set_priority(db, project_id, label_id, priority)
    for label_id in dropped:
        _set_priority(db, project_id, label_id, None)


def move_label(db: Connection, project: Project, label_id: int, move: str) -> None:
    """Move a label ``up`` or ``down`` in the ranks of a project, ``drop`` it from them, or rank it last."""
    ordered = [one.id for one in prioritized_labels(db, project, MAX_PRIORITIZED)]
    others = [one for one in ordered if one != label_id]
    if move == "drop":
        prioritize_labels(db, project.id, others, [label_id])
        return
    now = ordered.index(label_id) if label_id in ordered else len(others)
    to = max(now + {"up": -1, "down": 1}.get(move, 0), 0)
    prioritize_labels(db, project.id, [*others[:to], label_id, *others[to:]][:MAX_PRIORITIZED])


def delete_label(db: Connection, label: Label) -> None:
    """Delete a label and remove it from all subjects."""
    delete_subscriptions(db, "label", label.id)
    db.delete(labels, label.id)


def promote_label(db: Connection, label: Label, group: MemberSource) -> Label:
    """Merge the labels with this title in all projects below a group into one label of the group."""
    group_label = label_by_title(db, group, label.title, own=True)
    if group_label is None:
        group_label = add_label(db, label.title, label.color, label.description, group_id=group.id)
    merged = same_title_in_descendants(db, group.id, label.title)
    emit(db, LabelsMerging([duplicate.id for duplicate in merged], group_label.id))
    for duplicate in merged:
        db.run(_MERGE_LINKS, label=duplicate.id, into=group_label.id)
        db.run(_MERGE_PRIORITIES, label=duplicate.id, into=group_label.id)
        transfer_subscriptions(db, "label", duplicate.id, group_label.id)
        db.delete(labels, duplicate.id)
    return group_label


def replace_outside_labels(db: Connection, project: Project) -> None:
    """Replace labels of former ancestor groups in a project by labels that it can use."""
    for label in outside_labels(db, project):
        replacement = find_or_copy_label(db, project, label)
        values = {"project": project.id, "label": label.id}
        for copy, remove in ((_COPY_LINKS, _DELETE_LINKS), (_COPY_PRIORITY, _UNSET_PRIORITY)):
            db.run(copy, into=replacement.id, **values)
            db.run(remove, **values)


def find_or_copy_label(db: Connection, project: Project, label: Label) -> Label:
    """Return the usable label with the same title, or else copy the label to the project."""
    same = usable_labels(db, project, [label.title]).get(label.title)
    return same or add_label(db, label.title, label.color, label.description, project_id=project.id)


def find_or_create_labels(db: Connection, project: Project, titles: Sequence[str], *, may_add: bool) -> list[Label]:
    """Return the labels with these titles.

    Missing labels are created if ``may_add`` is set and ignored otherwise.
    """
    titles = list(dict.fromkeys(title.strip() for title in titles))
    existing = usable_labels(db, project, titles)
    result = []
    for title in titles:
        if title in existing:
            result.append(existing[title])
        elif may_add:
            result.append(add_label(db, title, project_id=project.id))
    return result


def set_labels(db: Connection, subject: Subject, new_labels: Sequence[Label]) -> tuple[list[Label], list[Label]]:
    """Set the labels of a subject and return the added and the removed ones."""
    assert subject.id is not None  # noqa: S101 - Only rows carry labels.
    before = {label.id: label for label in labels_of(db, subject.kind, [subject.id]).get(subject.id, [])}
    after = {label.id: label for label in new_labels}
    added = [label for label_id, label in after.items() if label_id not in before]
    removed = [label for label_id, label in before.items() if label_id not in after]
    for label in added:
        db.insert_row(
            label_links,
            label_id=label.id,
            subject_kind=subject.kind,
            subject_id=subject.id,
            project_id=subject.project_id,
            state=subject.state,
            confidential=subject.confidential,
        )
    if removed:
        db.run(_UNLINK, kind=subject.kind, subject=subject.id, removed=[label.id for label in removed])
    return added, removed


def update_label_link_state(db: Connection, subject: Subject) -> None:
    """Copy the state and confidentiality of a subject to its label links, which are used for counting."""
    state = {"new_state": subject.state, "now_confidential": subject.confidential}
    db.run(_STATE, kind=subject.kind, subject=subject.id, **state)


def delete_label_links(db: Connection, subject: Subject) -> None:
    """Remove all labels from a subject."""
    db.run(_UNLINK_ALL, kind=subject.kind, subject=subject.id)


def _set_priority(db: Connection, project_id: int, label_id: int, priority: int | None) -> None:
    if priority is None:
        db.run(_UNSET_PRIORITY, project=project_id, label=label_id)
    else:
        db.run(_SET_PRIORITY, project=project_id, label=label_id, priority=priority)


def _validate(title: str, color: str, description: str | None) -> None:
    errors: dict[str, list[str]] = {}
    error = title_error(title)
    if error is not None:
        errors["title"] = [error]
    error = color_error(color)
    if error is not None:
        errors["color"] = [error]
    if description is not None and len(description) > MAX_DESCRIPTION_LENGTH:
        errors["description"] = [too_long_message(MAX_DESCRIPTION_LENGTH)]
    if errors:
        raise Invalid(**errors)
