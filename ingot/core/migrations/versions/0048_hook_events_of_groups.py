"""Add events and templates of webhooks."""

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"

_EVENTS = (
    "emoji_events",
    "milestone_events",
    "resource_access_token_events",
    "resource_deploy_token_events",
    "vulnerability_events",
    "member_events",
    "subgroup_events",
    "project_events",
)


def upgrade() -> None:
    """Add events and templates of webhooks."""
    for event in _EVENTS:
        op.add_column("hooks", sa.Column(event, sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("hooks", sa.Column("custom_webhook_template", sa.Text(), nullable=True))
