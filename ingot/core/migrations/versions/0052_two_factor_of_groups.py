"""Add the time since when a group requires two-factor authentication of its members."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0052"
down_revision = "0051"
# The grace period of groups that already have the option starts with the upgrade.
_START = sa.text("UPDATE namespaces SET two_factor_required_at = :now WHERE options_document LIKE :option")


def upgrade() -> None:
    """Add the time since when a group requires two-factor authentication of its members."""
    # Not in a batch: SQLite would recreate the table without the triggers that record its changes.
    op.add_column("namespaces", sa.Column("two_factor_required_at", sa.Text(), nullable=True))
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}.000Z"
    op.get_bind().execute(_START, {"now": now, "option": '%"require_two_factor_authentication":true%'})
