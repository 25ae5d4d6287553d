"""Keep what stands for secrets in the URLs of hooks."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Keep what stands for secrets in the URLs of hooks."""
    op.add_column("hooks", sa.Column("url_variables", sa.LargeBinary(), nullable=True))
