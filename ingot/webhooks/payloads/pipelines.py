"""Payloads of jobs, pipelines, wiki pages and releases."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from ingot.ci.job_records.ports import ArtifactSummary
from ingot.ci.job_records.queries import options_of
from ingot.ci.job_records.tables import CiJob
from ingot.ci.runners.queries import tags_of_runner
from ingot.ci.runners.tables import Runner
from ingot.collaboration.releases.tables import ReleaseLink
from ingot.collaboration.releases.views import ARCHIVE_FORMATS, source_url
from ingot.core.db.times import Timestamp, to_datetime
from ingot.git.history.commits import NO_OID
from ingot.pipelines.tables import CommitStatus, Pipeline
from ingot.projects.environments.service import tier_of
from ingot.repositories.tags.tables import Release
from ingot.repositories.wikis.page_names import WikiPage
from ingot.webhooks.payloads.issues import EventContext
from ingot.webhooks.payloads.parts import (
    Payload,
    project_part,
    project_url,
    repository_part,
    user_part,
    utc_text,
    utc_text_or_none,
)

_NO_USER = {"id": None, "name": None, "username": None, "avatar_url": None}


class JobDetails(NamedTuple):
    """A job of a pipeline with its runner and archive; none of them for an external status."""

    job: CiJob | None = None
    runner: Runner | None = None
    archive: ArtifactSummary | None = None

    @property
    def is_bridge(self) -> bool:
        """Return whether the job starts another pipeline, so that no runner executes it."""
        return self.job is not None and self.job.bridge


def job_payload(context: EventContext, pipeline: Pipeline, status: CommitStatus, details: JobDetails) -> Payload:
    """Return the payload of a job or commit status; the commit's author and message are added before delivery."""
    job = details.job
    project_data = project_part(context.project, context.urls)
    started, finished = status.started_at, status.finished_at
    return {
        "object_kind": "build",
        "ref": pipeline.ref,
        "tag": pipeline.tag,
        "before_sha": pipeline.before_sha or NO_OID,
        "sha": pipeline.sha,
        "build_id": status.id,
        "build_name": status.name,
        "build_stage": status.stage,
        "build_status": status.status,
        "build_created_at": utc_text(status.created_at),
        "build_started_at": utc_text_or_none(started),
        "build_finished_at": utc_text_or_none(finished),
        "build_duration": _seconds(started, finished),
        "build_queued_duration": _seconds(job.queued_at, started) if job else None,
        "build_allow_failure": status.allow_failure,
        "build_failure_reason": (job.failure_reason if job else None) or "unknown_failure",
        "pipeline_id": pipeline.id,
        "runner": _runner(details.runner),
        "environment": _environment(job),
        "project_id": context.project.id,
        "project_name": context.project.full_name,
        "user": {
            "email": context.user.email if context.user else None,
            **(user_part(context.user, context.urls) or _NO_USER),
        },
        "commit": {
            "id": pipeline.id,
            "sha": pipeline.sha,
            "message": None,
            "author_name": None,
            "author_email": None,
            "author_url": None,
            "status": pipeline.status,
            "duration": pipeline.duration,
            "started_at": utc_text_or_none(pipeline.started_at),
            "finished_at": utc_text_or_none(pipeline.finished_at),
        },
        "repository": repository_part(project_data, whole=True),
        "project": project_data,
    }


def pipeline_payload(
    context: EventContext,
    pipeline: Pipeline,
    statuses: Sequence[CommitStatus],
    users: Any,
    details: Mapping[int, JobDetails],
) -> Payload:
    """Return the payload of a pipeline; its commit is added before delivery."""
    stages = list(dict.fromkeys(status.stage for status in statuses))
    return {
        "object_kind": "pipeline",
        "object_attributes": {
            "id": pipeline.id,
            "iid": pipeline.iid,
            "ref": pipeline.ref,
            "tag": pipeline.tag,
            "sha": pipeline.sha,
            "before_sha": pipeline.before_sha or NO_OID,
            "name": pipeline.name,
            "source": pipeline.source,
            "status": pipeline.status,
            "detailed_status": pipeline.status,
            "stages": stages,
            "created_at": utc_text(pipeline.created_at),
            "finished_at": utc_text_or_none(pipeline.finished_at),
            "duration": pipeline.duration,
            "url": f"{project_url(context.project, context.urls)}/-/pipelines/{pipeline.id}",
        },
        "user": user_part(context.user, context.urls),
        "project": project_part(context.project, context.urls, backward=False),
        "commit": None,
        "builds": [
            _status(context, status, users.get(status.user_id), details.get(status.id, JobDetails()))
            for status in statuses
        ],
    }


