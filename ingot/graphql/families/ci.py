"""Pipelines and jobs."""

from collections.abc import Sequence
from html import escape
from typing import Any
from urllib.parse import urlsplit

import msgspec

from ingot.ci.job_records.views import JobView
from ingot.graphql.connections import ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import number_of, to_global_id
from ingot.graphql.loaders import load_projects
from ingot.graphql.locators import job_project
from ingot.graphql.resolvers import Arguments, Resolvers
from ingot.pipelines.views import PipelineBrief, PipelineView

resolvers = Resolvers()
PIPELINE_MODELS = ("Ci::Pipeline",)
JOB_MODELS = ("Ci::Build", "Ci::Bridge", "CommitStatus")
_RUNNING = ("created", "waiting_for_resource", "preparing", "pending", "running")
_ROUTE = "/projects/:id/pipelines/:pipeline_id"
_MAX_TRACE_BYTES = 500_000


class Stage(msgspec.Struct):
    """Jobs of one stage of a pipeline."""

    pipeline: PipelineBrief
    name: str
    jobs: list[JobView]


@resolvers.single("Project.pipelines")
def list_pipelines(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the pipelines of a project."""
    params = {name: arguments.get(name) for name in ("ref", "sha", "source", "username")}
    params |= {"updated_after": arguments.get("updatedAfter"), "updated_before": arguments.get("updatedBefore")}
    params |= {name: arguments[name].lower() for name in ("scope", "status") if arguments.get(name)}
    return listed(context, "GET /projects/:id/pipelines", arguments, params, id=project.id)


@resolvers.single("Project.pipeline")
def find_pipeline(context: QueryContext, project: Any, arguments: Arguments) -> Any:
    """Return a pipeline by its id, number or commit."""
    if arguments.get("id") is not None:
        pipeline_id = number_of(arguments["id"], *PIPELINE_MODELS)
        return context.call(f"GET {_ROUTE}", id=project.id, pipeline_id=pipeline_id)
    if arguments.get("sha"):
        found = context.call(
            "GET /projects/:id/pipelines", {"sha": arguments["sha"], "per_page": 1}, id=project.id
        ).items
        return found[0] if found else None
    for number in range(1, 11):
        page = context.call("GET /projects/:id/pipelines", {"per_page": 100, "page": number}, id=project.id).items
        for pipeline in page:
            if str(pipeline.iid) == arguments.get("iid"):
                return pipeline
        if len(page) < 100:
            break
    return None


def _detail(context: QueryContext, pipeline: Any) -> Any:
    """Return a pipeline with the fields that lists leave out."""
    if isinstance(pipeline, PipelineView):
        return pipeline
    path = {"id": pipeline.project_id, "pipeline_id": pipeline.id}
    found = context.load("pipelines", [pipeline.id], lambda _: {pipeline.id: context.call(f"GET {_ROUTE}", **path)})
    return found[pipeline.id]


def _detail_field(field: str, attribute: str) -> None:
    @resolvers.single(f"Pipeline.{field}", call="GET pipeline")
    def detail_field(context: QueryContext, pipeline: Any, _: Arguments) -> Any:
        """Return a field that lists leave out."""
        value = getattr(_detail(context, pipeline), attribute)
        return None if value == "" else value


for _field, _attribute in {
    "beforeSha": "before_sha",
    "committedAt": "committed_at",
    "coverage": "coverage",
    "detailedStatus": "detailed_status",
    "duration": "duration",
    "finishedAt": "finished_at",
    "mergeRequestEventType": "merge_request_event_type",
    "name": "name",
    "queuedDuration": "queued_duration",
    "startedAt": "started_at",
    "user": "user",
    "yamlErrorMessages": "yaml_errors",
}.items():
    _detail_field(_field, _attribute)


@resolvers.single("Pipeline.yamlErrors", call="GET pipeline")
def has_yaml_errors(context: QueryContext, pipeline: Any, _: Arguments) -> bool:
    """Return whether the configuration is not valid."""
    return bool(_detail(context, pipeline).yaml_errors)


@resolvers.value("Pipeline.id")
def pipeline_id(_: QueryContext, pipeline: Any) -> str:
    """Return the global id."""
    return to_global_id("Ci::Pipeline", pipeline.id)


@resolvers.value("Pipeline.path")
def pipeline_path(_: QueryContext, pipeline: Any) -> str:
    """Return the path of the page."""
    return urlsplit(str(pipeline.web_url)).path


@resolvers.value("Pipeline.active", "Pipeline.cancelable", "CiJob.active", "CiJob.cancelable")
def is_active(_: QueryContext, subject: Any) -> bool:
    """Return whether a pipeline or job has not ended."""
    return subject.status in _RUNNING


@resolvers.value("Pipeline.complete")
def is_complete(_: QueryContext, pipeline: Any) -> bool:
    """Return whether a pipeline has ended."""
    return pipeline.status in ("success", "failed", "canceled", "skipped")


@resolvers.value("Pipeline.retryable", "CiJob.retryable")
def is_retryable(_: QueryContext, subject: Any) -> bool:
    """Return whether a pipeline or job can be run again."""
    return subject.status in ("failed", "canceled") or (isinstance(subject, JobView) and subject.status == "success")


@resolvers.batch("Pipeline.project")
def pipeline_projects(context: QueryContext, pipelines: Sequence[Any], _: Arguments) -> list[Any]:
    """Return the projects of pipelines."""
    found = load_projects(context, {pipeline.project_id for pipeline in pipelines})
    return [found[pipeline.project_id] for pipeline in pipelines]


@resolvers.batch("CiJob.project")
def job_projects(context: QueryContext, jobs: Sequence[JobView], _: Arguments) -> list[Any]:
    """Return the projects of jobs."""
    found = load_projects(context, {job.pipeline.project_id for job in jobs})
    return [found[job.pipeline.project_id] for job in jobs]


@resolvers.single("Pipeline.commit")
def pipeline_commit(context: QueryContext, pipeline: Any, _: Arguments) -> Any:
    """Return the commit of a pipeline."""
    return context.call("GET /projects/:id/repository/commits/:sha", id=pipeline.project_id, sha=pipeline.sha)


def _jobs(context: QueryContext, pipeline: Any) -> list[JobView]:
    """Return the jobs of a pipeline, up to 1,000, the first one first."""
    jobs: list[JobView] = []
    path = {"id": pipeline.project_id, "pipeline_id": pipeline.id}
    for number in range(1, 11):
        page = context.call(f"GET {_ROUTE}/jobs", {"page": number, "per_page": 100}, **path).items
        jobs += page
        if len(page) < 100:
            break
    return sorted(jobs, key=lambda job: job.id)


@resolvers.single("Pipeline.jobs")
def list_pipeline_jobs(context: QueryContext, pipeline: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the jobs of a pipeline."""
    params = {"scope": _statuses(arguments), "include_retried": arguments.get("retried")}
    path = {"id": pipeline.project_id, "pipeline_id": pipeline.id}
    return listed(context, f"GET {_ROUTE}/jobs", arguments, params, **path)


def _statuses(arguments: Arguments) -> list[str] | None:
    return [status.lower() for status in arguments.get("statuses") or []] or None


@resolvers.single("Pipeline.job")
def find_pipeline_job(context: QueryContext, pipeline: Any, arguments: Arguments) -> Any:
    """Return a job of a pipeline by its id or name."""
    wanted = number_of(arguments["id"], *JOB_MODELS) if arguments.get("id") is not None else None
    return next(
        (
            job
            for job in _jobs(context, pipeline)
            if job.id == wanted or (wanted is None and job.name == arguments.get("name"))
        ),
        None,
    )


@resolvers.single("Pipeline.stages")
def list_stages(context: QueryContext, pipeline: Any, arguments: Arguments) -> ConnectionPage:
    """Return the stages of a pipeline in the order of their jobs."""
    stages: dict[str, Stage] = {}
    for job in _jobs(context, pipeline):
        stages.setdefault(job.stage, Stage(pipeline, job.stage, [])).jobs.append(job)
    return connection_of(list(stages.values()), arguments)


@resolvers.value("CiStage.id")
def stage_id(_: QueryContext, stage: Stage) -> str:
    """Return the global id; stages are identified by pipeline and name."""
    return to_global_id("Ci::Stage", f"{stage.pipeline.id}-{stage.name}")


@resolvers.value("CiStage.status")
def stage_status(_: QueryContext, stage: Stage) -> str:
    """Return the status that the jobs of a stage have together."""
    statuses = [job.status for job in stage.jobs if not (job.allow_failure and job.status == "failed")]
    for status in ("failed", "running", "pending", "canceled", "manual", "created", "skipped"):
        if status in statuses:
            return status
    return "success"


@resolvers.value("CiStage.detailedStatus")
def stage_detailed_status(context: QueryContext, stage: Stage) -> dict[str, Any]:
    """Return the status as it is displayed."""
    return _displayed(stage_status(context, stage))


@resolvers.value("CiJob.detailedStatus")
def job_detailed_status(_: QueryContext, job: JobView) -> dict[str, Any]:
    """Return the status as it is displayed."""
    return _displayed(job.status) | {"details_path": _job_path(job), "has_details": True}


def _displayed(status: str) -> dict[str, Any]:
    return {
        "icon": f"status_{status}",
        "text": status,
        "label": status,
        "group": status,
        "tooltip": status,
        "name": status,
    }


@resolvers.value("DetailedStatus.id")
def status_id(_: QueryContext, status: Any) -> str:
    """Return a text that identifies a status."""
    return str(status["group"] if isinstance(status, dict) else status.group)


@resolvers.value("DetailedStatus.name")
def status_name(context: QueryContext, status: Any) -> str:
    """Return the name of a status."""
    return status_id(context, status).upper()


@resolvers.batch("CiStage.jobs")
def list_stage_jobs(_: QueryContext, stages: Sequence[Stage], arguments: Arguments) -> list[ConnectionPage]:
    """Return the jobs of stages."""
    return [connection_of(stage.jobs, arguments) for stage in stages]


@resolvers.single("Project.jobs")
def list_jobs(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the jobs of a project."""
    return listed(context, "GET /projects/:id/jobs", arguments, {"scope": _statuses(arguments)}, id=project.id)


@resolvers.single("Project.job")
def find_job(context: QueryContext, project: Any, arguments: Arguments) -> Any:
    """Return a job of a project."""
    job_id = number_of(arguments["id"], *JOB_MODELS)
    return context.call("GET /projects/:id/jobs/:job_id", id=project.id, job_id=job_id)


def job_by_id(context: QueryContext, job_id: int) -> Any:
    """Return a job that the caller may see."""
    return context.call("GET /projects/:id/jobs/:job_id", id=job_project(context, job_id), job_id=job_id)


resolvers.rename("CiJob", createdByTag="tag", refName="ref", tags="tag_list", failureMessage="failure_reason")


@resolvers.value("CiJob.id")
def job_global_id(_: QueryContext, job: JobView) -> str:
    """Return the global id."""
    return to_global_id("Ci::Build", job.id)


@resolvers.value("CiJob.kind")
def job_kind(_: QueryContext, __: JobView) -> str:
    """Return the kind; bridges are not listed with jobs."""
    return "BUILD"


@resolvers.value("CiJob.manualJob", "CiJob.playable", "CiJob.canPlayJob")
def is_manual(_: QueryContext, job: JobView) -> bool:
    """Return whether a job waits for a user who starts it."""
    return job.status == "manual"


@resolvers.value("CiJob.scheduled")
def is_scheduled(_: QueryContext, job: JobView) -> bool:
    """Return whether a job starts later."""
    return job.status == "scheduled"


@resolvers.value("CiJob.shortSha")
def job_sha(_: QueryContext, job: JobView) -> str:
    """Return the first characters of the commit id."""
    return job.pipeline.sha[:8]


@resolvers.value("CiJob.webPath")
def job_path(_: QueryContext, job: JobView) -> str:
    """Return the path of the page."""
    return _job_path(job)


def _job_path(job: JobView) -> str:
    return urlsplit(job.web_url or "").path


@resolvers.value("CiJob.duration")
def job_duration(_: QueryContext, job: JobView) -> int | None:
    """Return the duration in whole seconds."""
    return None if job.duration is None else int(job.duration)


@resolvers.value("CiJob.stage")
def job_stage(_: QueryContext, job: JobView) -> Stage:
    """Return the stage of a job; of its jobs, it contains only this one."""
    return Stage(job.pipeline, job.stage, [job])


@resolvers.batch("CiJob.artifacts")
def list_artifacts(_: QueryContext, jobs: Sequence[JobView], arguments: Arguments) -> list[ConnectionPage]:
    """Return the artifacts of jobs."""
    return [
        connection_of(
            [
                {
                    "file_type": artifact.file_type,
                    "name": artifact.filename,
                    "size": artifact.size,
                    "expire_at": job.artifacts_expire_at,
                    "download_path": f"{_job_path(job)}/artifacts/download?file_type={artifact.file_type}",
                }
                for artifact in job.artifacts
            ],
            arguments,
        )
        for job in jobs
    ]


@resolvers.value("CiJob.trace")
def job_trace(_: QueryContext, job: JobView) -> JobView:
    """Return the job as the parent of its trace."""
    return job


@resolvers.single("CiJobTrace.htmlSummary")
def trace_summary(context: QueryContext, job: JobView, arguments: Arguments) -> str:
    """Return the last lines of the trace as escaped text."""
    path = {"id": job.pipeline.project_id, "job_id": job.id}
    trace = context.call("GET /projects/:id/jobs/:job_id/trace", **path)
    size = trace.size or 0
    start = max(0, size - _MAX_TRACE_BYTES)
    content = trace.body[start:] if trace.body is not None else b"".join(trace.pieces(start, size))
    lines = content.decode("utf-8", "replace").splitlines()
    return escape("\n".join(lines[-max(1, min(arguments.get("lastLines") or 10, 100)) :]))


@resolvers.value("Pipeline.userPermissions", "CiJob.userPermissions")
def find_permissions(_: QueryContext, subject: Any) -> Any:
    """Return a pipeline or job as the parent of its permissions."""
    return subject


def _permission(field: str, route: str) -> None:
    @resolvers.single(field)
    def may_call(context: QueryContext, subject: Any, _: Arguments) -> bool:
        """Return whether the endpoint of an action allows it to the caller."""
        if isinstance(subject, JobView):
            return context.allows(route, id=subject.pipeline.project_id, job_id=subject.id)
        return context.allows(route, id=subject.project_id, pipeline_id=subject.id)


for _field, _permitted in {
    "PipelinePermissions.destroyPipeline": f"DELETE {_ROUTE}",
    "PipelinePermissions.updatePipeline": f"POST {_ROUTE}/retry",
    "PipelinePermissions.cancelPipeline": f"POST {_ROUTE}/cancel",
    "JobPermissions.cancelBuild": "POST /projects/:id/jobs/:job_id/cancel",
    "JobPermissions.readBuild": "GET /projects/:id/jobs/:job_id",
    "JobPermissions.readJobArtifacts": "GET /projects/:id/jobs/:job_id/artifacts",
    "JobPermissions.updateBuild": "POST /projects/:id/jobs/:job_id/retry",
}.items():
    _permission(_field, _permitted)
