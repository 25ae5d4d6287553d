"""Rename the kinds of jobs."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

_KINDS = {
    "tidy project": "housekeep_project",
    "measure project": "update_project_statistics",
    "remove project": "remove_project",
    "sweep repositories": "sweep_repositories",
    "sweep uploads": "sweep_uploads",
    "sweep lfs": "sweep_lfs",
    "copy project": "copy_fork",
    "import project": "import_project",
    "settle changes": "reconcile_ref_changes",
    "settle HEAD": "reconcile_head",
    "mail pushes": "mail_pushes",
    "tell jira": "notify_jira",
    "read commits": "process_commit_messages",
    "merge when the pipeline has succeeded": "auto_merge",
    "remove a branch that was merged": "remove_source_branch",
    "collect versions": "complete_diff_versions",
    "check directory": "check_directory",
}


def upgrade() -> None:
    """Rename the kinds of waiting jobs, and the unique keys that begin with a kind.

    Recurring jobs were named after functions that have moved. Their rows are deleted; the next worker
    inserts them again.
    """
    jobs = sa.table("jobs", sa.column("kind"), sa.column("unique_key"))
    for old, new in _KINDS.items():
        op.execute(jobs.update().where(jobs.c.kind == old).values(kind=new))
        renamed = sa.literal(new) + sa.func.substr(jobs.c.unique_key, len(old) + 1)
        op.execute(
            jobs.update().where(jobs.c.kind == new, jobs.c.unique_key.startswith(old)).values(unique_key=renamed)
        )
    op.execute(jobs.delete().where(jobs.c.kind.startswith("recurring:")))
    op.execute(sa.table("recurring_jobs").delete())
