"""Response structs of runners."""

from typing import Literal

from ingot.ci.runners.policy import may_change_runner
from ingot.ci.runners.queries import (
    group_of_runner,
    online_since,
    projects_of_runner,
    stale_since,
    tags_of_runner,
)
from ingot.ci.runners.tables import Runner, RunnerAccessLevel, RunnerManager, RunnerType
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.views import InstanceUrls, SimpleProjectView, simple_view

ContactStatus = Literal["online", "offline", "stale", "never_contacted"]
StatusOfRunner = Literal["online", "offline", "stale", "never_contacted", "paused"]


class RunnerView(View):
    """A runner."""

    id: int
    description: str
    ip_address: str | None
    active: bool
    paused: bool
    is_shared: bool
    runner_type: RunnerType
    name: str | None
    online: bool | None
    status: StatusOfRunner


class RunnerGroupView(View):
    """The group of a runner."""

    id: int
    web_url: str
    name: str


class RunnerDetailsView(RunnerView):
    """A runner with its settings, projects and groups; the token only for callers who may change the runner.

    The token of a runner that a user created is shown only once.
    """

    tag_list: list[str]
    run_untagged: bool
    locked: bool
    maximum_timeout: int | None
    access_level: RunnerAccessLevel
    version: str | None
    revision: str | None
    platform: str | None
    architecture: str | None
    contacted_at: Timestamp | None
    maintenance_note: str | None
    token: str | None
    projects: list[SimpleProjectView]
    groups: list[RunnerGroupView]


class RunnerManagerView(View):
    """A machine of a runner."""

    id: int
    system_id: str
    version: str | None
    revision: str | None
    platform: str | None
    architecture: str | None
    created_at: Timestamp
    contacted_at: Timestamp | None
    ip_address: str | None
    status: ContactStatus


class RegisteredRunnerView(View):
    """Id and token of a runner, as the runner itself stores them."""

    id: int
    token: str
    token_expires_at: Timestamp | None


class ResetTokenView(View):
    """A new token."""

    token: str
    token_expires_at: Timestamp | None


def runner_view(runner: Runner, now: Timestamp) -> RunnerView:
    """Return the view of a runner."""
    return RunnerView(*_brief(runner, now))


def runner_details_view(
    db: Connection, actor: Actor, access: Access, runner: Runner, urls: InstanceUrls
) -> RunnerDetailsView:
    """Return the view of a runner with its settings, for a caller who may see it."""
    shows_token = not runner.created_by_user and may_change_runner(actor, access, runner)
    group = group_of_runner(db, runner)
    return RunnerDetailsView(
        *_brief(runner, db.now),
        tags_of_runner(runner),
        runner.run_untagged,
        runner.locked,
        runner.maximum_timeout,
        runner.access_level,
        runner.version,
        runner.revision,
        runner.platform,
        runner.architecture,
        runner.contacted_at,
        runner.maintenance_note,
        db.vault.unseal(runner.sealed_token) if shows_token else None,
        [simple_view(project, urls) for project in projects_of_runner(db, actor, runner)],
        [] if group is None else [_group_view(group, urls.base)],
    )


def runner_manager_view(manager: RunnerManager, now: Timestamp) -> RunnerManagerView:
    """Return the view of a machine of a runner."""
    return RunnerManagerView(
        manager.id,
        manager.system_id,
        manager.version,
        manager.revision,
        manager.platform,
        manager.architecture,
        manager.created_at,
        manager.contacted_at,
        manager.ip_address,
        contact_status(manager.contacted_at, manager.created_at, now),
    )


def contact_status(contacted_at: Timestamp | None, created_at: Timestamp, now: Timestamp) -> ContactStatus:
    """Return whether a runner is in contact with the server."""
    if (contacted_at or created_at) <= stale_since(now):
        return "stale"
    if contacted_at is None:
        return "never_contacted"
    return "online" if contacted_at > online_since(now) else "offline"


def _brief(
    runner: Runner, now: Timestamp
) -> tuple[int, str, str | None, bool, bool, bool, RunnerType, str | None, bool | None, StatusOfRunner]:
    status = contact_status(runner.contacted_at, runner.created_at, now)
    return (
        runner.id,
        runner.description,
        runner.ip_address,
        runner.active,
        not runner.active,
        runner.runner_type == "instance_type",
        runner.runner_type,
        runner.name,
        None if runner.contacted_at is None else status == "online",
        status if runner.active or status in ("stale", "never_contacted") else "paused",
    )


def _group_view(group: Namespace, base: str) -> RunnerGroupView:
    return RunnerGroupView(group.id, f"{base}/groups/{group.full_path}", group.name)
