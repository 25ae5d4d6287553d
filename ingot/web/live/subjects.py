"""Lookup of the topics of a live subject: for each kind of page, the permission to see it and what concerns it."""

from collections.abc import Callable, Mapping

from ingot.ci.jobs import api as jobs_api
from ingot.ci.traces.store import trace_topic
from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.collaboration.subjects import subject_topic
from ingot.core.errors import NotFound
from ingot.repositories.commit_statuses import api as statuses_api
from ingot.web.client import PageClient
from ingot.web.live.topics import LiveSubject, pipeline_topic, pipelines_topic, ref_topic
from ingot.webhooks import api as webhooks_api
from ingot.webhooks.delivery.claims import hook_topic
from ingot.webhooks.system import api as system_hooks_api


def find_topics(client: PageClient, subject: LiveSubject) -> frozenset[str]:
    """Return the topics of a subject; raise NotFound or Denied if the user may not see it."""
    find = _FINDERS.get(subject.kind)
    if find is None:
        raise NotFound("Page")
    return frozenset(find(client, subject))


def _issue(client: PageClient, subject: LiveSubject) -> tuple[str, ...]:
    lookup = client.find(issues_api.get_issue, {"id": subject.parent, "issue_iid": subject.number})
    return (subject_topic("issue", lookup.issue.id),)


def _merge_request(client: PageClient, subject: LiveSubject) -> tuple[str, ...]:
    path = {"id": subject.parent, "merge_request_iid": subject.number}
    request = client.find(merge_requests_api.get_merge_request, path).merge_request
    names = (request.source_branch, *(f"refs/merge-requests/{request.iid}/{end}" for end in ("head", "merge", "train")))
    projects = {request.source_project_id, request.target_project_id}
    return (
        subject_topic("merge_request", request.id),
        ref_topic(request.target_project_id, request.target_branch),
        *(ref_topic(project, name) for project in projects for name in names),
    )


def _pipelines(client: PageClient, subject: LiveSubject) -> tuple[str, ...]:
    return (pipelines_topic(client.find(statuses_api.list_pipelines, {"id": subject.parent}).project.id),)


def _pipeline(client: PageClient, subject: LiveSubject) -> tuple[str, ...]:
    path = {"id": subject.parent, "pipeline_id": subject.number}
    return (pipeline_topic(client.find(statuses_api.get_pipeline, path).project.id, subject.number),)


def _job(client: PageClient, subject: LiveSubject) -> tuple[str, ...]:
    lookup = client.find(jobs_api.get_job, {"id": subject.parent, "job_id": subject.number})
    return trace_topic(lookup.job.id), pipeline_topic(lookup.project.id, lookup.job.pipeline_id)


def _project_hook(client: PageClient, subject: LiveSubject) -> tuple[str, ...]:
    path = {"id": subject.parent, "hook_id": subject.number}
    return (hook_topic(client.ask(webhooks_api.get_hook, None, path, "projects").id),)


def _group_hook(client: PageClient, subject: LiveSubject) -> tuple[str, ...]:
    path = {"id": subject.parent, "hook_id": subject.number}
    return (hook_topic(client.ask(webhooks_api.get_hook, None, path, "groups").id),)


def _import(client: PageClient, subject: LiveSubject) -> tuple[str, ...]:
    # Few pages show imports, whose modules would take 3 MB in each worker.
    from ingot.import_export.runs import api as imports_api
    from ingot.import_export.runs.service import run_topic

    return (run_topic(client.find(imports_api.get_import, {"import_id": subject.number}).id),)


def _system_hook(client: PageClient, subject: LiveSubject) -> tuple[str, ...]:
    return (hook_topic(client.ask(system_hooks_api.get_system_hook, None, {"id": subject.number}).id),)


_FINDERS: Mapping[str, Callable[[PageClient, LiveSubject], tuple[str, ...]]] = {
    "issue": _issue,
    "merge_request": _merge_request,
    "pipelines": _pipelines,
    "pipeline": _pipeline,
    "job": _job,
    "project_hook": _project_hook,
    "group_hook": _group_hook,
    "system_hook": _system_hook,
    "import": _import,
}
