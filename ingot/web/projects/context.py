"""Where a page of a project is: what its frame shows and offers."""

from typing import Any
from urllib.parse import urlencode

import msgspec

from ingot.errors import NotFound
from ingot.projects.projects.views import ProjectView
from ingot.web.page_routes import TemplateResponse, Visit


class ProjectContext(msgspec.Struct, frozen=True):
    """A project as a visitor meets it."""

    visit: Visit
    project: ProjectView

    @property
    def url(self) -> str:
        """Where its pages begin, on this host."""
        return f"/{self.project.path_with_namespace}"

    def get(self, route: str, sent: dict[str, Any] | None = None, /, **path: Any) -> Any:
        """What the API gives for something in this project; ``route`` is what follows the project's number."""
        return self.visit.get(f"/projects/:id{route}", sent, id=self.project.id, **path)

    def call(self, method: str, route: str, sent: dict[str, Any] | None = None, /, **path: Any) -> Any:
        """The same for any method."""
        return self.visit.call(method, f"/projects/:id{route}", sent, id=self.project.id, **path)

    def may(self, method: str, route: str, /, **path: Any) -> bool:
        """Whether the visitor may call something in this project."""
        return self.visit.may(method, f"/projects/:id{route}", id=self.project.id, **path)

    def new_merge_request(self, source: str, target: str | None) -> str:
        """Where a merge request of a branch is written."""
        asked = {"merge_request[source_branch]": source, "merge_request[target_branch]": target or ""}
        return f"{self.url}/-/merge_requests/new?{urlencode(asked)}"

    def page(
        self, template: str, tab: str, context: dict[str, Any] | None = None, /, status: int = 200
    ) -> TemplateResponse:
        """A page in the project's frame, with one of its tabs marked."""
        frame = {"project": self.project, "place": self, "tab": tab, "tabs": _tabs(self)}
        return TemplateResponse(template, {**frame, **(context or {})}, status)


def project_context(visit: Visit) -> ProjectContext:
    """The project that the address names, for those who may see it."""
    project = visit.get("/projects/:id", id=visit.path["path"])
    if project.path_with_namespace.isdigit():
        raise NotFound("Project")
    return ProjectContext(visit, project)


def _tabs(place: ProjectContext) -> list[tuple[str, str, str, int | None]]:
    """What the project has for this visitor: a word, its address, its name, and how many there are."""
    project, url = place.project, place.url
    tabs: list[tuple[str, str, str, int | None]] = [("home", url, "Project", None)]
    if place.may("GET", "/repository/tree"):
        tabs += [("code", f"{url}/-/tree", "Code", None), ("commits", f"{url}/-/commits", "Commits", None)]
    if place.may("GET", "/issues"):
        tabs.append(("issues", f"{url}/-/issues", "Issues", project.open_issues_count or 0))
    if place.may("GET", "/merge_requests"):
        tabs.append(("merge_requests", f"{url}/-/merge_requests", "Merge requests", None))
    if place.may("GET", "/wikis"):
        tabs.append(("wiki", f"{url}/-/wikis", "Wiki", None))
    if place.may("GET", "/snippets"):
        tabs.append(("snippets", f"{url}/-/snippets", "Snippets", None))
    if place.may("GET", "/protected_branches"):
        tabs.append(("settings", f"{url}/-/edit", "Settings", None))
    else:
        tabs.append(("members", f"{url}/-/project_members", "Members", None))
    return tabs
