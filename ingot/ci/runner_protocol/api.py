"""Endpoints of the protocol of runners."""

import re
from functools import partial
from typing import NamedTuple

from ingot.ci.job_records.tables import CiJob
from ingot.ci.runner_protocol.assignment import (
    JobOffer,
    append_to_trace,
    finish_execution,
    note_first_report,
    replace_trace,
    request_job,
)
from ingot.ci.runner_protocol.params import AppendTrace, ListRunnerJobs, RequestJob, UpdateJob
from ingot.ci.runner_protocol.payload import JobPayload
from ingot.ci.runner_protocol.queries import EXECUTED, find_executed_job, list_runner_jobs
from ingot.ci.runner_protocol.views import RunnerJobView, runner_job_views
from ingot.ci.runners.api import runner_in_path
from ingot.ci.runners.policy import may_see_runner_jobs
from ingot.ci.runners.queries import online_since
from ingot.ci.runners.service import note_contact
from ingot.ci.runners.tables import Runner
from ingot.ci.traces.store import TraceOffsetMismatch, trace_store_of
from ingot.core.access.rules import anyone
from ingot.core.access.scopes import READ_RUNNER_SCOPES
from ingot.core.api.params import path_number
from ingot.core.api.request_fields import read_body
from ingot.core.api.routes import BodyContext, Call, RawResponse, Routes, StagedCall
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Denied, Invalid
from ingot.core.http.request import Header
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.views import instance_urls

routes = Routes("runner_protocol")
LAST_UPDATE_HEADER = b"x-gitlab-last-update"
UPDATE_SECONDS = 3
"""Interval in which runners send output."""
_MAX_POLL_BYTES = 256 * 1024
_MAX_PART_BYTES = 16 * 2**20
_RANGE = re.compile(rb"\s*([0-9]{1,15})-([0-9]{1,15})\s*")
_JSON = "application/json"


def no_job_response(offer: JobOffer) -> RawResponse:
    """Return the response to a runner for which there is no job."""
    return RawResponse(b"", headers=((LAST_UPDATE_HEADER, b"%d" % offer.version),), status=204)


@routes.post(
    "/jobs/request",
    may=anyone,
    runner_call=True,
    rate_limited=False,
    staged=True,
    body_limit=_MAX_POLL_BYTES,
    returns=JobPayload,
    instead={204: None},
)
def request_next_job(stage: StagedCall, params: RequestJob) -> JobPayload | RawResponse:
    """Get the next job for a runner."""
    offer = request_job(stage.database, repository_store(stage.settings), params, stage.origin.base)
    contacted_at = offer.runner.contacted_at
    if contacted_at is None or contacted_at <= online_since(stage.database.clock()):
        # Later contacts are written in the background.
        note = partial(note_contact, runner_id=offer.runner.id, info=params.info, ip=stage.origin.ip)
        stage.database.write(partial(note, system_id=params.system_id))
    return offer.payload or no_job_response(offer)


class TracePart(NamedTuple):
    """Output of a job."""

    job: CiJob
    offset: int
    data: bytes


async def _read_part(context: BodyContext) -> TracePart:
    """Read a part of a trace, after the job was found by its token."""
    find = partial(find_executed_job, job_id=path_number(context.path, "id"), token=context.params.token)
    job = await context.read(find)
    if b"content-range" not in context.headers:
        raise Invalid("400 Missing header Content-Range")
    given = _RANGE.fullmatch(context.headers[b"content-range"])
    if given is None:
        raise Invalid("400 Invalid header Content-Range")
    context.charge.anonymous = False
    pieces = []
    async for piece in read_body(context.receive, context.headers, _MAX_PART_BYTES):
        await context.charge.add(len(piece))
        pieces.append(piece)
    return TracePart(job, int(given[1]), b"".join(pieces))


@routes.patch(
    "/jobs/:id/trace",
    may=anyone,
    runner_call=True,
    rate_limited=False,
    staged=True,
    read_body=_read_part,
    returns=RawResponse,
    status=202,
)
def append_trace(stage: StagedCall, params: AppendTrace, part: TracePart) -> RawResponse:
    """Append output to the trace of a job."""
    job = part.job
    if job.status == "success":
        raise Denied("Job is not running")
    note_first_report(stage.database, job)
    try:
        traces = trace_store_of(stage.settings)
        size = append_to_trace(stage.database, traces, job, params.token or "", part.offset, part.data)
    except TraceOffsetMismatch as mismatch:
        headers = _job_headers(job, mismatch.size)
        return RawResponse(b'{"message":"416 Range Not Satisfiable"}', _JSON, headers, status=416)
    return RawResponse(b"", headers=_job_headers(job, size))


@routes.put("/jobs/:id", may=anyone, runner_call=True, rate_limited=False, staged=True, returns=RawResponse)
def update_job(stage: StagedCall, params: UpdateJob) -> RawResponse:
    """Report the state of a job: that it is still running, or how it has ended."""
    job_id = path_number(stage.path, "id")
    job = stage.database.read(partial(find_executed_job, job_id=job_id, token=params.token))
    traces = trace_store_of(stage.settings)
    if params.trace is not None and job.status in EXECUTED:
        replace_trace(stage.database, traces, job, params.token or "", params.trace)
    if params.state in ("success", "failed"):
        size = traces.size(job.id)
        if params.output is not None and (params.output.bytesize or 0) > size:
            # The runner then sends the missing part.
            return RawResponse(b'{"message":"412 Precondition Failed"}', _JSON, _job_headers(job, size), status=412)
        job = finish_execution(stage.database, traces, job, params)
    else:
        note_first_report(stage.database, job)
    return RawResponse(b"200", headers=_job_headers(job, None))


def _job_headers(job: CiJob, size: int | None) -> tuple[Header, ...]:
    headers: list[Header] = [
        (b"job-status", job.status.encode()),
        (b"x-gitlab-trace-update-interval", b"%d" % UPDATE_SECONDS),
    ]
    # Not the last byte: runners continue at the number after the dash.
    return (*headers, (b"range", b"0-%d" % size)) if size is not None else tuple(headers)


@routes.get(
    "/runners/:id/jobs",
    on=runner_in_path,
    may=may_see_runner_jobs,
    returns=list[RunnerJobView],
    scopes=READ_RUNNER_SCOPES,
)
def list_jobs_of_runner(call: Call, runner: Runner, params: ListRunnerJobs, page: Page) -> Listing[RunnerJobView]:
    """List the jobs that a runner executes or has executed."""
    listing = list_runner_jobs(call.db, call.actor, runner, params, page)
    return listing.of(runner_job_views(call.db, listing.items, instance_urls(call.db, call.origin, call.settings)))


@routes.get(
    "/runners/router/discovery", may=anyone, runner_call=True, returns=None, instead={501: None}, rate_limited=False
)
def discover_job_router(call: Call) -> RawResponse:  # noqa: ARG001 - Every handler gets its call.
    """Tell runners that there is no job router, so that they poll."""
    return RawResponse(b'{"message":"501 Not Implemented"}', _JSON, status=501)
