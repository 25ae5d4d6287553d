"""What is stored of numbers that were given."""

from sqlalchemy import Table, UniqueConstraint

from ingot.core.db.schema import metadata, number, row_id, text

internal_ids = Table(
    "internal_ids",
    metadata,
    row_id(),
    # No reference: the row may outlive its project until a job removes that, and no number is taken back.
    text("scope"),
    number("scope_id"),
    text("kind"),
    number("last"),
    UniqueConstraint("scope", "scope_id", "kind"),
    sqlite_autoincrement=True,
)
