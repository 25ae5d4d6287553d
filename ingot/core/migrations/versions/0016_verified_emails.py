"""Add the verification of email addresses."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Keep which addresses were proven to be somebody's; of those that are there, nobody can tell."""
    for table in ("users", "emails"):
        op.add_column(table, sa.Column("proven_at", sa.Text(), nullable=True))
