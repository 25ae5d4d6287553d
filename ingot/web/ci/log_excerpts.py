"""Ends of the logs of failed jobs, for the list of failures."""

from collections.abc import Sequence

from ingot.ci.job_records.views import JobView
from ingot.ci.jobs import api as jobs_api
from ingot.web.ci.log import last_lines
from ingot.web.projects.context import ProjectContext

_EXCERPT_BYTES = 16 * 1024
_EXCERPT_LINES = 15


def failed_job_excerpts(parent: ProjectContext, jobs: Sequence[JobView]) -> dict[int, str]:
    """Return the last lines of the logs that the user may read, by job id; external statuses have none."""
    excerpts: dict[int, str] = {}
    for job in jobs:
        if is_own_job(parent, job) and parent.may(jobs_api.get_trace, job_id=job.id):
            trace = parent.ask(jobs_api.get_trace, job_id=job.id)
            size = trace.size or 0
            data = b"".join(trace.pieces(max(size - _EXCERPT_BYTES, 0), size)) if size else b""
            excerpts[job.id] = last_lines(data, _EXCERPT_LINES)
    return excerpts


def is_own_job(parent: ProjectContext, job: JobView) -> bool:
    """Return whether a job runs here; external statuses are listed in the format of jobs."""
    return job.web_url == f"{parent.project.web_url}/-/jobs/{job.id}"
