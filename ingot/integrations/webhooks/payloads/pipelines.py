"""Payloads of jobs, pipelines, wiki pages and releases."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ingot.collaboration.releases.tables import ReleaseLink
from ingot.core.db.times import to_datetime
from ingot.integrations.webhooks.payloads.issues import EventContext
from ingot.integrations.webhooks.payloads.parts import (
    Payload,
    project_part,
    project_url,
    repository_part,
    user_part,
    utc_text,
    utc_text_or_none,
)
from ingot.repositories.pipelines.tables import CommitStatus, Pipeline
from ingot.repositories.tags.tables import Release
from ingot.repositories.wikis.page_names import WikiPage

_NO_USER = {"id": None, "name": None, "username": None, "avatar_url": None}
_FORMATS = ("zip", "tar.gz", "tar.bz2", "tar")


def job_payload(context: EventContext, pipeline: Pipeline, status: CommitStatus) -> Payload:
    """Return the payload of a commit status; the commit's author and message are added before delivery."""
    project_data = project_part(context.project, context.urls)
    started, finished = status.started_at, status.finished_at
    return {
        "object_kind": "build",
        "ref": pipeline.ref,
        "tag": pipeline.tag,
        "before_sha": "0" * 40,
        "sha": pipeline.sha,
        "build_id": status.id,
        "build_name": status.name,
        "build_stage": status.stage,
        "build_status": status.status,
        "build_created_at": utc_text(status.created_at),
        "build_started_at": utc_text_or_none(started),
        "build_finished_at": utc_text_or_none(finished),
        "build_duration": (to_datetime(finished) - to_datetime(started)).total_seconds()
        if started and finished
        else None,
        "build_allow_failure": status.allow_failure,
        "pipeline_id": pipeline.id,
        "runner": None,
        "environment": None,
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
    context: EventContext, pipeline: Pipeline, statuses: Sequence[CommitStatus], users: Any
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
            "before_sha": "0" * 40,
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
        "builds": [_status(context, status, users.get(status.user_id)) for status in statuses],
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
            "git_http_url": f"{web_url}.wiki.git",
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
        {
            "format": name,
            "url": f"{context.urls.base}/api/v4/projects/{context.project.id}/repository/archive.{name}?sha={tag}",
        }
        for name in _FORMATS
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


def _status(context: EventContext, status: CommitStatus, user: Any) -> Payload:
    return {
        "id": status.id,
        "stage": status.stage,
        "name": status.name,
        "status": status.status,
        "created_at": utc_text(status.created_at),
        "started_at": utc_text_or_none(status.started_at),
        "finished_at": utc_text_or_none(status.finished_at),
        "when": "on_success",
        "manual": False,
        "allow_failure": status.allow_failure,
        "user": user_part(user, context.urls),
        "runner": None,
        "artifacts_file": {"filename": None, "size": None},
    }
