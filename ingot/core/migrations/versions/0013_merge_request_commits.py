"""Add the commits of merge requests."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the commits of merge requests."""
    op.create_table(
        "merge_request_commits",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("merge_request_id", _IDENTIFIER, nullable=False),
        sa.Column("version_id", _IDENTIFIER, nullable=False),
        sa.Column("oid", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["merge_request_id"],
            ["merge_requests.id"],
            name=op.f("fk_merge_request_commits_merge_request_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["merge_request_versions.id"],
            name=op.f("fk_merge_request_commits_version_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_merge_request_commits")),
        sa.UniqueConstraint("merge_request_id", "oid", name=op.f("uq_merge_request_commits_merge_request_id_oid")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_merge_request_commits_oid", "merge_request_commits", ["oid", "merge_request_id"])
    op.create_index("ix_merge_request_commits_version_id", "merge_request_commits", ["version_id"])
    # Of what was pushed before only the heads are known here; the rest is in the repositories.
    known = ("id", "merge_request_id", "head_oid", "state", "commits_count")
    kept = ("merge_request_id", "version_id", "oid")
    versions = sa.table("merge_request_versions", *map(sa.column, known))
    commits = sa.table("merge_request_commits", *map(sa.column, kept))
    heads = (
        sa.select(versions.c.merge_request_id, sa.func.min(versions.c.id), versions.c.head_oid)
        .where(versions.c.state == "collected", versions.c.commits_count > 0)
        .group_by(versions.c.merge_request_id, versions.c.head_oid)
    )
    op.execute(commits.insert().from_select(kept, heads))
