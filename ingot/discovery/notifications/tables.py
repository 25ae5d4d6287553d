"""What is stored of what users want to be told."""

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, number, reference, row_id, text

# The one place that says it; members' rows carry a copy of the level, which projects show.
notification_settings = Table(
    "notification_settings",
    metadata,
    row_id(),
    reference("user_id", "users.id"),
    # Everywhere, of all in a group, or of one project.
    text("source_kind"),
    number("source_id"),
    number("level"),
    # What was said of single events, as JSON; it counts where the level says so.
    text("events"),
    # Where mail goes, for what is said of everywhere.
    text("email", nullable=True),
    UniqueConstraint("user_id", "source_kind", "source_id"),
    Index("ix_notification_settings_source_kind_source_id", "source_kind", "source_id", "level"),
    sqlite_autoincrement=True,
)


class NotificationSetting(Record, frozen=True):
    """What a user wants to be told of one place; ``events`` is JSON."""

    id: int
    user_id: int
    source_kind: str
    source_id: int
    level: int
    events: str
    email: str | None
