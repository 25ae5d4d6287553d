"""Context of a group's planning pages: the group, the viewer and the page layout."""

from collections.abc import Callable
from typing import Any

import msgspec

from ingot.core.api.internal_client import P, S, V, WorksOn
from ingot.packages.records import api as packages_api
from ingot.projects.group_projects import api as group_projects_api
from ingot.projects.group_projects.api import GroupDetailView
from ingot.projects.groups import api as groups_api
from ingot.repositories.wikis import api as wikis_api
from ingot.web.page_routes import TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext


class GroupContext(msgspec.Struct, frozen=True):
    """Group as seen by the viewer; has the same methods as a project's context."""

    visit: Visit
    group: GroupDetailView

    @property
    def url(self) -> str:
        """Return the base path of the group's pages."""
        return f"/groups/{self.group.full_path}"

    def ask(self, endpoint: Callable[..., V], params: dict[str, Any] | None = None, /, **path: object) -> V:
        """Call an endpoint of this group."""
        return self.visit.client.ask(endpoint, params, {"id": self.group.id, **path}, "groups")

    def find(self, endpoint: WorksOn[S, P], /, **path: object) -> S:
        """Return the subject that an endpoint of this group finds."""
        return self.visit.client.find(endpoint, {"id": self.group.id, **path}, "groups")

    def may(self, endpoint: Callable[..., object], /, **path: object) -> bool:
        """Return whether the viewer may call an endpoint of this group."""
        return self.visit.client.may(endpoint, {"id": self.group.id, **path}, "groups")

    def either(self, of_project: Callable[..., V], of_group: Callable[..., V]) -> Callable[..., V]:  # noqa: ARG002 - The project's context uses this argument.
        """Return the group handler of a pair of handlers for projects and groups."""
        return of_group

    def page(
        self, template: str, tab: str, context: dict[str, Any] | None = None, /, status: int = 200
    ) -> TemplateResponse:
        """Render a page in the group's layout, with one of its tabs selected."""
        pages = ("issues", "boards", "merge_requests", "labels", "milestones")
        tabs = [(page, f"{self.url}/-/{page}", page.capitalize().replace("_", " ")) for page in pages]
        if self.may(packages_api.list_group_packages):
            tabs.append(("packages", f"{self.url}/-/packages", "Packages"))
        if self.may(wikis_api.list_pages):
            tabs.append(("wiki", f"{self.url}/-/wikis", "Wiki"))
        shared = {"group": self.group, "parent": self, "tab": tab, "tabs": [("home", self.url, "Group"), *tabs]}
        return TemplateResponse(template, {**shared, "last_tab": self._last_tab(), **(context or {})}, status)

    def _last_tab(self) -> tuple[str, str, str]:
        """Return the settings tab, which includes the members, or else the members tab."""
        if self.may(groups_api.restore_group):
            return "settings", f"{self.url}/-/edit", "Settings"
        return "members", f"{self.url}/-/group_members", "Members"


ProjectOrGroupContext = ProjectContext | GroupContext


def group_context(visit: Visit) -> GroupContext:
    """Return the context of the group in the URL; raise NotFound if the viewer may not see it."""
    return GroupContext(
        visit, visit.ask(group_projects_api.get_group, {"with_projects": "false"}, id=visit.request.path["path"])
    )
