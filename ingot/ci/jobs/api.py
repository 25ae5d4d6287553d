"""Endpoints of jobs."""

from functools import partial

from ingot.ci.artifacts.queries import artifact_or_none
from ingot.ci.artifacts.service import keep_artifacts
from ingot.ci.job_records.policy import may_change_jobs, may_read_jobs
from ingot.ci.job_records.queries import find_job, job_by_id, variables_of
from ingot.ci.job_records.tables import CiJob
from ingot.ci.job_records.views import JobPlace, JobView, job_view, job_views
from ingot.ci.jobs import policy, queries, service
from ingot.ci.jobs.params import EditResourceGroup, ListJobs, PlayJob
from ingot.ci.jobs.policy import JobSubject
from ingot.ci.jobs.views import ResourceGroupView, resource_group_view
from ingot.ci.pipelines.deploy_permission import may_run_job
from ingot.ci.pipelines.given_variables import require_variables_allowed
from ingot.ci.pipelines.queries import settings_of
from ingot.ci.pipelines.ref_protection import may_run_jobs_of
from ingot.ci.pipelines.service import cancel_job as cancel
from ingot.ci.pipelines.service import retry_job as retry
from ingot.ci.traces.store import trace_store_of
from ingot.core.access.levels import Access
from ingot.core.access.rules import require, signed_in
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, ContentResponse, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import NotFound
from ingot.core.http.content_headers import SANDBOX
from ingot.pipelines.queries import find_pipeline
from ingot.projects.projects.api import project_in_path, repository_store
from ingot.projects.projects.code_access import project_repository
from ingot.projects.projects.policy import may_download_code
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project
from ingot.repositories.context import project_url

routes = Routes("jobs")
_DEBUG_VARIABLES = frozenset({"CI_DEBUG_TRACE", "CI_DEBUG_SERVICES"})


def job_in_path(call: Call) -> tuple[Access, JobSubject]:
    """Find the job in the path; the permission comes first, so that it does not tell which jobs exist."""
    access, project = find_project(call.db, call.actor, call.path["id"])
    require(may_read_jobs(call.actor, access, project))
    job = find_job(call.db, project.id, path_number(call.path, "job_id"))
    if job.bridge:  # It has neither a trace nor files.
        raise NotFound("Job")
    debugs = any(each.key in _DEBUG_VARIABLES and each.value == "true" for each in variables_of(job))
    return access, JobSubject(project, access, job, debugs=debugs)


def job_to_change(call: Call) -> tuple[Access, JobSubject]:
    """Find the job in the path with the permission to run jobs on its branch or tag."""
    access, project = find_project(call.db, call.actor, call.path["id"])
    require(may_change_jobs(call.actor, access, project))
    job = find_job(call.db, project.id, path_number(call.path, "job_id"))
    pipeline = find_pipeline(call.db, project.id, job.pipeline_id)
    open_ref = may_run_jobs_of(call.db, call.actor, access, project, pipeline)
    return access, JobSubject(project, access, job, open_ref)


def job_to_run(call: Call) -> tuple[Access, JobSubject]:
    """Find the job in the path with the permission to start or retry it."""
    access, project = find_project(call.db, call.actor, call.path["id"])
    require(may_read_jobs(call.actor, access, project))
    job = find_job(call.db, project.id, path_number(call.path, "job_id"))
    pipeline = find_pipeline(call.db, project.id, job.pipeline_id)
    runnable = may_run_job(call.db, call.actor, access, project, pipeline, job)
    return access, JobSubject(project, access, job, runnable=runnable)


def _place(call: Call, access: Access, project: Project) -> JobPlace:
    """Return the project of jobs for their views; callers who may not read the code see no commits."""
    readable = may_download_code(call.actor, access, project)
    repository = project_repository(repository_store(call.settings), project) if readable else None
    scope = settings_of(call.db, project.id).job_token_scope_enabled
    return JobPlace(project_url(call, project), call.origin.base, repository, job_token_scope=scope)


def _view(call: Call, subject: JobSubject, job: CiJob) -> JobView:
    return job_view(call.db, job, _place(call, subject.access, subject.project))


@routes.get("/projects/:id/jobs", on=project_in_path, may=may_read_jobs, returns=list[JobView])
def list_jobs(call: Call, project: Project, params: ListJobs, page: Page) -> Listing[JobView]:
    """List the jobs of a project, newest first."""
    listing = queries.list_jobs(call.db, project.id, params.scope, page)
    return listing.of(job_views(call.db, listing.items, _place(call, call.access, project)))


@routes.get("/projects/:id/jobs/:job_id", on=job_in_path, may=policy.may_read_job, returns=JobView)
def get_job(call: Call, subject: JobSubject) -> JobView:
    """Get a job."""
    return _view(call, subject, subject.job)


