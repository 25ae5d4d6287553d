"""What changes labels, and what carries them."""

import re
from collections.abc import Sequence

from sqlalchemy import bindparam, delete

from ingot.db.connection import Connection
from ingot.db.expressions import any_of
from ingot.errors import Invalid
from ingot.labels.queries import labels_of, usable_labels
from ingot.labels.tables import Label, label_links, labels
from ingot.projects.tables import Project
from ingot.subjects import Subject

DEFAULT_COLOR = "#428BCA"
LONGEST_TITLE = 255
_COLOR = re.compile(r"#[0-9A-Fa-f]{3}(?:[0-9A-Fa-f]{3})?")
_TAKE_OFF = delete(label_links).where(
    label_links.c.subject_kind == bindparam("kind"),
    label_links.c.subject_id == bindparam("subject"),
    any_of(label_links.c.label_id, "taken"),
)
_TAKE_OFF_ALL = delete(label_links).where(
    label_links.c.subject_kind == bindparam("kind"), label_links.c.subject_id == bindparam("subject")
)


def split_titles(text: str) -> list[str]:
    """The titles in a list with commas, each once; blanks around them do not count."""
    return list(dict.fromkeys(title for part in text.split(",") if (title := part.strip())))


def title_trouble(title: str) -> str | None:
    """Why a label cannot be called so, or nothing where it can."""
    if not title.strip():
        return "can't be blank"
    if len(title) > LONGEST_TITLE:
        return f"is too long (maximum is {LONGEST_TITLE} characters)"
    # A comma parts labels in a list, and a question mark or ampersand would break the addresses that name one.
    return "is invalid" if any(sign in title for sign in ",?&") else None


def color_trouble(color: str) -> str | None:
    """Why this is no colour, or nothing where it is one."""
    return None if _COLOR.fullmatch(color) else "must be a valid color code"


def add_label(
    db: Connection,
    title: str,
    color: str = DEFAULT_COLOR,
    description: str | None = None,
    *,
    project_id: int | None = None,
    group_id: int | None = None,
) -> Label:
    """Add a label to a project or group."""
    trouble = title_trouble(title)
    if trouble is not None:
        raise Invalid(title=[trouble])
    trouble = color_trouble(color)
    if trouble is not None:
        raise Invalid(color=[trouble])
    row = {
        "project_id": project_id,
        "group_id": group_id,
        "title": title,
        "title_key": title.casefold(),
        "color": color.upper(),
        "description": description,
        "created_at": db.now,
        "updated_at": db.now,
    }
    return Label(db.insert(labels, **row), *row.values())  # type: ignore[arg-type] # In the order of the columns.


def find_or_add_labels(db: Connection, project: Project, titles: Sequence[str], *, may_add: bool) -> list[Label]:
    """The labels of these titles; those that are missing are made where the caller may, and left out elsewhere."""
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
        db.insert(label_links, label_id=label.id, subject_kind=subject.kind, subject_id=subject.id)
    if removed:
        taken = [label.id for label in removed]
        db.run(_TAKE_OFF, kind=subject.kind, subject=subject.id, taken=taken)
    return added, removed


def drop_labels(db: Connection, subject: Subject) -> None:
    """What is gone carries nothing."""
    db.run(_TAKE_OFF_ALL, kind=subject.kind, subject=subject.id)
