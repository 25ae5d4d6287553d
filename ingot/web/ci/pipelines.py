"""Pipelines of a project: the list, one pipeline with its jobs and tests, and the form for a new one."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ingot.ci.artifacts import api as artifacts_api
from ingot.ci.downstream.links import downstream_of_jobs, upstream_of_pipeline
from ingot.ci.pipelines import api as pipelines_api
from ingot.ci.pipelines.start import described_variables
from ingot.ci.pipelines.summaries import PipelineSummary, pipeline_summaries, warnings_of_pipeline
from ingot.ci.pipelines.views import PipelineVariableView
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.core.offload import require_blocking_allowed
from ingot.projects.projects import api as projects_api
from ingot.repositories import browser
from ingot.repositories.commit_statuses import api as statuses_api
from ingot.repositories.commits.views import CommitView
from ingot.repositories.trees import api as trees_api
from ingot.web.ci.input_fields import SHOW_INPUTS, form_inputs, given_inputs, input_rows, inputs_of_ref
from ingot.web.ci.log_excerpts import failed_job_excerpts
from ingot.web.ci.sections import ci_page
from ingot.web.code.location import readable_code
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, text_field
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()
STATUS_TABS = {
    "": "All",
    "running": "Running",
    "pending": "Pending",
    "success": "Passed",
    "failed": "Failed",
    "canceled": "Canceled",
    "skipped": "Skipped",
}
_FILTER_STATUSES = (*STATUS_TABS, "created", "manual", "scheduled", "waiting_for_resource")
ACTIVE_STATUSES = ("created", "waiting_for_resource", "pending", "running", "canceling", "scheduled")
_RETRYABLE_STATUSES = ("failed", "canceled")
_VARIABLE_ROWS = 4
"""Empty rows for variables in the form for a new pipeline."""
_MAX_VARIABLES = 100
_MERGE_REQUEST_REF = re.compile(r"refs/merge-requests/(\d+)/(?:head|merge|train)")


@pages.get("/:path/-/pipelines", open=True)
def show_pipelines(visit: Visit, db: Connection) -> PageResponse:
    """List the pipelines, newest first, filtered by ``status`` and ``ref``."""
    parent, query = project_context(visit), visit.request.query
    status = text_field(query, "status") if text_field(query, "status") in _FILTER_STATUSES else ""
    ref = text_field(query, "ref")
    params = {"ref": ref, "page": visit.request.page, "per_page": 20}
    pipelines = parent.ask(statuses_api.list_pipelines, {**params, "status": status} if status else params)
    summaries = pipeline_summaries(db, [pipeline.id for pipeline in pipelines.items], visit.request.origin.base)
    context: dict[str, Any] = {
        "pipelines": pipelines,
        "summaries": summaries,
        "commits": _commits_of(parent, [pipeline.sha for pipeline in pipelines.items]),
        "status": status,
        "ref": ref,
        "status_tabs": STATUS_TABS,
        "is_active": any(pipeline.status in ACTIVE_STATUSES for pipeline in pipelines.items),
        "may_run": parent.may(pipelines_api.create_pipeline),
    }
    return ci_page(parent, "ci/pipelines.html", "pipelines", context)


@pages.get("/:path/-/pipelines/new")
def show_pipeline_form(visit: Visit) -> PageResponse:
    """Show the form for a new pipeline."""
    parent = project_context(visit)
    if not parent.may(pipelines_api.create_pipeline):
        raise NotFound("Page")
    ref = text_field(visit.request.query, "ref") or parent.project.default_branch or ""
    require_blocking_allowed()
    project = parent.find(projects_api.get_project).project
    store = projects_api.repository_store(visit.settings)
    described = described_variables(visit.database, store, project, visit.viewer.actor, ref)
    rows = [
        {"key": key, "value": each.value, "description": each.description, "options": each.options}
        for key, each in described.items()
    ]
    return _pipeline_form(parent, ref, rows, input_rows(inputs_of_ref(parent, ref), {}))


@pages.post("/:path/-/pipelines", notice="Pipeline created.")
def create_pipeline(visit: Visit) -> PageResponse:
    """Create a pipeline and show it."""
    parent = project_context(visit)
    ref, variables = text_field(visit.request.form, "ref"), form_variables(visit)
    if not parent.may(pipelines_api.create_pipeline):
        raise NotFound("Page")
    specs, typed = inputs_of_ref(parent, ref), form_inputs(visit)
    if SHOW_INPUTS in visit.request.form:
        return _pipeline_form(parent, ref, variables, input_rows(specs, typed))
    sent = {"ref": ref, "variables": variables, "inputs": given_inputs(specs, typed)}
    try:
        created = parent.ask(pipelines_api.create_pipeline, sent)
    except REQUEST_ERRORS as error:
        return _pipeline_form(parent, ref, variables, input_rows(specs, typed), error_messages(error), 422)
    return LocalRedirect(f"{parent.url}/-/pipelines/{created.id}")


@pages.get("/:path/-/pipelines/:id", open=True)
def show_pipeline(visit: Visit, db: Connection) -> PageResponse:
    """Show the stages of a pipeline with their jobs."""
    return _pipeline_page(project_context(visit), db, "graph")


@pages.get("/:path/-/pipelines/:id/builds", open=True)
def show_pipeline_jobs(visit: Visit, db: Connection) -> PageResponse:
    """List the jobs of a pipeline with their times, including earlier attempts."""
    parent = project_context(visit)
    params = {"page": visit.request.page, "per_page": 100, "include_retried": True, "include_external": True}
    jobs = parent.ask(pipelines_api.list_pipeline_jobs, params, pipeline_id=_pipeline_id(visit))
    return _pipeline_page(parent, db, "jobs", {"jobs": jobs})


@pages.get("/:path/-/pipelines/:id/failures", open=True)
def show_pipeline_failures(visit: Visit, db: Connection) -> PageResponse:
    """List the failed jobs of a pipeline with the ends of their logs."""
    parent = project_context(visit)
    params = {"scope": ["failed"], "per_page": 20, "include_external": True}
    jobs = parent.ask(pipelines_api.list_pipeline_jobs, params, pipeline_id=_pipeline_id(visit)).items
    return _pipeline_page(parent, db, "failures", {"jobs": jobs, "excerpts": failed_job_excerpts(parent, jobs)})


@pages.get("/:path/-/pipelines/:id/test_report", open=True)
def show_pipeline_tests(visit: Visit, db: Connection) -> PageResponse:
    """Show the test cases of a pipeline; ``suite`` selects one job."""
    parent = project_context(visit)
    report = parent.ask(artifacts_api.get_test_report, pipeline_id=_pipeline_id(visit))
    name = text_field(visit.request.query, "suite")
    suite = next((suite for suite in report.test_suites if suite.name == name), None)
    return _pipeline_page(parent, db, "tests", {"report": report, "suite": suite})


@pages.post("/:path/-/pipelines/:id/retry", notice="Pipeline retried.")
def retry_pipeline(visit: Visit) -> PageResponse:
    """Retry the failed and canceled jobs of a pipeline."""
    return _change(visit, pipelines_api.retry_pipeline)


@pages.post("/:path/-/pipelines/:id/cancel", notice="Pipeline canceled.")
def cancel_pipeline(visit: Visit) -> PageResponse:
    """Cancel the jobs of a pipeline that have not ended."""
    return _change(visit, pipelines_api.cancel_pipeline)


@pages.delete("/:path/-/pipelines/:id", notice="Pipeline deleted.")
def delete_pipeline(visit: Visit) -> PageResponse:
    """Delete a pipeline."""
    parent = project_context(visit)
    parent.ask(pipelines_api.delete_pipeline, pipeline_id=_pipeline_id(visit))
    return LocalRedirect(f"{parent.url}/-/pipelines")


def form_variables(visit: Visit) -> list[dict[str, str]]:
    """Return the variables of a form with the fields ``variables[N][key]`` and ``variables[N][value]``."""
    sent = visit.request.form.get("variables")
    rows = list(sent.values())[:_MAX_VARIABLES] if isinstance(sent, dict) else []
    variables = [{name: text_field(row, name) for name in ("key", "value")} for row in rows if isinstance(row, dict)]
    return [variable for variable in variables if variable["key"].strip() or variable["value"]]


def _pipeline_id(visit: Visit) -> str:
    number = visit.request.path["id"]
    if number_or_none(number) is None:
        raise NotFound("Pipeline")
    return number


def _change(visit: Visit, endpoint: Callable[..., object]) -> PageResponse:
    parent = project_context(visit)
    try:
        parent.ask(endpoint, pipeline_id=_pipeline_id(visit))
    except REQUEST_ERRORS as error:
        errors = error_messages(error)
        return visit.database.read(lambda db: _pipeline_page(parent, db, "graph", {"errors": errors}, 422))
    return LocalRedirect(f"{parent.url}/-/pipelines/{visit.request.path['id']}")


def _pipeline_page(
    parent: ProjectContext, db: Connection, view: str, context: dict[str, Any] | None = None, status: int = 200
) -> TemplateResponse:
    visit = parent.visit
    pipeline = parent.ask(statuses_api.get_pipeline, pipeline_id=_pipeline_id(visit))
    summary = pipeline_summaries(db, [pipeline.id], visit.request.origin.base)[pipeline.id]
    jobs = [job for stage in summary.stages for job in stage.jobs]
    bridges = [job for job in jobs if job.is_bridge]
    actor = visit.viewer.actor
    may_run = parent.may(pipelines_api.retry_pipeline, pipeline_id=pipeline.id)
    merge_request = _MERGE_REQUEST_REF.fullmatch(pipeline.ref)
    shared: dict[str, Any] = {
        "view": view,
        "pipeline": pipeline,
        "summary": summary,
        "is_active": pipeline.status in ACTIVE_STATUSES,
        "counts": {
            "jobs": len(jobs) - len(bridges),
            "failures": sum(job.status == "failed" and not job.is_bridge for job in jobs),
        },
        "tests": _test_total(parent, pipeline.id),
        "commit": _commits_of(parent, [pipeline.sha]).get(pipeline.sha),
        "merge_request_iid": merge_request[1] if merge_request else None,
        "downstream": downstream_of_jobs(db, actor, [job.id for job in bridges]) if bridges else {},
        "upstream": upstream_of_pipeline(db, actor, pipeline.id),
        "may_run": may_run,
        "may_retry": may_run and _is_retryable(summary),
        "may_cancel": may_run and any(job.status in ACTIVE_STATUSES for job in jobs if job.is_job),
        "may_delete": parent.may(pipelines_api.delete_pipeline, pipeline_id=pipeline.id),
        "variables": _variables(parent, pipeline.id),
        "warnings": warnings_of_pipeline(db, pipeline.id),
        "errors": [],
    }
    return ci_page(parent, "ci/pipeline.html", "pipelines", {**shared, **(context or {})}, status)


def _variables(parent: ProjectContext, pipeline_id: int) -> list[PipelineVariableView]:
    """Return the variables of a pipeline, if the user may see them."""
    if not parent.may(pipelines_api.list_pipeline_variables, pipeline_id=pipeline_id):
        return []
    return parent.ask(pipelines_api.list_pipeline_variables, pipeline_id=pipeline_id)


def _is_retryable(summary: PipelineSummary) -> bool:
    return any(job.is_job and job.status in _RETRYABLE_STATUSES for stage in summary.stages for job in stage.jobs)


def _test_total(parent: ProjectContext, pipeline_id: int) -> int:
    if not parent.may(artifacts_api.get_test_report_summary, pipeline_id=pipeline_id):
        return 0
    return parent.ask(artifacts_api.get_test_report_summary, pipeline_id=pipeline_id).total.count


def _commits_of(parent: ProjectContext, shas: list[str]) -> dict[str, CommitView]:
    """Return the commits of pipelines by id, without those that the user may not see or that were removed."""
    if not parent.may(trees_api.list_tree):
        return {}
    return browser.commits_by_ids(readable_code(parent).repository, shas, parent.project.web_url)


def _pipeline_form(
    parent: ProjectContext,
    ref: str,
    variables: Sequence[Mapping[str, Any]],
    inputs: Sequence[Mapping[str, Any]],
    errors: list[str] | None = None,
    status: int = 200,
) -> TemplateResponse:
    empty = [{"key": "", "value": ""}] * _VARIABLE_ROWS
    context = {"ref": ref, "inputs": inputs, "variables": [*variables, *empty], "errors": errors or []}
    return ci_page(parent, "ci/pipeline_new.html", "pipelines", context, status)
