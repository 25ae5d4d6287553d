"""Runners of a project, a group or the instance, with their API endpoints and page layout."""

from collections.abc import Callable
from typing import Any

import msgspec

from ingot.ci.runners import api as runners_api
from ingot.ci.runners.registration import shown_group_token, shown_instance_token
from ingot.core.errors import NotFound
from ingot.web.admin.layout import require_admin
from ingot.web.groups.settings_parent import settings_page
from ingot.web.issues.group_context import ProjectOrGroupContext, group_context
from ingot.web.page_routes import TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext, project_context


class RunnerCollection(msgspec.Struct, frozen=True):
    """Runners of a project, a group or the instance."""

    visit: Visit
    url: str
    kind: str
    """Type of the runners that are created here."""
    owner: dict[str, int]
    """Parameters that name the project or group of a new runner."""
    list_runners: Callable[..., Any]
    may_change: bool
    registration_token: str | None
    """None if the user may not see it."""
    reset_token: Callable[..., object]
    inherited_kinds: tuple[str, ...] = ()
    """Types of runners that are shown apart, because others administer them."""
    parent: ProjectOrGroupContext | None = None

    @property
    def filters(self) -> dict[str, str]:
        """Return the parameters that select the collection's own runners; the instance shows all."""
        return {"type": self.kind} if self.parent is not None else {}

    @property
    def is_project(self) -> bool:
        """Return whether these are the runners of a project."""
        return isinstance(self.parent, ProjectContext)

    def page(self, template: str, context: dict[str, Any], status: int = 200) -> TemplateResponse:
        """Render a page in the settings layout of the project or group, or in the administration layout."""
        context = {**context, "collection": self, "base": self.visit.request.origin.base}
        if self.parent is not None:
            return settings_page(self.parent, template, "runners", context, status)
        return TemplateResponse(template, {**context, "layout": "admin.html", "tab": "runners"}, status)


def project_runners(visit: Visit) -> RunnerCollection:
    """Return the runners available to a project."""
    parent = project_context(visit)
    if not parent.may(runners_api.list_project_runners):
        raise NotFound("Page")
    token = parent.project.runners_token
    return RunnerCollection(
        visit=visit,
        url=f"{parent.url}/-/runners",
        kind="project_type",
        owner={"project_id": parent.project.id},
        list_runners=lambda params: parent.ask(runners_api.list_project_runners, params),
        may_change=parent.may(runners_api.assign_runner),
        registration_token=token if isinstance(token, str) else None,
        reset_token=lambda: parent.ask(runners_api.reset_project_registration_token),
        inherited_kinds=("group_type", "instance_type"),
        parent=parent,
    )


def group_runners(visit: Visit) -> RunnerCollection:
    """Return the runners available to the projects of a group."""
    parent = group_context(visit)
    if not parent.may(runners_api.list_group_runners):
        raise NotFound("Page")
    may_change = parent.may(runners_api.reset_group_registration_token)
    group_id = parent.group.id
    token = visit.database.read(lambda db: shown_group_token(db, group_id)) if may_change else None
    return RunnerCollection(
        visit=visit,
        url=f"{parent.url}/-/runners",
        kind="group_type",
        owner={"group_id": parent.group.id},
        list_runners=lambda params: parent.ask(runners_api.list_group_runners, params),
        may_change=may_change,
        registration_token=token,
        reset_token=lambda: parent.ask(runners_api.reset_group_registration_token),
        inherited_kinds=("instance_type",),
        parent=parent,
    )


def instance_runners(visit: Visit) -> RunnerCollection:
    """Return all runners, for administrators."""
    require_admin(visit)
    return RunnerCollection(
        visit=visit,
        url="/admin/runners",
        kind="instance_type",
        owner={},
        list_runners=lambda params: visit.ask(runners_api.list_all_runners, params),
        may_change=True,
        registration_token=visit.database.read(shown_instance_token),
        reset_token=lambda: visit.ask(runners_api.reset_instance_registration_token),
    )
