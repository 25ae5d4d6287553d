"""Store the language and time zone that a user chose for the pages."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Store the language and time zone that a user chose for the pages."""
    for column in ("language", "time_zone"):
        op.add_column("users", sa.Column(column, sa.Text(), nullable=True))
