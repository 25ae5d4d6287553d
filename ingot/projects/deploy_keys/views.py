"""Response structs of deploy keys."""

from collections.abc import Sequence

import msgspec

from ingot.core.access.actor import Actor
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.projects.deploy_keys.queries import AvailableDeployKey, links_of_keys, list_available_deploy_keys
from ingot.projects.deploy_keys.tables import DeployKey
from ingot.projects.projects.queries import projects_by_ids
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import InstanceUrls, SimpleProjectView, simple_view


class DeployKeyView(View):
    """Deploy key."""

    id: int
    title: str
    key: str
    fingerprint: str
    fingerprint_sha256: str
    created_at: Timestamp
    expires_at: Timestamp | None
    last_used_at: Timestamp | None
    can_push: bool


class ProjectOfDeployKeyView(SimpleProjectView):
    """Project that a deploy key gives access to."""

    description: str | None
    created_at: Timestamp


class InstanceDeployKeyView(DeployKeyView):
    """Deploy key with the projects that it gives access to, for administrators."""

    projects_with_write_access: list[ProjectOfDeployKeyView]
    projects_with_readonly_access: list[ProjectOfDeployKeyView]


def instance_deploy_key_views(
    db: Connection, keys: Sequence[DeployKey], urls: InstanceUrls
) -> list[InstanceDeployKeyView]:
    """Return the views of a page of deploy keys of all projects, with two statements."""
    links = links_of_keys(db, [key.id for key in keys])
    projects = projects_by_ids(db, [link.project_id for link in links])

    def view(project: Project) -> ProjectOfDeployKeyView:
        brief = msgspec.structs.astuple(simple_view(project, urls))
        return ProjectOfDeployKeyView(*(*brief, project.description, project.created_at))

    def views(key: DeployKey, can_push: bool) -> list[ProjectOfDeployKeyView]:
        linked = [link.project_id for link in links if link.key_id == key.id and bool(link.can_push) is can_push]
        return [view(projects[project_id]) for project_id in linked if project_id in projects]

    return [
        InstanceDeployKeyView(*(*msgspec.structs.astuple(shown), views(key, True), views(key, False)))
        for key, shown in ((key, deploy_key_view(key)) for key in keys)
    ]


def deploy_key_view(key: DeployKey) -> DeployKeyView:
    """Return the view of a deploy key."""
    return DeployKeyView(
        key.id,
        key.title,
        key.key,
        key.fingerprint_md5,
        key.fingerprint_sha256,
        key.created_at,
        key.expires_at,
        key.last_used_at,
        bool(key.can_push),
    )


def keys_of_other_projects(db: Connection, actor: Actor, project_id: int) -> list[AvailableDeployKey]:
    """Return the deploy keys that the caller knows from other projects and could enable for this one."""
    return list_available_deploy_keys(db, actor, project_id)
