"""Endpoints of searches."""

from typing import Any

from ingot.accounts.instance.search_access import require_global_search
from ingot.accounts.users.views import UserBrief
from ingot.collaboration.issues.views import IssueView
from ingot.collaboration.merge_requests.views import MergeRequestView
from ingot.collaboration.milestones.views import MilestoneView
from ingot.collaboration.notes.views import NoteView
from ingot.collaboration.snippets.views import SnippetView
from ingot.core.access.rules import signed_in
from ingot.core.api.params import MissingParameter
from ingot.core.api.routes import Call, Routes
from ingot.core.db.expressions import validate_search_length
from ingot.core.db.paging import Listing, Page
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_see_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import project_lookup_in_path, repository_store
from ingot.projects.projects.policy import ProjectLookup, may_see_project_lookup
from ingot.projects.projects.views import ProjectView, instance_urls_at
from ingot.search.params import SearchAnywhere, SearchGroup, SearchParams, SearchProject
from ingot.search.scopes import ANYWHERE, IN_GROUP, IN_PROJECT, ProjectSearchScope, SearchRequest
from ingot.search.views import FoundCommitView, FoundFileView

routes = Routes("search")
_CommonView = ProjectView | IssueView | MergeRequestView | MilestoneView | UserBrief


def _search_request(call: Call, params: SearchParams, page: Page) -> SearchRequest:
    if not params.search.strip():
        raise MissingParameter("search")
    validate_search_length(params.search)
    urls = instance_urls_at(call.origin.base, call.settings)
    return SearchRequest(call.db, call.actor, params, page, urls, repository_store(call.settings))


@routes.get("/search", may=signed_in, returns=list[_CommonView | SnippetView], heavy=True)
def search_anywhere(call: Call, params: SearchAnywhere, page: Page) -> Listing[Any]:
    """Search everything that the caller may see."""
    require_global_search(call.db, params.scope)
    return ANYWHERE[params.scope](_search_request(call, params, page))


@routes.get("/groups/:id/search", on=group_in_path, may=may_see_group, returns=list[_CommonView], heavy=True)
def search_group(call: Call, group: Namespace, params: SearchGroup, page: Page) -> Listing[Any]:
    """Search a group and its subgroups."""
    return IN_GROUP[params.scope](_search_request(call, params, page), group)


@routes.get("/groups/:id/-/search", on=group_in_path, may=may_see_group, returns=list[_CommonView], heavy=True)
def search_group_by_dash(call: Call, group: Namespace, params: SearchGroup, page: Page) -> Listing[Any]:
    """Search a group and its subgroups (alternative path)."""
    return search_group(call, group, params, page)


_ProjectResult = IssueView | MergeRequestView | MilestoneView | NoteView | FoundFileView | FoundCommitView | UserBrief


@routes.get(
    "/projects/:id/search",
    on=project_lookup_in_path,
    may=may_see_project_lookup,
    returns=list[_ProjectResult],
    heavy=True,
)
def search_project(call: Call, lookup: ProjectLookup, params: SearchProject, page: Page) -> Listing[Any]:
    """Search a project."""
    scope = ProjectSearchScope(lookup.access, lookup.project, params.ref)
    return IN_PROJECT[params.scope](_search_request(call, params, page), scope)


@routes.get(
    "/projects/:id/-/search",
    on=project_lookup_in_path,
    may=may_see_project_lookup,
    returns=list[_ProjectResult],
    heavy=True,
)
def search_project_by_dash(call: Call, lookup: ProjectLookup, params: SearchProject, page: Page) -> Listing[Any]:
    """Search a project (alternative path)."""
    return search_project(call, lookup, params, page)
