"""Jobs of a project: the list, and the page of a job with its log."""

from collections.abc import Callable
from typing import Any

import msgspec

from ingot.ci.artifacts import api as artifacts_api
from ingot.ci.downstream import api as downstream_api
from ingot.ci.downstream.links import pipeline_of_bridge
from ingot.ci.job_records.views import JobView
from ingot.ci.jobs import api as jobs_api
from ingot.ci.pipelines.summaries import pipeline_summaries
from ingot.ci.runners import api as runners_api
from ingot.core.api.params import number_or_none
from ingot.core.api.routes import ContentResponse
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.core.offload import require_blocking_allowed
from ingot.web.ci.failure_reasons import failure_text
from ingot.web.ci.log import PART_BYTES, LogPart, first_state, log_state_of_query, render_log
from ingot.web.ci.pipelines import ACTIVE_STATUSES, STATUS_TABS, form_variables
from ingot.web.ci.sections import ci_page
from ingot.web.file_response import stream_as_file
from ingot.web.files.uploads import file_response_headers
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import (
    BytesResponse,
    FileResponse,
    LocalRedirect,
    PageResponse,
    PageRoutes,
    TemplateResponse,
    Visit,
    text_field,
)
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()
_FINISHED_STATUSES = ("success", "failed", "canceled", "skipped")
_RETRYABLE_STATUSES = ("success", "failed", "canceled")
_PLAYABLE_STATUSES = ("manual", "scheduled")
_INLINE_BYTES = 64 * 1024
"""Longer logs are rendered in a thread."""
_REFRESH = (b"hx-refresh", b"true")


@pages.get("/:path/-/jobs", open=True)
def show_jobs(visit: Visit) -> PageResponse:
    """List the jobs, newest first, filtered by ``status``."""
    parent = project_context(visit)
    status = text_field(visit.request.query, "status")
    status = status if status in STATUS_TABS else ""
    params: dict[str, Any] = {"page": visit.request.page, "per_page": 30}
    jobs = parent.ask(jobs_api.list_jobs, {**params, "scope": [status]} if status else params)
    return ci_page(parent, "ci/jobs.html", "jobs", {"jobs": jobs, "status": status, "status_tabs": STATUS_TABS})


@pages.get("/:path/-/jobs/:id", open=True)
def show_job(visit: Visit, db: Connection) -> PageResponse:
    """Show a job with its log; show the pipeline of a job that only starts another pipeline."""
    parent = project_context(visit)
    pipeline_id = pipeline_of_bridge(db, parent.project.id, int(_job_id(visit)))
    if pipeline_id is not None:
        parent.ask(downstream_api.list_pipeline_bridges, pipeline_id=pipeline_id)
        return LocalRedirect(f"{parent.url}/-/pipelines/{pipeline_id}")
    return _job_page(parent, db)


@pages.get("/:path/-/jobs/:id/log", open=True)
def show_log_part(visit: Visit) -> PageResponse:
    """Show the lines that a job has written since the last part; reload the page when its status has changed."""
    parent = project_context(visit)
    job = parent.ask(jobs_api.get_job, job_id=_job_id(visit))
    if not visit.headers.fragment:
        return LocalRedirect(_url(parent, job))
    trace = parent.ask(jobs_api.get_trace, job_id=job.id)
    state = log_state_of_query(visit.request.query)
    size = trace.size or 0
    changed = job.status != text_field(visit.request.query, "status") or size < state.offset
    data = b"" if changed else _read(trace, state.offset, min(size, state.offset + PART_BYTES))
    part = render_log(data, state, complete=False)
    context = {"job": job, "log": part, "log_url": f"{_url(parent, job)}/log"}
    return TemplateResponse("ci/_log_part.html", context, headers=[_REFRESH] if changed else [])


@pages.get("/:path/-/jobs/:id/raw", open=True)
def show_raw_log(visit: Visit) -> PageResponse:
    """Return the log as plain text."""
    parent = project_context(visit)
    trace = parent.ask(jobs_api.get_trace, job_id=_job_id(visit))
    headers = file_response_headers(f"job-{_job_id(visit)}.log", shown=True)
    if not trace.size:
        return BytesResponse(b"", trace.content_type, headers)
    return FileResponse(stream_as_file(trace.pieces(0, trace.size)), trace.size, trace.content_type, headers)


@pages.post("/:path/-/jobs/:id/retry", notice="Job retried.")
def retry_job(visit: Visit) -> PageResponse:
    """Run a finished job again."""
    return _change(visit, jobs_api.retry_job)


@pages.post("/:path/-/jobs/:id/cancel", notice="Job canceled.")
def cancel_job(visit: Visit) -> PageResponse:
    """Cancel a job."""
    return _change(visit, jobs_api.cancel_job)


