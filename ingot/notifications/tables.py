"""Table of notification settings."""

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, number, reference, row_id, text

# The authoritative rows; rows of members contain a copy of the level, which projects show.
notification_settings = Table(
    "notification_settings",
    metadata,
    row_id(),
    reference("user_id", "users.id"),
    # Global, group or project.
    text("source_kind"),
    number("source_id"),
    number("level"),
    # Flags of single events as JSON; used only by the custom level.
    text("events"),
    # Notification email; set only for global settings.
    text("email", nullable=True),
    UniqueConstraint("user_id", "source_kind", "source_id"),
    Index("ix_notification_settings_source_kind_source_id", "source_kind", "source_id", "level"),
    sqlite_autoincrement=True,
)


class NotificationSetting(Record, frozen=True):
    """A user's setting for a project, a group or globally; ``events`` is JSON."""

    id: int
    user_id: int
    source_kind: str
    source_id: int
    level: int
    events: str
    email: str | None
