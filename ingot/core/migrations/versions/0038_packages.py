"""Add packages, their files, tags and protection rules."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add packages, their files, tags and protection rules."""
    op.create_table(
        "package_protection_rules",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("package_type", sa.Text(), nullable=False),
        sa.Column("name_pattern", sa.Text(), nullable=False),
        sa.Column("push_level", sa.BigInteger(), nullable=True),
        sa.Column("delete_level", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_package_protection_rules_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_package_protection_rules")),
        sa.UniqueConstraint("project_id", "package_type", "name_pattern", name="uq_package_protection_rules"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "packages",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("creator_id", _IDENTIFIER, nullable=True),
        sa.Column("package_type", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("properties", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["creator_id"], ["users.id"], name=op.f("fk_packages_creator_id"), ondelete="SET NULL"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_packages_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_packages")),
        sa.UniqueConstraint(
            "project_id",
            "package_type",
            "name_key",
            "version",
            name=op.f("uq_packages_project_id_package_type_name_key_version"),
        ),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("packages", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_packages_creator_id"), ["creator_id"], unique=False)
        batch_op.create_index("ix_packages_name_key", ["package_type", "name_key", "project_id"], unique=False)
        batch_op.create_index("ix_packages_project_id", ["project_id", "id"], unique=False)

    op.create_table(
        "package_files",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("package_id", _IDENTIFIER, nullable=False),
        sa.Column("file_name", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("sha1", sa.Text(), nullable=True),
        sa.Column("md5", sa.Text(), nullable=True),
        sa.Column("storage_key", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["package_id"], ["packages.id"], name=op.f("fk_package_files_package_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_package_files")),
        sa.UniqueConstraint("package_id", "file_name", name=op.f("uq_package_files_package_id_file_name")),
        sa.UniqueConstraint("storage_key", name=op.f("uq_package_files_storage_key")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("package_files", schema=None) as batch_op:
        batch_op.create_index("ix_package_files_sha256", ["sha256", "package_id"], unique=False)

    op.create_table(
        "package_tags",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("package_name", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("package_id", _IDENTIFIER, nullable=False),
        sa.ForeignKeyConstraint(
            ["package_id"], ["packages.id"], name=op.f("fk_package_tags_package_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_package_tags_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_package_tags")),
        sa.UniqueConstraint(
            "project_id", "package_name", "name", name=op.f("uq_package_tags_project_id_package_name_name")
        ),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("package_tags", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_package_tags_package_id"), ["package_id"], unique=False)
