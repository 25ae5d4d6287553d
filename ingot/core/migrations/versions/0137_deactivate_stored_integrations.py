"""Deactivate integrations that were only stored until now."""

import sqlalchemy as sa
from alembic import op

revision = "0137"
down_revision = "0136"
_STORED_ONLY = (
    "asana", "assembla", "bamboo", "buildkite", "campfire", "drone-ci", "external-wiki", "flowdock", "gemnasium",
    "hipchat", "irker", "kubernetes", "mattermost-slash-commands", "microsoft-teams", "mock-ci", "mock-deployment",
    "mock-monitoring", "pipelines-email", "pivotaltracker", "prometheus", "pushover", "slack-slash-commands",
    "teamcity",
)  # fmt: skip


def upgrade() -> None:
    """Let nothing be sent for old settings until they are saved again."""
    services = sa.table("services", sa.column("slug"), sa.column("active", sa.Boolean()))
    op.execute(services.update().where(services.c.slug.in_(_STORED_ONLY)).values(active=False))
