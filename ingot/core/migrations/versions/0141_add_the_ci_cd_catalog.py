"""Add the CI/CD catalog."""

import sqlalchemy as sa
from alembic import op

revision = "0141"
down_revision = "0137"
_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add projects that publish components, their versions, the components and who uses them."""
    op.create_table(
        "catalog_resources",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("usage_count", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_catalog_resources_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_catalog_resources")),
        sa.UniqueConstraint("project_id", name=op.f("uq_catalog_resources_project_id")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "catalog_versions",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("resource_id", _IDENTIFIER, nullable=False),
        sa.Column("release_id", _IDENTIFIER, nullable=False),
        sa.Column("published_by_id", _IDENTIFIER, nullable=True),
        sa.Column("sha", sa.Text(), nullable=False),
        sa.Column("semver_major", sa.BigInteger(), nullable=False),
        sa.Column("semver_minor", sa.BigInteger(), nullable=False),
        sa.Column("semver_patch", sa.BigInteger(), nullable=False),
        sa.Column("semver_prerelease", sa.Text(), nullable=True),
        sa.Column("readme", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["published_by_id"], ["users.id"], name=op.f("fk_catalog_versions_published_by_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["release_id"], ["releases.id"], name=op.f("fk_catalog_versions_release_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["resource_id"], ["catalog_resources.id"], name=op.f("fk_catalog_versions_resource_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_catalog_versions")),
        sa.UniqueConstraint("release_id", name=op.f("uq_catalog_versions_release_id")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_catalog_versions_published_by_id", "catalog_versions", ["published_by_id"])
    op.create_index(
        "ix_catalog_versions_semver",
        "catalog_versions",
        ["resource_id", "semver_major", "semver_minor", "semver_patch"],
    )

    op.create_table(
        "catalog_components",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("version_id", _IDENTIFIER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("inputs", sa.Text(), nullable=False),
        sa.Column("usage_count", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"], ["catalog_versions.id"], name=op.f("fk_catalog_components_version_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_catalog_components")),
        sa.UniqueConstraint("version_id", "name", name=op.f("uq_catalog_components_version_id_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "catalog_component_usages",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("component_id", _IDENTIFIER, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("used_on", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["component_id"],
            ["catalog_components.id"],
            name=op.f("fk_catalog_component_usages_component_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_catalog_component_usages_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_catalog_component_usages")),
        sa.UniqueConstraint(
            "component_id", "project_id", name=op.f("uq_catalog_component_usages_component_id_project_id")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_catalog_component_usages_project_id", "catalog_component_usages", ["project_id"])
    op.create_index("ix_catalog_component_usages_used_on", "catalog_component_usages", ["used_on"])
