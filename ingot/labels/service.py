"""What changes labels, and what carries them."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET
from sqlalchemy import bindparam, delete, text, update

from ingot.api.params import given
from ingot.db.connection import Connection
from ingot.db.expressions import any_of
from ingot.errors import Conflict, Invalid, too_long
from ingot.events.bus import emit
from ingot.followers.service import drop_follows, hand_on_follows
from ingot.groups.members.queries import Source
from ingot.labels.colors import color_code
from ingot.labels.events import LabelsMerging
from ingot.labels.params import CreateGroupLabel, CreateLabel, EditGroupLabel, EditLabel
from ingot.labels.queries import (
    label_by_id,
    labels_of,
    namesakes_below,
    priorities_of,
    stray_labels,
    titled,
    usable_labels,
)
from ingot.labels.tables import Label, label_links, label_priorities, labels
from ingot.projects.tables import Project
from ingot.subjects import Subject

DEFAULT_COLOR = "#428BCA"
LONGEST_TITLE = 255
LONGEST_TEXT = 1_000_000
_TAKE_OFF = delete(label_links).where(
    label_links.c.subject_kind == bindparam("kind"),
    label_links.c.subject_id == bindparam("subject"),
    any_of(label_links.c.label_id, "taken"),
)
_TAKE_OFF_ALL = delete(label_links).where(
    label_links.c.subject_kind == bindparam("kind"), label_links.c.subject_id == bindparam("subject")
)
_STATE = (
    update(label_links)
    .where(label_links.c.subject_kind == bindparam("kind"), label_links.c.subject_id == bindparam("subject"))
    .values(state=bindparam("new_state"), confidential=bindparam("now_confidential"))
)
_RANK = text(
    "INSERT INTO label_priorities (project_id, label_id, priority) VALUES (:project, :label, :priority) "
    "ON CONFLICT (project_id, label_id) DO UPDATE SET priority = excluded.priority"
)
_UNRANK = delete(label_priorities).where(
    label_priorities.c.project_id == bindparam("project"), label_priorities.c.label_id == bindparam("label")
)
# What carries both already keeps the one that stays; the rest goes with the label that does not.
_MERGE_LINKS = text(
    "INSERT INTO label_links (label_id, subject_kind, subject_id, project_id, state, confidential) "
    "SELECT :into, subject_kind, subject_id, project_id, state, confidential FROM label_links WHERE label_id = :label "
    "ON CONFLICT (subject_kind, subject_id, label_id) DO NOTHING"
)
_MERGE_RANKS = text(
    "INSERT INTO label_priorities (project_id, label_id, priority) "
    "SELECT project_id, :into, priority FROM label_priorities WHERE label_id = :label "
    "ON CONFLICT (project_id, label_id) DO NOTHING"
)
_COPY_LINKS = text(
    "INSERT INTO label_links (label_id, subject_kind, subject_id, project_id, state, confidential) "
    "SELECT :into, subject_kind, subject_id, project_id, state, confidential FROM label_links "
    "WHERE label_id = :label AND project_id = :project ON CONFLICT (subject_kind, subject_id, label_id) DO NOTHING"
)
_DROP_LINKS = delete(label_links).where(
    label_links.c.label_id == bindparam("label"), label_links.c.project_id == bindparam("project")
)
_COPY_RANK = text(
    "INSERT INTO label_priorities (project_id, label_id, priority) "
    "SELECT project_id, :into, priority FROM label_priorities WHERE label_id = :label AND project_id = :project "
    "ON CONFLICT (project_id, label_id) DO NOTHING"
)


def title_trouble(title: str) -> str | None:
    """Why a label cannot be called so, or nothing where it can."""
    if not title.strip():
        return "can't be blank"
    if len(title.strip()) > LONGEST_TITLE:
        return too_long(LONGEST_TITLE)
    # A comma parts labels in a list.
    return "is invalid" if "," in title else None


def color_trouble(color: str) -> str | None:
    """Why this is no colour, or nothing where it is one."""
    return None if color_code(color) else "must be a valid color code"


def create_label(db: Connection, source: Source, wanted: CreateGroupLabel) -> Label:
    """Add a label to a project or group, where no label that can be used there is called so."""
    if titled(db, source, wanted.name.strip()) is not None:
        raise Conflict("Label already exists")
    owner = {"project_id": source.id} if source.kind == "project" else {"group_id": source.id}
    label = add_label(db, wanted.name, wanted.color, wanted.description, **owner)
    if isinstance(wanted, CreateLabel) and wanted.priority is not None:
        _rank(db, source.id, label.id, wanted.priority)
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
    """Add the row of a label."""
    title = title.strip()
    _validate(title, color, description)
    row = {
        "project_id": project_id,
        "group_id": group_id,
        "title": title,
        "title_key": title.casefold(),
        "color": color_code(color),
        "description": description or None,
        "created_at": db.now,
        "updated_at": db.now,
    }
    return Label(db.insert(labels, **row), *row.values())  # type: ignore[arg-type] # In the order of the columns.


def edit_label(db: Connection, source: Source, label: Label, wanted: EditGroupLabel) -> Label:
    """Change what was sent; whatever carries the label shows it at once."""
    sent = given(wanted, "priority", "name", "label_id")
    columns: dict[str, Any] = {}
    if "new_name" in sent:
        title = sent["new_name"].strip()
        columns |= {"title": title, "title_key": title.casefold()}
    if "color" in sent:
        columns["color"] = color_code(sent["color"])
    if "description" in sent:
        columns["description"] = sent["description"] or None
    _validate(columns.get("title", label.title), sent.get("color", label.color), columns.get("description"))
    if columns.get("title", label.title) != label.title and titled(db, source, columns["title"]) is not None:
        raise Invalid(title=["has already been taken"])
    if columns:
        db.update(labels, label.id, **columns, updated_at=db.now)
    if isinstance(wanted, EditLabel) and wanted.priority is not UNSET:
        _rank(db, source.id, label.id, wanted.priority)
    return label_by_id(db, label.id)


def rank_labels(db: Connection, project_id: int, ordered: Sequence[int], dropped: Sequence[int] = ()) -> None:
    """Let labels rank in this order in a project; those that are dropped rank no longer."""
    ranks = priorities_of(db, project_id, ordered)
    for place, label_id in enumerate(ordered):
        if ranks.get(label_id) != place:
            _rank(db, project_id, label_id, place)
    for label_id in dropped:
        _rank(db, project_id, label_id, None)


def delete_label(db: Connection, label: Label) -> None:
    """Remove a label; what carried it goes on without."""
    drop_follows(db, "label", label.id)
    db.delete(labels, label.id)


def promote_label(db: Connection, label: Label, group: Source) -> Label:
    """Make one label of the group out of all those of this title in its projects, however deep they lie."""
    stays = titled(db, group, label.title, own=True)
    if stays is None:
        stays = add_label(db, label.title, label.color, label.description, group_id=group.id)
    merged = namesakes_below(db, group.id, label.title)
    emit(db, LabelsMerging([each.id for each in merged], stays.id))
    for each in merged:
        db.run(_MERGE_LINKS, label=each.id, into=stays.id)
        db.run(_MERGE_RANKS, label=each.id, into=stays.id)
        hand_on_follows(db, "label", each.id, stays.id)
        db.delete(labels, each.id)
    return stays


def replace_strays(db: Connection, project: Project) -> None:
    """Where a project was taken out of a group, let it have labels of its own for those that it used there."""
    for label in stray_labels(db, project):
        stays = usable_in(db, project, label)
        values = {"project": project.id, "label": label.id}
        for copy, drop in ((_COPY_LINKS, _DROP_LINKS), (_COPY_RANK, _UNRANK)):
            db.run(copy, into=stays.id, **values)
            db.run(drop, **values)


def usable_in(db: Connection, project: Project, label: Label) -> Label:
    """The label that a project can use in place of another one: of the same title, or else a copy."""
    same = usable_labels(db, project, [label.title]).get(label.title)
    return same or add_label(db, label.title, label.color, label.description, project_id=project.id)


def find_or_add_labels(db: Connection, project: Project, titles: Sequence[str], *, may_add: bool) -> list[Label]:
    """The labels of these titles; those that are missing are made where the caller may, and left out elsewhere."""
    titles = list(dict.fromkeys(title.strip() for title in titles))
    known = usable_labels(db, project, titles)
    found = []
    for title in titles:
        if title in known:
            found.append(known[title])
        elif may_add:
            found.append(add_label(db, title, project_id=project.id))
    return found


def set_labels(db: Connection, subject: Subject, wanted: Sequence[Label]) -> tuple[list[Label], list[Label]]:
    """Let something carry these labels and no others; gives those that were put on and taken off."""
    assert subject.id is not None  # noqa: S101 - Only rows carry labels.
    before = {label.id: label for label in labels_of(db, subject.kind, [subject.id]).get(subject.id, [])}
    after = {label.id: label for label in wanted}
    added = [label for number, label in after.items() if number not in before]
    removed = [label for number, label in before.items() if number not in after]
    for label in added:
        db.insert(
            label_links,
            label_id=label.id,
            subject_kind=subject.kind,
            subject_id=subject.id,
            project_id=subject.project_id,
            state=subject.state,
            confidential=subject.confidential,
        )
    if removed:
        taken = [label.id for label in removed]
        db.run(_TAKE_OFF, kind=subject.kind, subject=subject.id, taken=taken)
    return added, removed


def keep_counted(db: Connection, subject: Subject) -> None:
    """Let what counts by label know that something was closed, reopened, hidden or shown."""
    state = {"new_state": subject.state, "now_confidential": subject.confidential}
    db.run(_STATE, kind=subject.kind, subject=subject.id, **state)


def drop_labels(db: Connection, subject: Subject) -> None:
    """What is gone carries nothing."""
    db.run(_TAKE_OFF_ALL, kind=subject.kind, subject=subject.id)


def _rank(db: Connection, project_id: int, label_id: int, priority: int | None) -> None:
    if priority is None:
        db.run(_UNRANK, project=project_id, label=label_id)
    else:
        db.run(_RANK, project=project_id, label=label_id, priority=priority)


def _validate(title: str, color: str, description: str | None) -> None:
    errors: dict[str, list[str]] = {}
    trouble = title_trouble(title)
    if trouble is not None:
        errors["title"] = [trouble]
    trouble = color_trouble(color)
    if trouble is not None:
        errors["color"] = [trouble]
    if description is not None and len(description) > LONGEST_TEXT:
        errors["description"] = [too_long(LONGEST_TEXT)]
    if errors:
        raise Invalid(**errors)
