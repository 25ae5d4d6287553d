"""Where a page of a group's plans is: what its frame shows and offers."""

from collections.abc import Callable
from typing import Any

import msgspec

from ingot.core.api.internal_client import P, S, V, WorksOn
from ingot.projects.group_projects import api as group_projects_api
from ingot.projects.group_projects.api import GroupDetailView
from ingot.web.page_routes import TemplateResponse, Visit


class GroupContext(msgspec.Struct, frozen=True):
    """A group as a visitor meets it; it is asked the same way as a project."""

    visit: Visit
    group: GroupDetailView

    @property
    def url(self) -> str:
        """Where its pages begin, on this host."""
        return f"/groups/{self.group.full_path}"

    def ask(self, endpoint: Callable[..., V], sent: dict[str, Any] | None = None, /, **path: object) -> V:
        """Call an endpoint of this group."""
        return self.visit.client.ask(endpoint, sent, {"id": self.group.id, **path}, "groups")

    def find(self, endpoint: WorksOn[S, P], /, **path: object) -> S:
        """Return the subject that an endpoint of this group finds."""
        return self.visit.client.find(endpoint, {"id": self.group.id, **path}, "groups")

    def may(self, endpoint: Callable[..., object], /, **path: object) -> bool:
        """Return whether the visitor may call an endpoint of this group."""
        return self.visit.client.may(endpoint, {"id": self.group.id, **path}, "groups")

    def either(self, of_project: Callable[..., V], of_group: Callable[..., V]) -> Callable[..., V]:  # noqa: ARG002 - A project takes the other one.
        """Return the handler for groups, of two that do the same for projects and for groups."""
        return of_group

    def page(
        self, template: str, tab: str, context: dict[str, Any] | None = None, /, status: int = 200
    ) -> TemplateResponse:
        """A page in the group's frame, with one of its tabs marked."""
        words = ("issues", "boards", "merge_requests", "labels", "milestones")
        tabs = [(word, f"{self.url}/-/{word}", word.capitalize().replace("_", " ")) for word in words]
        frame = {"group": self.group, "place": self, "tab": tab, "tabs": [("home", self.url, "Group"), *tabs]}
        return TemplateResponse(template, {**frame, "last_tab": self._last_tab(), **(context or {})}, status)

    def _last_tab(self) -> tuple[str, str, str]:
        """Settings, with the members among them, or the members alone."""
        if self.may(group_projects_api.edit_group):
            return "settings", f"{self.url}/-/edit", "Settings"
        return "members", f"{self.url}/-/group_members", "Members"


def group_context(visit: Visit) -> GroupContext:
    """The group that the address names, for those who may see it."""
    return GroupContext(
        visit, visit.ask(group_projects_api.get_group, {"with_projects": "false"}, id=visit.request.path["path"])
    )
