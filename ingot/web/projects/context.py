"""Context of project pages: the project, its navigation tabs, and calls to its endpoints."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import msgspec

from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.issues.views import open_issues_total
from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.collaboration.merge_requests.views import open_merge_requests_total
from ingot.collaboration.snippets import api as snippets_api
from ingot.core.api.internal_client import P, S, V, WorksOn
from ingot.core.errors import NotFound
from ingot.integrations.views import external_wiki_or_none
from ingot.packages.containers import api as containers_api
from ingot.packages.records import api as packages_api
from ingot.projects.projects import api as projects_api
from ingot.projects.projects.views import ProjectView
from ingot.repositories.commit_statuses import api as statuses_api
from ingot.repositories.protection import api as protection_api
from ingot.repositories.trees import api as trees_api
from ingot.repositories.wikis import api as wikis_api
from ingot.web.page_routes import TemplateResponse, Visit


class ProjectContext(msgspec.Struct, frozen=True):
    """Project of a page, with the current request."""

    visit: Visit
    project: ProjectView

    @property
    def url(self) -> str:
        """Return the path of the project's home page."""
        return f"/{self.project.path_with_namespace}"

    def ask(self, endpoint: Callable[..., V], params: dict[str, Any] | None = None, /, **path: object) -> V:
        """Call an endpoint of this project."""
        return self.visit.client.ask(endpoint, params, {"id": self.project.id, **path}, "projects")

    def find(self, endpoint: WorksOn[S, P], /, **path: object) -> S:
        """Return the subject that an endpoint of this project finds."""
        return self.visit.client.find(endpoint, {"id": self.project.id, **path}, "projects")

    def may(self, endpoint: Callable[..., object], /, **path: object) -> bool:
        """Return whether the user has permission to call an endpoint of this project."""
        return self.visit.client.may(endpoint, {"id": self.project.id, **path}, "projects")

    def either(self, of_project: Callable[..., V], of_group: Callable[..., V]) -> Callable[..., V]:  # noqa: ARG002 - A group takes the other one.
        """Return the first of two handlers, which serves projects; group contexts return the second."""
        return of_project

    def new_merge_request(self, source: str, target: str | None) -> str:
        """Return the URL of the form for a new merge request of a branch.

        A fork proposes its changes to the upstream project, whose default branch the form selects.
        """
        params = {"merge_request[source_branch]": source}
        if self.project.forked_from_project is None or target not in (None, "", self.project.default_branch):
            params["merge_request[target_branch]"] = target or ""
        return f"{self.url}/-/merge_requests/new?{urlencode(params)}"

    def page(
        self, template: str, tab: str, context: dict[str, Any] | None = None, /, status: int = 200
    ) -> TemplateResponse:
        """Render a page in the project layout with ``tab`` selected."""
        shared = {
            "project": self.project,
            "parent": self,
            "tab": tab,
            "tabs": tabs_of(self),
            "new_pages": new_pages_of(self),
        }
        return TemplateResponse(template, {**shared, **(context or {})}, status)


def project_context(visit: Visit) -> ProjectContext:
    """Return the context of the project in the URL; raise ``NotFound`` without permission to see it."""
    project = visit.ask(projects_api.get_project, {"ci_settings": False}, id=visit.request.path["path"])
    if project.path_with_namespace.isdigit():
        raise NotFound("Project")
    return ProjectContext(visit, project)


def tabs_of(parent: ProjectContext) -> list[tuple[str, str, str, int | None]]:
    """Return the tabs that the user has permission to see: key, URL, label and count."""
    url = parent.url
    tabs: list[tuple[str, str, str, int | None]] = [("home", url, "Project", None)]
    reads_code = parent.may(trees_api.list_tree)
    if reads_code:
        tabs += [("code", f"{url}/-/tree", "Code", None), ("commits", f"{url}/-/commits", "Commits", None)]
    if parent.may(issues_api.list_project_issues):
        tabs.append(("issues", f"{url}/-/issues", "Issues", _open_issues(parent)))
    reads_merge_requests = parent.may(merge_requests_api.list_project_merge_requests)
    if reads_merge_requests:
        tabs.append(("merge_requests", f"{url}/-/merge_requests", "Merge requests", _open_merge_requests(parent)))
    if parent.project.jobs_enabled and parent.may(statuses_api.list_pipelines):
        tabs.append(("pipelines", f"{url}/-/pipelines", "Pipelines", None))
    if parent.may(packages_api.list_packages):
        tabs.append(("packages", f"{url}/-/packages", "Packages", None))
    elif parent.may(containers_api.list_container_repositories):
        tabs.append(("packages", f"{url}/-/container_registry", "Packages", None))
    if parent.may(wikis_api.list_pages):
        tabs.append(("wiki", f"{url}/-/wikis", "Wiki", None))
    external_wiki = parent.visit.database.read(lambda db: external_wiki_or_none(db, parent.project.id))
    # Projects with an external wiki usually disable their own one, but members may also keep it to themselves.
    if external_wiki and (parent.project.wiki_access_level == "disabled" or parent.may(wikis_api.list_pages)):
        tabs.append(("external_wiki", external_wiki, "External wiki", None))
    if reads_merge_requests:
        tabs.append(("analytics", f"{url}/-/value_stream_analytics", "Analyze", None))
    elif reads_code:
        tabs.append(("analytics", f"{url}/-/graphs", "Analyze", None))
    if parent.may(snippets_api.list_project_snippets):
        tabs.append(("snippets", f"{url}/-/snippets", "Snippets", None))
    if parent.may(protection_api.list_protected_branches):
        tabs.append(("settings", f"{url}/-/edit", "Settings", None))
    else:
        tabs.append(("members", f"{url}/-/project_members", "Members", None))
    return tabs


def _open_issues(parent: ProjectContext) -> int:
    """Count the open issues as the list does: those that the user has permission to see."""
    scope, actor = parent.find(issues_api.list_project_issues), parent.visit.viewer.actor
    return parent.visit.database.read(lambda db: open_issues_total(db, actor, scope))


def _open_merge_requests(parent: ProjectContext) -> int:
    return parent.visit.database.read(lambda db: open_merge_requests_total(db, parent.project.id))


def new_pages_of(parent: ProjectContext) -> list[tuple[str, str]]:
    """Return the forms for new objects of the project that the user has permission to submit: URL and label."""
    pages = []
    if parent.may(issues_api.create_issue):
        pages.append((f"{parent.url}/-/issues/new", "Issue"))
    if parent.may(merge_requests_api.create_merge_request):
        pages.append((f"{parent.url}/-/merge_requests/new", "Merge request"))
    return pages
