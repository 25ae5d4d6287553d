"""Searches over the API."""

from typing import Any

from ingot.access.rules import signed_in
from ingot.api.params import Missing
from ingot.api.routes import Call, Routes
from ingot.db.expressions import refuse_long_search
from ingot.db.paging import Listing, Page
from ingot.groups.api import group_in_path
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.policy import may_see_group
from ingot.issues.views import IssueView
from ingot.merge_requests.views import MergeRequestView
from ingot.milestones.views import MilestoneView
from ingot.notes.views import NoteView
from ingot.projects.api import found_in_path, store_of
from ingot.projects.policy import Found, may_see_found
from ingot.projects.views import ProjectView, addresses_of
from ingot.search.params import SearchAnywhere, SearchGroup, SearchProject, Wanted
from ingot.search.scopes import ANYWHERE, IN_GROUP, IN_PROJECT, Asked, Within
from ingot.search.views import FoundCommitView, FoundFileView
from ingot.snippets.views import SnippetView
from ingot.users.accounts.views import UserBrief

routes = Routes("search")
_Shared = ProjectView | IssueView | MergeRequestView | MilestoneView | UserBrief


def _asked(call: Call, wanted: Wanted, page: Page) -> Asked:
    if not wanted.search.strip():
        raise Missing("search")
    refuse_long_search(wanted.search)
    at = addresses_of(call.origin, call.settings)
    return Asked(call.db, call.actor, wanted, page, at, store_of(call.settings))


@routes.get("/search", may=signed_in, returns=list[_Shared | SnippetView], heavy=True)
def search_anywhere(call: Call, params: SearchAnywhere, page: Page) -> Listing[Any]:
    """Find what holds a text, wherever the caller may look."""
    return ANYWHERE[params.scope](_asked(call, params, page))


@routes.get("/groups/:id/search", on=group_in_path, may=may_see_group, returns=list[_Shared], heavy=True)
def search_group(call: Call, group: Namespace, params: SearchGroup, page: Page) -> Listing[Any]:
    """Find what holds a text in a group and all below it."""
    return IN_GROUP[params.scope](_asked(call, params, page), group)


@routes.get("/groups/:id/-/search", on=group_in_path, may=may_see_group, returns=list[_Shared], heavy=True)
def search_group_by_dash(call: Call, group: Namespace, params: SearchGroup, page: Page) -> Listing[Any]:
    """Find what holds a text in a group and all below it, by its other address."""
    return search_group(call, group, params, page)


_InProject = IssueView | MergeRequestView | MilestoneView | NoteView | FoundFileView | FoundCommitView | UserBrief


@routes.get("/projects/:id/search", on=found_in_path, may=may_see_found, returns=list[_InProject], heavy=True)
def search_project(call: Call, found: Found, params: SearchProject, page: Page) -> Listing[Any]:
    """Find what holds a text in a project."""
    within = Within(found.here, found.project, params.ref)
    return IN_PROJECT[params.scope](_asked(call, params, page), within)


@routes.get("/projects/:id/-/search", on=found_in_path, may=may_see_found, returns=list[_InProject], heavy=True)
def search_project_by_dash(call: Call, found: Found, params: SearchProject, page: Page) -> Listing[Any]:
    """Find what holds a text in a project, by its other address."""
    return search_project(call, found, params, page)
