"""Table of the last iid per project or group and kind."""

from sqlalchemy import Table, UniqueConstraint

from ingot.core.db.schema import metadata, number, row_id, text

internal_ids = Table(
    "internal_ids",
    metadata,
    row_id(),
    # No foreign key: the row may outlive its project until a job deletes it, and numbers are never reused.
    text("scope"),
    number("scope_id"),
    text("kind"),
    number("last"),
    UniqueConstraint("scope", "scope_id", "kind"),
    sqlite_autoincrement=True,
)