def wiki_payload(context: EventContext, page: WikiPage, action: str, message: str) -> Payload:
    """Return the payload of a wiki page; its content is added before delivery."""
    project_data = project_part(context.project, context.urls)
    web_url = project_data["web_url"]
    return {
        "object_kind": "wiki_page",
        "user": user_part(context.user, context.urls),
        "project": project_data,
        "wiki": {
            "web_url": f"{web_url}/wikis/home",
            "git_ssh_url": project_data["git_ssh_url"].removesuffix(".git") + ".wiki.git",
            "git_http_url": project_data["git_http_url"].removesuffix(".git") + ".wiki.git",
            "path_with_namespace": f"{context.project.full_path}.wiki",
            "default_branch": context.project.default_branch,
        },
        "object_attributes": {
            "title": page.title,
            "content": "",
            "format": page.format,
            "message": message,
            "slug": page.slug,
            "url": f"{web_url}/wikis/{quote(page.slug)}",
            "action": action,
        },
    }


def release_payload(context: EventContext, release: Release, links: Sequence[ReleaseLink], action: str) -> Payload:
    """Return the payload of a release; its commit is added before delivery."""
    web_url = project_url(context.project, context.urls)
    tag = quote(release.tag, safe="")
    sources = [
        {"format": kind, "url": source_url(web_url, context.project.path, release.tag, kind)}
        for kind in ARCHIVE_FORMATS
    ]
    link_parts = [
        {"id": link.id, "link_type": link.link_type, "name": link.name, "url": link.url, "external": True}
        for link in links
    ]
    return {
        "object_kind": "release",
        "id": release.id,
        "created_at": utc_text(release.created_at),
        "description": release.description,
        "name": release.name or release.tag,
        "released_at": utc_text(release.released_at),
        "tag": release.tag,
        "project": project_part(context.project, context.urls),
        "url": f"{web_url}/-/releases/{tag}",
        "action": action,
        "assets": {"count": len(sources) + len(link_parts), "links": link_parts, "sources": sources},
        "commit": None,
    }


def with_full_tag_name(payload: Payload) -> Payload:
    """Return the payload of a release whose sources are those of the tag, although a branch has the same name."""
    short = f"/-/archive/{quote(payload['tag'])}/"
    full = f"/-/archive/refs/tags/{quote(payload['tag'])}/"
    sources = [{**source, "url": source["url"].replace(short, full, 1)} for source in payload["assets"]["sources"]]
    return {**payload, "assets": {**payload["assets"], "sources": sources}}


def _status(context: EventContext, status: CommitStatus, user: Any, details: JobDetails) -> Payload:
    job, archive = details.job, details.archive
    return {
        "id": status.id,
        "stage": status.stage,
        "name": status.name,
        "status": status.status,
        "created_at": utc_text(status.created_at),
        "started_at": utc_text_or_none(status.started_at),
        "finished_at": utc_text_or_none(status.finished_at),
        "duration": _seconds(status.started_at, status.finished_at),
        "queued_duration": _seconds(job.queued_at, status.started_at) if job else None,
        "failure_reason": job.failure_reason if job else None,
        "when": job.run_when if job else "on_success",
        "manual": job is not None and job.run_when == "manual",
        "allow_failure": status.allow_failure,
        "user": user_part(user, context.urls),
        "runner": _runner(details.runner),
        "artifacts_file": {
            "filename": archive.filename if archive else None,
            "size": archive.size if archive else None,
        },
        "environment": _environment(job),
    }


def _seconds(start: Timestamp | None, end: Timestamp | None) -> float | None:
    return (to_datetime(end) - to_datetime(start)).total_seconds() if start and end else None


def _runner(runner: Runner | None) -> Payload | None:
    if runner is None:
        return None
    return {
        "id": runner.id,
        "description": runner.description,
        "runner_type": runner.runner_type,
        "active": runner.active,
        "is_shared": runner.runner_type == "instance_type",
        "tags": tags_of_runner(runner),
    }


def _environment(job: CiJob | None) -> Payload | None:
    if job is None or job.environment is None:
        return None
    configured = options_of(job).environment or {}
    tier = configured.get("tier") or tier_of(job.environment)
    return {"name": job.environment, "action": configured.get("action", "start"), "deployment_tier": tier}