@pages.post("/:path/-/jobs/:id/play", notice="Job started.")
def play_job(visit: Visit) -> PageResponse:
    """Start a manual or delayed job."""
    return _change(visit, jobs_api.play_job, {"job_variables_attributes": form_variables(visit)})


@pages.post("/:path/-/jobs/:id/erase", notice="Job erased.")
def erase_job(visit: Visit) -> PageResponse:
    """Delete the log and the artifacts of a job."""
    return _change(visit, jobs_api.erase_job)


@pages.post("/:path/-/jobs/:id/artifacts/keep", notice="The artifacts are kept.")
def keep_artifacts(visit: Visit) -> PageResponse:
    """Keep the artifacts of a job, which would otherwise expire."""
    return _change(visit, jobs_api.keep_job_artifacts)


def _job_id(visit: Visit) -> str:
    number = visit.request.path["id"]
    if number_or_none(number) is None:
        raise NotFound("Job")
    return number


def _url(parent: ProjectContext, job: JobView) -> str:
    return f"{parent.url}/-/jobs/{job.id}"


def _change(visit: Visit, endpoint: Callable[..., JobView], params: dict[str, Any] | None = None) -> PageResponse:
    """Change a job and show it, or its pipeline if the form was sent from there."""
    parent = project_context(visit)
    try:
        job = parent.ask(endpoint, params, job_id=_job_id(visit))
    except REQUEST_ERRORS as error:
        errors = error_messages(error)
        return visit.database.read(lambda db: _job_page(parent, db, errors))
    if text_field(visit.request.form, "back") == "pipeline":
        return LocalRedirect(f"{parent.url}/-/pipelines/{job.pipeline.id}")
    return LocalRedirect(_url(parent, job))


def _job_page(parent: ProjectContext, db: Connection, errors: list[str] | None = None) -> TemplateResponse:
    visit = parent.visit
    job = parent.ask(jobs_api.get_job, job_id=_job_id(visit))
    summary = pipeline_summaries(db, [job.pipeline.id], visit.request.origin.base)[job.pipeline.id]
    stage = next((stage for stage in summary.stages if stage.name == job.stage), None)
    # A retried job is not among the newest attempts.
    current = next((each for each in stage.jobs if each.name == job.name), None) if stage else None
    may_change = parent.may(jobs_api.retry_job, job_id=job.id)
    is_current = current is not None and current.id == job.id
    log = _log(parent, job)
    is_finished = job.status in _FINISHED_STATUSES
    context: dict[str, Any] = {
        "job": job,
        "pipeline_status": summary.status,
        "stage": stage,
        "current": current,
        "log": log,
        "log_url": f"{_url(parent, job)}/log",
        "failure": failure_text(job.failure_reason) if job.status == "failed" else "",
        "is_stuck": job.status == "pending" and _has_no_runner(parent, job),
        "is_finished": is_finished,
        "is_active": job.status in ACTIVE_STATUSES,
        "has_archive": job.artifacts_file is not msgspec.UNSET
        and parent.may(artifacts_api.get_job_artifacts, job_id=job.id),
        "may_retry": may_change and is_current and job.status in _RETRYABLE_STATUSES,
        "may_cancel": may_change and job.status in ACTIVE_STATUSES,
        "may_play": may_change and job.status in _PLAYABLE_STATUSES,
        "may_change": may_change,
        "may_erase": may_change and is_finished and not job.erased_at and bool(job.artifacts or (log and log.html)),
        "errors": errors or [],
    }
    return ci_page(parent, "ci/job.html", "jobs", context, 422 if errors else 200)


def _has_no_runner(parent: ProjectContext, job: JobView) -> bool:
    """Return whether no runner with the tags of a job is online, as far as the user may see runners."""
    if not parent.may(runners_api.list_project_runners):
        return False
    params: dict[str, Any] = {"status": "online", "paused": False, "per_page": 1}
    if job.tag_list:
        params["tag_list"] = job.tag_list
    return not parent.ask(runners_api.list_project_runners, params).items


def _log(parent: ProjectContext, job: JobView) -> LogPart | None:
    """Return the log of a job, from its beginning or near its end; None if the user may not read it."""
    if not parent.may(jobs_api.get_trace, job_id=job.id):
        return None
    trace = parent.ask(jobs_api.get_trace, job_id=job.id)
    size = trace.size or 0
    if size > _INLINE_BYTES:
        require_blocking_allowed()
    state = first_state(size, trace.pieces)
    return render_log(_read(trace, state.offset, size), state, complete=job.status in _FINISHED_STATUSES)


def _read(trace: ContentResponse, start: int, stop: int) -> bytes:
    return b"".join(trace.pieces(start, stop)) if stop > start else b""
