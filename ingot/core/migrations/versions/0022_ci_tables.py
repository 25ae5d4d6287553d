"""Create the tables of CI."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables of CI."""
    op.create_table(
        "ci_queue_version",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ci_queue_version")),
        sqlite_autoincrement=True,
    )

    op.create_table(
        "runners",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("runner_type", sa.Text(), nullable=False),
        sa.Column("group_id", _IDENTIFIER, nullable=True),
        sa.Column("creator_id", _IDENTIFIER, nullable=True),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("maintenance_note", sa.Text(), nullable=True),
        sa.Column("created_by_user", sa.Boolean(), nullable=False),
        sa.Column("sealed_token", sa.LargeBinary(), nullable=False),
        sa.Column("token_digest", sa.LargeBinary(), nullable=False),
        sa.Column("token_expires_at", sa.Text(), nullable=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("locked", sa.Boolean(), nullable=False),
        sa.Column("run_untagged", sa.Boolean(), nullable=False),
        sa.Column("access_level", sa.Text(), nullable=False),
        sa.Column("maximum_timeout", sa.BigInteger(), nullable=True),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("version", sa.Text(), nullable=True),
        sa.Column("revision", sa.Text(), nullable=True),
        sa.Column("platform", sa.Text(), nullable=True),
        sa.Column("architecture", sa.Text(), nullable=True),
        sa.Column("ip_address", sa.Text(), nullable=True),
        sa.Column("contacted_at", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["creator_id"], ["users.id"], name=op.f("fk_runners_creator_id"), ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["group_id"], ["namespaces.id"], name=op.f("fk_runners_group_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runners")),
        sa.UniqueConstraint("token_digest", name=op.f("uq_runners_token_digest")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_runners_creator_id"), "runners", ["creator_id"])
    op.create_index(op.f("ix_runners_group_id"), "runners", ["group_id"])
    op.create_index("ix_runners_runner_type", "runners", ["runner_type", "id"])

    op.create_table(
        "ci_settings",
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("build_timeout", sa.BigInteger(), server_default="3600", nullable=False),
        sa.Column("build_coverage_regex", sa.Text(), nullable=True),
        sa.Column("build_git_strategy", sa.Text(), server_default="fetch", nullable=False),
        sa.Column("default_git_depth", sa.BigInteger(), server_default="20", nullable=False),
        sa.Column("auto_cancel_pending_pipelines", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("keep_latest_artifact", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("group_runners_enabled", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("job_token_scope_enabled", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("allow_fork_pipelines_in_parent", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_ci_settings_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project_id", name=op.f("pk_ci_settings")),
    )
    op.create_table(
        "job_token_allowances",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("allowed_project_id", _IDENTIFIER, nullable=True),
        sa.Column("allowed_group_id", _IDENTIFIER, nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["allowed_group_id"],
            ["namespaces.id"],
            name=op.f("fk_job_token_allowances_allowed_group_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["allowed_project_id"],
            ["projects.id"],
            name=op.f("fk_job_token_allowances_allowed_project_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_job_token_allowances_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job_token_allowances")),
        sa.UniqueConstraint("project_id", "place", name=op.f("uq_job_token_allowances_project_id_place")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_job_token_allowances_allowed_group_id"), "job_token_allowances", ["allowed_group_id"])
    op.create_index(op.f("ix_job_token_allowances_allowed_project_id"), "job_token_allowances", ["allowed_project_id"])

    op.create_table(
        "registration_tokens",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=True),
        sa.Column("group_id", _IDENTIFIER, nullable=True),
        sa.Column("sealed_token", sa.LargeBinary(), nullable=False),
        sa.Column("token_digest", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["namespaces.id"], name=op.f("fk_registration_tokens_group_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_registration_tokens_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_registration_tokens")),
        sa.UniqueConstraint("place", name=op.f("uq_registration_tokens_place")),
        sa.UniqueConstraint("token_digest", name=op.f("uq_registration_tokens_token_digest")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_registration_tokens_group_id"), "registration_tokens", ["group_id"])
    op.create_index(op.f("ix_registration_tokens_project_id"), "registration_tokens", ["project_id"])

    op.create_table(
        "runner_managers",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("runner_id", _IDENTIFIER, nullable=False),
        sa.Column("system_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=True),
        sa.Column("revision", sa.Text(), nullable=True),
        sa.Column("platform", sa.Text(), nullable=True),
        sa.Column("architecture", sa.Text(), nullable=True),
        sa.Column("ip_address", sa.Text(), nullable=True),
        sa.Column("contacted_at", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["runner_id"], ["runners.id"], name=op.f("fk_runner_managers_runner_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runner_managers")),
        sa.UniqueConstraint("runner_id", "system_id", name=op.f("uq_runner_managers_runner_id_system_id")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "runner_projects",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("runner_id", _IDENTIFIER, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_runner_projects_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["runner_id"], ["runners.id"], name=op.f("fk_runner_projects_runner_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runner_projects")),
        sa.UniqueConstraint("runner_id", "project_id", name=op.f("uq_runner_projects_runner_id_project_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_runner_projects_project_id"), "runner_projects", ["project_id"])

    op.create_table(
        "pipeline_schedules",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("owner_id", _IDENTIFIER, nullable=True),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("cron", sa.Text(), nullable=False),
        sa.Column("cron_timezone", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("next_run_at", sa.Text(), nullable=True),
        sa.Column("last_pipeline_id", _IDENTIFIER, nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["last_pipeline_id"],
            ["pipelines.id"],
            name=op.f("fk_pipeline_schedules_last_pipeline_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["users.id"], name=op.f("fk_pipeline_schedules_owner_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_pipeline_schedules_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pipeline_schedules")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_pipeline_schedules_last_pipeline_id"), "pipeline_schedules", ["last_pipeline_id"])
    op.create_index(
        "ix_pipeline_schedules_next_run_at",
        "pipeline_schedules",
        ["next_run_at"],
        sqlite_where=sa.text("next_run_at IS NOT NULL"),
        postgresql_where=sa.text("next_run_at IS NOT NULL"),
    )
    op.create_index(op.f("ix_pipeline_schedules_owner_id"), "pipeline_schedules", ["owner_id"])
    op.create_index("ix_pipeline_schedules_project_id", "pipeline_schedules", ["project_id", "id"])

    op.create_table(
        "pipeline_variables",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("pipeline_id", _IDENTIFIER, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("sealed_value", sa.LargeBinary(), nullable=False),
        sa.Column("variable_type", sa.Text(), nullable=False),
        sa.Column("raw", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["pipeline_id"], ["pipelines.id"], name=op.f("fk_pipeline_variables_pipeline_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pipeline_variables")),
        sa.UniqueConstraint("pipeline_id", "key", name=op.f("uq_pipeline_variables_pipeline_id_key")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "ci_jobs",
        sa.Column("id", _IDENTIFIER, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("stage_index", sa.BigInteger(), nullable=False),
        sa.Column("run_when", sa.Text(), nullable=False),
        sa.Column("needs", sa.Text(), nullable=True),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("variables", sa.Text(), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("protected", sa.Boolean(), nullable=False),
        sa.Column("interruptible", sa.Boolean(), nullable=False),
        sa.Column("resource_group", sa.Text(), nullable=True),
        sa.Column("environment", sa.Text(), nullable=True),
        sa.Column("timeout", sa.BigInteger(), nullable=True),
        sa.Column("runner_id", _IDENTIFIER, nullable=True),
        sa.Column("erased_by_id", _IDENTIFIER, nullable=True),
        sa.Column("sealed_token", sa.LargeBinary(), nullable=True),
        sa.Column("token_digest", sa.LargeBinary(), nullable=True),
        sa.Column("queued_at", sa.Text(), nullable=True),
        sa.Column("scheduled_at", sa.Text(), nullable=True),
        sa.Column("erased_at", sa.Text(), nullable=True),
        sa.Column("contacted_at", sa.Text(), nullable=True),
        sa.Column("failure_reason", sa.Text(), nullable=True),
        sa.Column("exit_code", sa.BigInteger(), nullable=True),
        sa.Column("cancel_gracefully", sa.Boolean(), nullable=False),
        sa.Column("deployment_id", _IDENTIFIER, nullable=True),
        sa.ForeignKeyConstraint(
            ["deployment_id"], ["deployments.id"], name=op.f("fk_ci_jobs_deployment_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["erased_by_id"], ["users.id"], name=op.f("fk_ci_jobs_erased_by_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["id"], ["commit_statuses.id"], name=op.f("fk_ci_jobs_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_ci_jobs_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["runner_id"], ["runners.id"], name=op.f("fk_ci_jobs_runner_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ci_jobs")),
        sa.UniqueConstraint("token_digest", name=op.f("uq_ci_jobs_token_digest")),
    )
    op.create_index("ix_ci_jobs_deployment_id", "ci_jobs", ["deployment_id"])
    op.create_index("ix_ci_jobs_erased_by_id", "ci_jobs", ["erased_by_id"])
    op.create_index("ix_ci_jobs_project_id", "ci_jobs", ["project_id", "id"])
    op.create_index(
        "ix_ci_jobs_resource_group",
        "ci_jobs",
        ["project_id", "resource_group"],
        sqlite_where=sa.text("resource_group IS NOT NULL"),
        postgresql_where=sa.text("resource_group IS NOT NULL"),
    )
    op.create_index("ix_ci_jobs_runner_id", "ci_jobs", ["runner_id", "id"])
    op.create_index(
        "ix_ci_jobs_scheduled_at",
        "ci_jobs",
        ["scheduled_at"],
        sqlite_where=sa.text("scheduled_at IS NOT NULL"),
        postgresql_where=sa.text("scheduled_at IS NOT NULL"),
    )

    op.create_table(
        "schedule_variables",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("schedule_id", _IDENTIFIER, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("sealed_value", sa.LargeBinary(), nullable=False),
        sa.Column("variable_type", sa.Text(), nullable=False),
        sa.Column("raw", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["schedule_id"],
            ["pipeline_schedules.id"],
            name=op.f("fk_schedule_variables_schedule_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schedule_variables")),
        sa.UniqueConstraint("schedule_id", "key", name=op.f("uq_schedule_variables_schedule_id_key")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "ci_queue",
        sa.Column("job_id", _IDENTIFIER, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("protected", sa.Boolean(), nullable=False),
        sa.Column("queued_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["ci_jobs.id"], name=op.f("fk_ci_queue_job_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_ci_queue_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_ci_queue")),
    )
    op.create_index("ix_ci_queue_project_id", "ci_queue", ["project_id", "job_id"])
    op.create_index("ix_ci_queue_tags", "ci_queue", ["tags", "protected", "project_id", "job_id"])

    op.create_table(
        "ci_running",
        sa.Column("job_id", _IDENTIFIER, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("runner_id", _IDENTIFIER, nullable=True),
        sa.Column("shared_runner", sa.Boolean(), nullable=False),
        sa.Column("deadline", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["ci_jobs.id"], name=op.f("fk_ci_running_job_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_ci_running_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["runner_id"], ["runners.id"], name=op.f("fk_ci_running_runner_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_ci_running")),
    )
    op.create_index("ix_ci_running_deadline", "ci_running", ["deadline"])
    op.create_index(op.f("ix_ci_running_project_id"), "ci_running", ["project_id"])
    op.create_index(op.f("ix_ci_running_runner_id"), "ci_running", ["runner_id"])

    op.create_table(
        "ci_job_variables",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("job_id", _IDENTIFIER, nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("sealed_value", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["ci_jobs.id"], name=op.f("fk_ci_job_variables_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ci_job_variables")),
        sa.UniqueConstraint("job_id", "source", "key", name=op.f("uq_ci_job_variables_job_id_source_key")),
        sqlite_autoincrement=True,
    )

    op.create_table(
        "job_artifacts",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("job_id", _IDENTIFIER, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("file_type", sa.Text(), nullable=False),
        sa.Column("file_format", sa.Text(), nullable=False),
        sa.Column("filename", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("storage_key", sa.Text(), nullable=False),
        sa.Column("public", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("expire_at", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["job_id"], ["ci_jobs.id"], name=op.f("fk_job_artifacts_job_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_job_artifacts_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job_artifacts")),
        sa.UniqueConstraint("job_id", "file_type", name=op.f("uq_job_artifacts_job_id_file_type")),
        sa.UniqueConstraint("storage_key", name=op.f("uq_job_artifacts_storage_key")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_job_artifacts_expire_at",
        "job_artifacts",
        ["expire_at"],
        sqlite_where=sa.text("expire_at IS NOT NULL"),
        postgresql_where=sa.text("expire_at IS NOT NULL"),
    )
    op.create_index("ix_job_artifacts_project_id", "job_artifacts", ["project_id", "id"])

    op.create_table(
        "pipeline_contexts",
        sa.Column("pipeline_id", _IDENTIFIER, nullable=False),
        sa.Column("variables", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["pipeline_id"], ["pipelines.id"], name=op.f("fk_pipeline_contexts_pipeline_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("pipeline_id", name=op.f("pk_pipeline_contexts")),
    )
    op.add_column("ref_intents", sa.Column("push_options", sa.Text(), nullable=True))
    op.add_column("pipelines", sa.Column("before_sha", sa.Text(), nullable=True))
    op.add_column("pipelines", sa.Column("name", sa.Text(), nullable=True))
    op.add_column("pipelines", sa.Column("merge_request_id", sa.BigInteger(), nullable=True))
    op.add_column("pipelines", sa.Column("protected", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("pipelines", sa.Column("on_new_commit", sa.Text(), nullable=True))
    op.add_column("pipelines", sa.Column("on_job_failure", sa.Text(), nullable=True))
    op.add_column("pipelines", sa.Column("origin_key", sa.Text(), nullable=True))
    op.create_index(
        "ix_pipelines_merge_request_id",
        "pipelines",
        ["merge_request_id", "id"],
        sqlite_where=sa.text("merge_request_id IS NOT NULL"),
        postgresql_where=sa.text("merge_request_id IS NOT NULL"),
    )
    op.create_index("uq_pipelines_origin_key", "pipelines", ["origin_key"], unique=True)
