"""Response structs of pull mirrors; credentials are never shown."""

from ingot.core.api.views import View
from ingot.core.db.times import Timestamp
from ingot.projects.projects.tables import Project
from ingot.repositories.pull_mirrors.tables import PullMirror


class PullMirrorView(View):
    """A pull mirror, its settings and its last update."""

    id: int
    enabled: bool
    url: str
    auth_method: str
    public_key: str | None
    update_status: str
    last_update_at: Timestamp | None
    last_update_started_at: Timestamp | None
    last_successful_update_at: Timestamp | None
    last_error: str | None
    mirror_trigger_builds: bool
    only_mirror_protected_branches: bool
    mirror_overwrites_diverged_branches: bool
    mirror_branch_regex: str | None


def pull_mirror_view(mirror: PullMirror, project: Project) -> PullMirrorView:
    """Return the view of a pull mirror."""
    options = project.ci_options
    return PullMirrorView(
        mirror.id,
        mirror.enabled,
        mirror.url,
        mirror.auth_method,
        mirror.public_key if mirror.auth_method == "ssh_public_key" else None,
        mirror.update_status,
        mirror.last_update_at,
        mirror.last_update_started_at,
        mirror.last_successful_update_at,
        mirror.last_error,
        options.mirror_trigger_builds,
        options.only_mirror_protected_branches,
        options.mirror_overwrites_diverged_branches,
        options.mirror_branch_regex,
    )
