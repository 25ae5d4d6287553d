"""Pipelines in an export, with their jobs and statuses by stage."""

from collections.abc import Iterator, Sequence

from ingot.ci.job_records.tables import ci_jobs
from ingot.import_export.exports.rows import Row, RowReader
from ingot.pipelines.tables import commit_statuses, pipelines

_PIPELINE_COLUMNS = (
    "id",
    "iid",
    "project_id",
    "user_id",
    "sha",
    "before_sha",
    "ref",
    "tag",
    "source",
    "status",
    "duration",
    "yaml_errors",
    "protected",
    "created_at",
    "updated_at",
    "started_at",
    "finished_at",
)
_STATUS_COLUMNS = (
    "id",
    "user_id",
    "name",
    "status",
    "target_url",
    "description",
    "coverage",
    "allow_failure",
    "retried",
    "created_at",
    "updated_at",
    "started_at",
    "finished_at",
)


def pipeline_rows(reader: RowReader, project_id: int) -> Iterator[Row]:
    """Yield the pipelines of a project; variables and traces of jobs, which may contain secrets, are left out."""
    for batch in reader.batches(pipelines, "project_id", project_id):
        statuses = reader.children(commit_statuses, "pipeline_id", [row["id"] for row in batch])
        job_ids = [status["id"] for group in statuses.values() for status in group]
        jobs = reader.by_ids(ci_jobs, job_ids)
        for row in batch:
            yield {
                **{name: row[name] for name in _PIPELINE_COLUMNS},
                "pipeline_metadata": None if row["name"] is None else {"name": row["name"]},
                "stages": _stage_rows(statuses[row["id"]], jobs),
            }


def _stage_rows(statuses: Sequence[Row], jobs: dict[int, Row]) -> list[Row]:
    stages: dict[str, Row] = {}
    for status in statuses:
        name = status["stage"]
        empty: Row = {"name": name, "position": len(stages), "builds": [], "generic_commit_statuses": [], "bridges": []}
        stage = stages.setdefault(name, empty)
        job = jobs.get(status["id"])
        relation = "generic_commit_statuses" if job is None else "bridges" if job["bridge"] else "builds"
        stage[relation].append({name: status[name] for name in _STATUS_COLUMNS})
    return list(stages.values())