@routes.get("/job", may=signed_in, returns=JobView, job_token=True)
def get_job_of_token(call: Call) -> JobView:
    """Get the job whose token authenticates the call."""
    identity = call.actor.job
    job = None if identity is None else job_by_id(call.db, identity.id)
    if job is None:
        raise NotFound("Job")
    access, project = find_project(call.db, call.actor, job.project_id)
    return job_view(call.db, job, _place(call, access, project))


@routes.get("/projects/:id/jobs/:job_id/trace", on=job_in_path, may=policy.may_read_trace, returns=ContentResponse)
def get_trace(call: Call, subject: JobSubject) -> ContentResponse:
    """Get the output of a job, or a range of it; a running job appends to it."""
    job, traces = subject.job, trace_store_of(call.settings)
    size = 0 if job.erased_at is not None else traces.size(job.id)
    disposition = (b"content-disposition", b'infile; filename="%d.log"' % job.id)
    return ContentResponse(
        f'W/"{job.id}-{size}"',
        size,
        partial(traces.pieces, job.id),
        "text/plain; charset=utf-8",
        (disposition, SANDBOX),
        None if size else b"",
    )


@routes.post("/projects/:id/jobs/:job_id/cancel", on=job_to_change, may=policy.may_change_job, returns=JobView)
def cancel_job(call: Call, subject: JobSubject) -> JobView:
    """Cancel a job."""
    cancel(call.db, subject.job)
    return _view(call, subject, find_job(call.db, subject.project.id, subject.job.id))


@routes.post("/projects/:id/jobs/:job_id/retry", on=job_to_run, may=policy.may_run_job, returns=JobView)
def retry_job(call: Call, subject: JobSubject) -> JobView:
    """Run a finished job again."""
    return _view(call, subject, retry(call.db, call.actor, subject.job))


@routes.post("/projects/:id/jobs/:job_id/play", on=job_to_run, may=policy.may_run_job, returns=JobView, status=200)
def play_job(call: Call, subject: JobSubject, params: PlayJob) -> JobView:
    """Start a manual or delayed job."""
    variables = params.job_variables_attributes or []
    if variables:
        require_variables_allowed(call.db, call.actor.user_id, subject.project)
    return _view(call, subject, service.play_with_variables(call.db, call.actor, subject.job, variables))


@routes.post("/projects/:id/jobs/:job_id/erase", on=job_to_change, may=policy.may_change_job, returns=JobView)
def erase_job(call: Call, subject: JobSubject) -> JobView:
    """Delete the files and the trace of a job."""
    erased = service.erase_job(call.db, call.actor, subject.job, trace_store_of(call.settings))
    return _view(call, subject, erased)


@routes.post(
    "/projects/:id/jobs/:job_id/artifacts/keep",
    on=job_to_change,
    may=policy.may_change_job,
    returns=JobView,
    status=200,
)
def keep_job_artifacts(call: Call, subject: JobSubject) -> JobView:
    """Keep the files of a job, which would otherwise expire."""
    if artifact_or_none(call.db, subject.job.id) is None:
        raise NotFound(message="404 Not found")
    keep_artifacts(call.db, subject.job)
    return _view(call, subject, subject.job)


@routes.get(
    "/projects/:id/resource_groups",
    on=project_in_path,
    may=policy.may_read_resource_groups,
    returns=list[ResourceGroupView],
)
def list_resource_groups(call: Call, project: Project, page: Page) -> Listing[ResourceGroupView]:
    """List the resource groups of a project."""
    listing = queries.list_resource_groups(call.db, project.id, page)
    return listing.of([resource_group_view(group) for group in listing.items])


@routes.get(
    "/projects/:id/resource_groups/:key",
    on=project_in_path,
    may=policy.may_read_resource_groups,
    returns=ResourceGroupView,
)
def get_resource_group(call: Call, project: Project) -> ResourceGroupView:
    """Get a resource group."""
    return resource_group_view(queries.find_resource_group(call.db, project.id, call.path["key"]))


@routes.put(
    "/projects/:id/resource_groups/:key",
    on=project_in_path,
    may=may_change_jobs,
    returns=ResourceGroupView,
)
def edit_resource_group(call: Call, project: Project, params: EditResourceGroup) -> ResourceGroupView:
    """Change the order in which the jobs of a resource group run."""
    group = queries.find_resource_group(call.db, project.id, call.path["key"])
    return resource_group_view(service.edit_resource_group(call.db, group, params))


@routes.get(
    "/projects/:id/resource_groups/:key/upcoming_jobs",
    on=project_in_path,
    may=policy.may_read_resource_groups,
    returns=list[JobView],
)
def list_upcoming_jobs(call: Call, project: Project, page: Page) -> Listing[JobView]:
    """List the jobs that wait for a resource group."""
    group = queries.find_resource_group(call.db, project.id, call.path["key"])
    listing = queries.list_upcoming_jobs(call.db, group, page)
    return listing.of(job_views(call.db, listing.items, _place(call, call.access, project)))
