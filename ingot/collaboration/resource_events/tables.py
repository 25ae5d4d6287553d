"""Table of resource events."""

from sqlalchemy import Index, Table

from ingot.core.db.schema import Record, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

resource_events = Table(
    "resource_events",
    metadata,
    row_id(),
    reference("project_id", "projects.id", nullable=True, index=True),
    text("subject_kind"),
    number("subject_id"),
    # ``label``, ``milestone`` or ``state``.
    text("kind"),
    reference("user_id", "users.id", index=True),
    # ``add`` or ``remove``; for states, the new state.
    text("action"),
    reference("label_id", "labels.id", ondelete="SET NULL", nullable=True, index=True),
    reference("milestone_id", "milestones.id", ondelete="SET NULL", nullable=True, index=True),
    text("created_at"),
    Index("ix_resource_events_subject_kind_subject_id", "subject_kind", "subject_id", "kind", "id"),
    sqlite_autoincrement=True,
)


class ResourceEvent(Record, frozen=True):
    """A change of a label, milestone or state of a subject."""

    id: int
    project_id: int | None
    subject_kind: str
    subject_id: int
    kind: str
    user_id: int
    action: str
    label_id: int | None
    milestone_id: int | None
    created_at: Timestamp
