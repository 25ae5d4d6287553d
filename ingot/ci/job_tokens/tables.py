"""Table of the projects and groups whose job tokens may access a project."""

from sqlalchemy import Table, UniqueConstraint

from ingot.core.db.schema import metadata, reference, row_id, text

job_token_allowances = Table(
    "job_token_allowances",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    # "project 1" or "group 2": unique constraints ignore rows with a NULL id.
    text("place"),
    reference("allowed_project_id", "projects.id", nullable=True, index=True),
    reference("allowed_group_id", "namespaces.id", nullable=True, index=True),
    text("created_at"),
    UniqueConstraint("project_id", "place"),
    sqlite_autoincrement=True,
)
