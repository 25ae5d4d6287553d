"""Add static sites: deployments, settings, custom domains and their certificates."""

import sqlalchemy as sa
from alembic import op

revision = "0082"
down_revision = "0075"


def upgrade() -> None:
    """Add static sites."""
    op.create_table(
        "acme_accounts",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("directory", sa.Text(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("sealed_key", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_acme_accounts")),
        sa.UniqueConstraint("directory", "email", name=op.f("uq_acme_accounts_directory_email")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "pages_domains",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("verification_code", sa.Text(), nullable=False),
        sa.Column("verified_at", sa.Text(), nullable=True),
        sa.Column("enabled_until", sa.Text(), nullable=True),
        sa.Column("auto_ssl_enabled", sa.Boolean(), nullable=False),
        sa.Column("auto_ssl_failed", sa.Boolean(), nullable=False),
        sa.Column("certificate", sa.Text(), nullable=True),
        sa.Column("sealed_key", sa.LargeBinary(), nullable=True),
        sa.Column("certificate_source", sa.Text(), nullable=True),
        sa.Column("valid_until", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_pages_domains_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pages_domains")),
        sa.UniqueConstraint("domain", name=op.f("uq_pages_domains_domain")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("pages_domains", schema=None) as batch_op:
        batch_op.create_index(
            "ix_pages_domains_auto_ssl",
            ["id"],
            unique=False,
            sqlite_where=sa.text("auto_ssl_enabled"),
            postgresql_where=sa.text("auto_ssl_enabled"),
        )
        batch_op.create_index("ix_pages_domains_enabled_until", ["enabled_until"], unique=False)
        batch_op.create_index("ix_pages_domains_project_id", ["project_id", "id"], unique=False)

    op.create_table(
        "project_pages",
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("unique_domain_enabled", sa.Boolean(), nullable=False),
        sa.Column("unique_domain", sa.Text(), nullable=True),
        sa.Column("https_only", sa.Boolean(), nullable=False),
        sa.Column("primary_domain", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_project_pages_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project_id", name=op.f("pk_project_pages")),
        sa.UniqueConstraint("unique_domain", name=op.f("uq_project_pages_unique_domain")),
    )
    op.create_table(
        "acme_challenges",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("domain_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("response", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["domain_id"], ["pages_domains.id"], name=op.f("fk_acme_challenges_domain_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_acme_challenges")),
        sa.UniqueConstraint("token", name=op.f("uq_acme_challenges_token")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("acme_challenges", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_acme_challenges_domain_id"), ["domain_id"], unique=False)

    op.create_table(
        "pages_deployments",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("job_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("pipeline_id", sa.BigInteger(), nullable=False),
        sa.Column("path_prefix", sa.Text(), nullable=False),
        sa.Column("root_directory", sa.Text(), nullable=False),
        sa.Column("storage_key", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("index_offset", sa.BigInteger(), nullable=False),
        sa.Column("file_count", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=True),
        sa.Column("deleted_at", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["job_id"], ["commit_statuses.id"], name=op.f("fk_pages_deployments_job_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_pages_deployments_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pages_deployments")),
        sa.UniqueConstraint("storage_key", name=op.f("uq_pages_deployments_storage_key")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("pages_deployments", schema=None) as batch_op:
        batch_op.create_index(
            "ix_pages_deployments_deleted_at",
            ["deleted_at"],
            unique=False,
            sqlite_where=sa.text("deleted_at IS NOT NULL"),
            postgresql_where=sa.text("deleted_at IS NOT NULL"),
        )
        batch_op.create_index(
            "ix_pages_deployments_expires_at",
            ["expires_at"],
            unique=False,
            sqlite_where=sa.text("deleted_at IS NULL"),
            postgresql_where=sa.text("deleted_at IS NULL"),
        )
        batch_op.create_index(batch_op.f("ix_pages_deployments_job_id"), ["job_id"], unique=False)
        batch_op.create_index("ix_pages_deployments_project_id", ["project_id", "id"], unique=False)
