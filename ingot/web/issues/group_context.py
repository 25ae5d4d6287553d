"""Where a page of a group's plans is: what its frame shows and offers."""

from typing import Any

import msgspec

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

    def get(self, route: str, sent: dict[str, Any] | None = None, /, **path: Any) -> Any:
        """What the API gives for something in this group; ``route`` is what follows the group's number."""
        return self.call("GET", route, sent, **path)

    def call(self, method: str, route: str, sent: dict[str, Any] | None = None, /, **path: Any) -> Any:
        """The same for any method."""
        return self.visit.call(method, f"/groups/:id{route}", sent, id=self.group.id, **path)

    def may(self, method: str, route: str, /, **path: Any) -> bool:
        """Whether the visitor may call something in this group."""
        return self.visit.may(method, f"/groups/:id{route}", id=self.group.id, **path)

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
        if self.may("PUT", ""):
            return "settings", f"{self.url}/-/edit", "Settings"
        return "members", f"{self.url}/-/group_members", "Members"


def group_context(visit: Visit) -> GroupContext:
    """The group that the address names, for those who may see it."""
    return GroupContext(visit, visit.get("/groups/:id", {"with_projects": "false"}, id=visit.path["path"]))
