"""Mutations of pipelines and jobs."""

from typing import Any

from ingot.graphql.context import QueryContext
from ingot.graphql.families.ci import JOB_MODELS, PIPELINE_MODELS
from ingot.graphql.global_ids import number_of
from ingot.graphql.locators import job_project, pipeline_project
from ingot.graphql.mutations.inputs import Input
from ingot.graphql.resolvers import Resolvers

resolvers = Resolvers()
_JOB_IDS = (*JOB_MODELS, "Ci::Processable")


@resolvers.mutation("pipelineCreate")
def create_pipeline(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Run a pipeline for a branch or tag."""
    params: dict[str, Any] = {"ref": sent["ref"]}
    if sent.get("variables"):
        params["variables"] = [{"key": each["key"], "value": each["value"]} for each in sent["variables"]]
    return {"pipeline": context.call("POST /projects/:id/pipeline", params, id=sent["projectPath"])}


def _pipeline_call(context: QueryContext, sent: Input, method: str, action: str = "") -> Any:
    number = number_of(sent["id"], *PIPELINE_MODELS)
    path = {"id": pipeline_project(context, number), "pipeline_id": number}
    context.call("GET /projects/:id/pipelines/:pipeline_id", **path)
    return context.call(f"{method} /projects/:id/pipelines/:pipeline_id{action}", **path)


@resolvers.mutation("pipelineCancel")
def cancel_pipeline(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Cancel the jobs of a pipeline."""
    _pipeline_call(context, sent, "POST", "/cancel")
    return {}


@resolvers.mutation("pipelineRetry")
def retry_pipeline(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Run the failed jobs of a pipeline again."""
    return {"pipeline": _pipeline_call(context, sent, "POST", "/retry")}


@resolvers.mutation("pipelineDestroy")
def destroy_pipeline(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Delete a pipeline."""
    _pipeline_call(context, sent, "DELETE")
    return {}


def _job_call(context: QueryContext, sent: Input, action: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    number = number_of(sent["id"], *_JOB_IDS)
    path = {"id": job_project(context, number), "job_id": number}
    return {"job": context.call(f"POST /projects/:id/jobs/:job_id/{action}", params, **path)}


@resolvers.mutation("jobArtifactsDestroy")
def destroy_job_artifacts(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Delete the artifacts of a job."""
    number = number_of(sent["id"], *_JOB_IDS)
    path = {"id": job_project(context, number), "job_id": number}
    before = context.call("GET /projects/:id/jobs/:job_id", **path)
    context.call("DELETE /projects/:id/jobs/:job_id/artifacts", **path)
    job = context.call("GET /projects/:id/jobs/:job_id", **path)
    return {"job": job, "destroyed_artifacts_count": len(before.artifacts) - len(job.artifacts)}


@resolvers.mutation("jobCancel")
def cancel_job(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Cancel a job."""
    return _job_call(context, sent, "cancel")


@resolvers.mutation("jobRetry")
def retry_job(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Run a job again."""
    return _job_call(context, sent, "retry")


@resolvers.mutation("jobPlay")
def play_job(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Start a manual job."""
    variables = [{"key": each["key"], "value": each["value"]} for each in sent.get("variables") or []]
    return _job_call(context, sent, "play", {"job_variables_attributes": variables} if variables else None)
