"""Add ref changes, protected refs, releases, pipelines and commit notes."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add ref changes, protected refs, releases, pipelines and commit notes."""
    op.add_column("projects", sa.Column("generation", sa.BigInteger(), nullable=False, server_default="0"))
    op.create_table(
        "protected_branches",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("push_level", sa.BigInteger(), nullable=False),
        sa.Column("merge_level", sa.BigInteger(), nullable=False),
        sa.Column("allow_force_push", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_protected_branches_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_protected_branches")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_protected_branches_project_id_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "protected_tags",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("create_level", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_protected_tags_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_protected_tags")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_protected_tags_project_id_name")),
        sqlite_autoincrement=True,
    )
    # The default branch of what was there before is protected as that of a new project is.
    op.execute(
        "INSERT INTO protected_branches (project_id, name, push_level, merge_level, allow_force_push, created_at) "
        "SELECT id, default_branch, 40, 40, false, created_at FROM projects WHERE namespace_id IS NOT NULL"
    )
    op.create_table(
        "ref_intents",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("actor_id", _IDENTIFIER, nullable=True),
        sa.Column("via", sa.Text(), nullable=False),
        sa.Column("updates", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_ref_intents_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["actor_id"], ["users.id"], name=op.f("fk_ref_intents_actor_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ref_intents")),
        sa.UniqueConstraint("key", name=op.f("uq_ref_intents_key")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_ref_intents_project_id"), "ref_intents", ["project_id"])
    op.create_table(
        "ref_changes",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("actor_id", _IDENTIFIER, nullable=True),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("via", sa.Text(), nullable=False),
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("old", sa.Text(), nullable=False),
        sa.Column("new", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_ref_changes_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["actor_id"], ["users.id"], name=op.f("fk_ref_changes_actor_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ref_changes")),
        sa.UniqueConstraint("key", "ref", name=op.f("uq_ref_changes_key_ref")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_ref_changes_project_id", "ref_changes", ["project_id", "id"])
    op.create_index(op.f("ix_ref_changes_actor_id"), "ref_changes", ["actor_id"])
    op.create_table(
        "releases",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("author_id", _IDENTIFIER, nullable=True),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("released_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_releases_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=op.f("fk_releases_author_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_releases")),
        sa.UniqueConstraint("project_id", "tag", name=op.f("uq_releases_project_id_tag")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_releases_author_id"), "releases", ["author_id"])
    op.create_index("ix_releases_released_at", "releases", ["project_id", "released_at", "id"])
    op.create_table(
        "release_links",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("release_id", _IDENTIFIER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("filepath", sa.Text(), nullable=True),
        sa.Column("link_type", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["release_id"], ["releases.id"], name=op.f("fk_release_links_release_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_release_links")),
        sa.UniqueConstraint("release_id", "name", name=op.f("uq_release_links_release_id_name")),
        sa.UniqueConstraint("release_id", "url", name=op.f("uq_release_links_release_id_url")),
        sa.UniqueConstraint("release_id", "filepath", name=op.f("uq_release_links_release_id_filepath")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "pipelines",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("iid", sa.BigInteger(), nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=True),
        sa.Column("sha", sa.Text(), nullable=False),
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("tag", sa.Boolean(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("coverage", sa.Double(), nullable=True),
        sa.Column("duration", sa.BigInteger(), nullable=True),
        sa.Column("yaml_errors", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Text(), nullable=True),
        sa.Column("finished_at", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_pipelines_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_pipelines_user_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pipelines")),
        sa.UniqueConstraint("project_id", "iid", name=op.f("uq_pipelines_project_id_iid")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_pipelines_project_id", "pipelines", ["project_id", "id"])
    op.create_index("ix_pipelines_project_id_sha", "pipelines", ["project_id", "sha", "ref", "id"])
    op.create_index("ix_pipelines_project_id_ref", "pipelines", ["project_id", "ref", "id"])
    op.create_index(op.f("ix_pipelines_user_id"), "pipelines", ["user_id"])
    op.create_table(
        "commit_statuses",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("pipeline_id", _IDENTIFIER, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("target_url", sa.Text(), nullable=True),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("coverage", sa.Double(), nullable=True),
        sa.Column("allow_failure", sa.Boolean(), nullable=False),
        sa.Column("retried", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Text(), nullable=True),
        sa.Column("finished_at", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["pipeline_id"], ["pipelines.id"], name=op.f("fk_commit_statuses_pipeline_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_commit_statuses_user_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_commit_statuses")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_commit_statuses_pipeline_id", "commit_statuses", ["pipeline_id", "id"])
    op.create_index(op.f("ix_commit_statuses_user_id"), "commit_statuses", ["user_id"])
    op.create_index(
        "uq_commit_statuses_latest",
        "commit_statuses",
        ["pipeline_id", "name"],
        unique=True,
        sqlite_where=sa.text("NOT retried"),
        postgresql_where=sa.text("NOT retried"),
    )
    op.create_table(
        "notes",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=True),
        sa.Column("author_id", _IDENTIFIER, nullable=False),
        sa.Column("subject_kind", sa.Text(), nullable=False),
        sa.Column("subject_id", sa.BigInteger(), nullable=True),
        sa.Column("commit_oid", sa.Text(), nullable=True),
        sa.Column("discussion_id", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("system", sa.Boolean(), nullable=False),
        sa.Column("line_type", sa.Text(), nullable=True),
        sa.Column("old_path", sa.Text(), nullable=True),
        sa.Column("new_path", sa.Text(), nullable=True),
        sa.Column("old_line", sa.BigInteger(), nullable=True),
        sa.Column("new_line", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_notes_project_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=op.f("fk_notes_author_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notes")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_notes_author_id"), "notes", ["author_id"])
    op.create_index(op.f("ix_notes_discussion_id"), "notes", ["discussion_id"])
    op.create_index("ix_notes_project_id_commit_oid", "notes", ["project_id", "commit_oid", "id"])
    op.create_index("ix_notes_subject_kind_subject_id", "notes", ["subject_kind", "subject_id", "id"])
    op.create_table(
        "deploy_key_projects",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("key_id", _IDENTIFIER, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("creator_id", _IDENTIFIER, nullable=True),
        sa.Column("can_push", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["key_id"], ["ssh_keys.id"], name=op.f("fk_deploy_key_projects_key_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_deploy_key_projects_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["creator_id"], ["users.id"], name=op.f("fk_deploy_key_projects_creator_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deploy_key_projects")),
        sa.UniqueConstraint("key_id", "project_id", name=op.f("uq_deploy_key_projects_key_id_project_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_deploy_key_projects_project_id"), "deploy_key_projects", ["project_id"])
    op.create_index(op.f("ix_deploy_key_projects_creator_id"), "deploy_key_projects", ["creator_id"])
    op.create_table(
        "lfs_objects",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("oid", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lfs_objects")),
        sa.UniqueConstraint("oid", name=op.f("uq_lfs_objects_oid")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "lfs_project_objects",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("object_id", _IDENTIFIER, nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_lfs_project_objects_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["object_id"], ["lfs_objects.id"], name=op.f("fk_lfs_project_objects_object_id"), ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lfs_project_objects")),
        sa.UniqueConstraint("project_id", "object_id", name=op.f("uq_lfs_project_objects_project_id_object_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_lfs_project_objects_object_id"), "lfs_project_objects", ["object_id"])
    op.create_table(
        "lfs_locks",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("path_digest", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_lfs_locks_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_lfs_locks_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lfs_locks")),
        sa.UniqueConstraint("project_id", "path_digest", name=op.f("uq_lfs_locks_project_id_path_digest")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_lfs_locks_project_id", "lfs_locks", ["project_id", "id"])
    op.create_index(op.f("ix_lfs_locks_user_id"), "lfs_locks", ["user_id"])
