"""Common parts of payloads: projects, users, commits, labels, times."""

from collections.abc import Sequence
from typing import Any

from ingot.accounts.users.tables import User
from ingot.accounts.users.views import avatar_url
from ingot.collaboration.labels.tables import Label
from ingot.core.db.times import Timestamp
from ingot.git.history.commits import Commit
from ingot.projects.groups.service import VISIBILITY_ORDER
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import InstanceUrls, project_avatar_url

Payload = dict[str, Any]
_BRIEF = ("name", "url", "description", "homepage")
_WHOLE = (*_BRIEF, "git_http_url", "git_ssh_url", "visibility_level")


def project_url(project: Project, urls: InstanceUrls) -> str:
    """Return the URL of a project's page."""
    return f"{urls.base}/{project.full_path}"


def project_part(project: Project, urls: InstanceUrls, *, backward: bool = True) -> Payload:
    """Return the part of a project; with ``backward`` also under the names for older receivers."""
    web_url = project_url(project, urls)
    ssh_url, http_url = f"{urls.ssh}{project.full_path}.git", f"{urls.clone}{project.full_path}.git"
    part = {
        "id": project.id,
        "name": project.name,
        "description": project.description,
        "web_url": web_url,
        "avatar_url": project_avatar_url(project, urls.base),
        "git_ssh_url": ssh_url,
        "git_http_url": http_url,
        "namespace": project.space_name,
        "visibility_level": VISIBILITY_ORDER[project.visibility],
        "path_with_namespace": project.full_path,
        "default_branch": project.default_branch,
        "ci_config_path": project.ci_config_path,
    }
    if backward:
        part |= {"homepage": web_url, "url": ssh_url, "ssh_url": ssh_url, "http_url": http_url}
    return part


def repository_part(project: Payload, *, whole: bool = False) -> Payload:
    """Return the older ``repository`` part, derived from the project's part."""
    return {name: project[name] for name in (_WHOLE if whole else _BRIEF)}


def user_part(user: User | None, urls: InstanceUrls) -> Payload | None:
    """Return the part of a user."""
    if user is None:
        return None
    image_url = avatar_url(user, urls.base)
    return {"id": user.id, "name": user.name, "username": user.username, "avatar_url": image_url}


def pusher_part(user: User | None, urls: InstanceUrls) -> Payload:
    """Return the flat attributes of the user who pushed."""
    return {
        "user_id": user.id if user else None,
        "user_name": user.name if user else None,
        "user_username": user.username if user else None,
        "user_email": user.email if user else None,
        "user_avatar": avatar_url(user, urls.base) if user else None,
    }


def commit_part(commit: Commit, web_url: str) -> Payload:
    """Return the part of a commit; ``web_url`` is the URL of its project."""
    return {
        "id": commit.oid,
        "message": commit.message,
        "title": commit.title,
        "timestamp": commit.committer.zoned,
        "url": f"{web_url}/commit/{commit.oid}",
        "author": {"name": commit.author.name, "email": commit.author.email},
    }


def label_parts(labels: Sequence[Label]) -> list[Payload]:
    """Return the parts of labels."""
    return [
        {
            "id": label.id,
            "title": label.title,
            "color": label.color,
            "project_id": label.project_id,
            "created_at": iso(label.created_at),
            "updated_at": iso(label.updated_at),
            "template": False,
            "description": label.description,
            "type": "GroupLabel" if label.project_id is None else "ProjectLabel",
            "group_id": label.group_id,
        }
        for label in labels
    ]


def iso(stamp: Timestamp) -> str:
    """Format a time as in most payloads: ``2026-01-31T08:15:00Z``."""
    return f"{stamp[:19]}Z"


def iso_or_none(stamp: Timestamp | None) -> str | None:
    """Format a time that may be missing, as ``iso`` does."""
    return None if stamp is None else iso(stamp)


def utc_text(stamp: Timestamp) -> str:
    """Format a time as in payloads of notes and pipelines: ``2026-01-31 08:15:00 UTC``."""
    return f"{stamp[:10]} {stamp[11:19]} UTC"


def utc_text_or_none(stamp: Timestamp | None) -> str | None:
    """Format a time that may be missing, as ``utc_text`` does."""
    return None if stamp is None else utc_text(stamp)
