"""Search scopes: each one calls the list query of its package, which checks the caller's permissions."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from ingot.accounts.users.params import ListUsers
from ingot.accounts.users.queries import list_users
from ingot.accounts.users.tables import User
from ingot.accounts.users.views import UserBrief, user_brief
from ingot.collaboration.issues.params import ListIssues
from ingot.collaboration.issues.policy import may_read_issues
from ingot.collaboration.issues.queries import list_group_issues, list_issues, list_project_issues
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.issues.views import IssueView, issue_views
from ingot.collaboration.merge_requests.list_views import merge_request_list_views
from ingot.collaboration.merge_requests.params import ListMergeRequests
from ingot.collaboration.merge_requests.policy import may_read_merge_requests
from ingot.collaboration.merge_requests.queries import (
    list_group_merge_requests,
    list_merge_requests,
    list_project_merge_requests,
)
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.merge_requests.views import MergeRequestView
from ingot.collaboration.milestones.params import ListGroupMilestones, ListMilestones
from ingot.collaboration.milestones.policy import may_read_milestones
from ingot.collaboration.milestones.queries import list_milestones, list_visible_milestones
from ingot.collaboration.milestones.tables import Milestone
from ingot.collaboration.milestones.views import MilestoneView, milestone_view
from ingot.collaboration.notes.views import NoteView, views_of_notes
from ingot.collaboration.snippets.queries import search_snippets
from ingot.collaboration.snippets.views import SnippetView, snippet_views
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.access.rules import require
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.git.core.repository import Repository
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.group_shares.shared_members import invited_member_queries
from ingot.projects.groups.queries import member_source as source_of_group
from ingot.projects.members.params import ListMembers
from ingot.projects.members.queries import list_members
from ingot.projects.members.records import Member
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.code_access import readable_repository
from ingot.projects.projects.params import ListProjects
from ingot.projects.projects.policy import may_download_code
from ingot.projects.projects.queries import list_group_projects, list_projects
from ingot.projects.projects.queries import member_source as source_of_project
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import InstanceUrls, ProjectView, project_views, with_clone_root
from ingot.projects.sharing.queries import list_all_members
from ingot.repositories.wikis.policy import WikiContext as Wiki
from ingot.repositories.wikis.policy import may_read_wiki
from ingot.repositories.wikis.queries import wiki_repository_or_none
from ingot.search.code import commit_oid_or_none, find_commits, find_files
from ingot.search.notes import iids_of_subjects, search_notes
from ingot.search.params import SearchParams
from ingot.search.views import FoundCommitView, FoundFileView, found_commit_view, found_file_view


class SearchRequest(NamedTuple):
    """Caller, parameters and page of a search."""

    db: Connection
    actor: Actor
    params: SearchParams
    page: Page
    urls: InstanceUrls
    store: RepositoryStore

    @property
    def text(self) -> str:
        """Return the search text."""
        return self.params.search


class ProjectSearchScope(NamedTuple):
    """The project to search, the caller's access to it and the ref of its code."""

    access: Access
    project: Project
    ref: str


Anywhere = Callable[[SearchRequest], Listing[Any]]
InGroup = Callable[[SearchRequest, Namespace], Listing[Any]]
InProject = Callable[[SearchRequest, ProjectSearchScope], Listing[Any]]


def _projects(request: SearchRequest, listing: Listing[Project]) -> Listing[ProjectView]:
    return listing.of(
        project_views(request.db, request.actor, listing.items, with_clone_root(request.db, request.urls))
    )


def _project_filters(request: SearchRequest) -> ListProjects:
    return ListProjects(search=request.text, sort=request.params.sort)


def _projects_anywhere(request: SearchRequest) -> Listing[ProjectView]:
    return _projects(request, list_projects(request.db, request.actor, _project_filters(request), request.page))


def _projects_in_group(request: SearchRequest, group: Namespace) -> Listing[ProjectView]:
    filters = _project_filters(request)
    return _projects(request, list_group_projects(request.db, request.actor, group, filters, request.page, deep=True))


def _issues(request: SearchRequest, listing: Listing[Issue]) -> Listing[IssueView]:
    return listing.of(issue_views(request.db, request.actor, listing.items, request.urls.base))


def _issue_filters(request: SearchRequest) -> ListIssues | None:
    """Return the filters of issues; None for a state that issues do not have."""
    params = request.params
    if params.state not in (None, "opened", "closed", "all"):
        return None
    return ListIssues(
        scope="all", search=request.text, state=params.state, confidential=params.confidential, sort=params.sort
    )


def _issues_anywhere(request: SearchRequest) -> Listing[IssueView]:
    filters = _issue_filters(request)
    return (
        _empty_page(request)
        if filters is None
        else _issues(request, list_issues(request.db, request.actor, filters, request.page))
    )


def _issues_in_group(request: SearchRequest, group: Namespace) -> Listing[IssueView]:
    filters = _issue_filters(request)
    if filters is None:
        return _empty_page(request)
    return _issues(request, list_group_issues(request.db, request.actor, group.id, filters, request.page))


def _issues_in_project(request: SearchRequest, scope: ProjectSearchScope) -> Listing[IssueView]:
    access, project, _ = scope
    require(may_read_issues(request.actor, access, project))
    filters = _issue_filters(request)
    if filters is None:
        return _empty_page(request)
    return _issues(request, list_project_issues(request.db, request.actor, access, project, filters, request.page))


def _merge_requests(
    request: SearchRequest, listing: Listing[MergeRequest], project: Project | None = None
) -> Listing[MergeRequestView]:
    return listing.of(merge_request_list_views(request.db, request.store, listing.items, request.urls.base, project))


def _merge_request_filters(request: SearchRequest) -> ListMergeRequests:
    return ListMergeRequests(scope="all", search=request.text, state=request.params.state, sort=request.params.sort)


def _merge_requests_anywhere(request: SearchRequest) -> Listing[MergeRequestView]:
    filters = _merge_request_filters(request)
    return _merge_requests(request, list_merge_requests(request.db, request.actor, filters, request.page))


def _merge_requests_in_group(request: SearchRequest, group: Namespace) -> Listing[MergeRequestView]:
    filters = _merge_request_filters(request)
    return _merge_requests(
        request, list_group_merge_requests(request.db, request.actor, group.id, filters, request.page)
    )


def _merge_requests_in_project(request: SearchRequest, scope: ProjectSearchScope) -> Listing[MergeRequestView]:
    access, project, _ = scope
    require(may_read_merge_requests(request.actor, access, project))
    filters = _merge_request_filters(request)
    listing = list_project_merge_requests(request.db, request.actor, project, filters, request.page)
    return _merge_requests(request, listing, project)


def _milestones(request: SearchRequest, listing: Listing[Milestone]) -> Listing[MilestoneView]:
    return listing.of([milestone_view(milestone, request.db.today, request.urls.base) for milestone in listing.items])


def _milestones_anywhere(request: SearchRequest) -> Listing[MilestoneView]:
    filters = ListMilestones(search=request.text)
    return _milestones(
        request, list_visible_milestones(request.db, request.actor, filters, request.page, request.params.sort)
    )


def _milestones_in_group(request: SearchRequest, group: Namespace) -> Listing[MilestoneView]:
    filters = ListGroupMilestones(search=request.text, include_descendants=True)
    return _milestones(
        request, list_milestones(request.db, request.actor, source_of_group(group), filters, request.page)
    )


def _milestones_in_project(request: SearchRequest, scope: ProjectSearchScope) -> Listing[MilestoneView]:
    require(may_read_milestones(request.actor, scope.access, scope.project))
    filters, source = ListMilestones(search=request.text), source_of_project(scope.project)
    return _milestones(request, list_milestones(request.db, request.actor, source, filters, request.page))


def _users(request: SearchRequest, listing: Listing[User] | Listing[Member]) -> Listing[UserBrief]:
    return listing.of([user_brief(user, request.urls.base) for user in listing.items])


def _users_anywhere(request: SearchRequest) -> Listing[UserBrief]:
    filters = ListUsers(search=request.text, sort=request.params.sort)
    return _users(request, list_users(request.db, request.actor, filters, request.page))


def _users_in_group(request: SearchRequest, group: Namespace) -> Listing[UserBrief]:
    invited = invited_member_queries(request.db, request.actor, group.id)
    filters, source = ListMembers(query=request.text), source_of_group(group)
    return _users(request, list_members(request.db, source, filters, request.page, invited))


def _users_in_project(request: SearchRequest, scope: ProjectSearchScope) -> Listing[UserBrief]:
    filters = ListMembers(query=request.text)
    return _users(request, list_all_members(request.db, request.actor, scope.project, filters, request.page))


def _snippets(request: SearchRequest, where: Literal["titles", "contents"]) -> Listing[SnippetView]:
    listing = search_snippets(request.db, request.actor, where, request.text, request.page, request.params.sort)
    return listing.of(snippet_views(request.db, listing.items, request.urls.base))


def _snippet_titles(request: SearchRequest) -> Listing[SnippetView]:
    return _snippets(request, "titles")


def _snippet_contents(request: SearchRequest) -> Listing[SnippetView]:
    return _snippets(request, "contents")


def _notes_in_project(request: SearchRequest, scope: ProjectSearchScope) -> Listing[NoteView]:
    access, project, _ = scope
    listing = search_notes(request.db, request.actor, access, project, request.text, request.page, request.params.sort)
    iids = iids_of_subjects(request.db, listing.items)
    return listing.of(
        views_of_notes(
            request.db, listing.items, lambda note: iids.get((note.subject_kind, note.subject_id)), request.urls.base
        )
    )


def _commits_in_project(request: SearchRequest, scope: ProjectSearchScope) -> Listing[FoundCommitView]:
    repository = _searchable_repository(request, scope)
    tip = commit_oid_or_none(repository, scope.ref, scope.project.default_branch)
    listing = find_commits(repository, tip, request.text, request.page)
    url = f"{request.urls.base}/{scope.project.full_path}"
    return listing.of([found_commit_view(commit, scope.project.id, url) for commit in listing.items])


def _files_in_project(request: SearchRequest, scope: ProjectSearchScope) -> Listing[FoundFileView]:
    return _files(request, scope, _searchable_repository(request, scope), scope.project.default_branch)


def _wiki_pages_in_project(request: SearchRequest, scope: ProjectSearchScope) -> Listing[FoundFileView]:
    wiki = Wiki(scope.access, scope.project, wiki_repository_or_none(request.db, request.store, scope.project))
    require(may_read_wiki(request.actor, scope.access, wiki))
    if wiki.repository is None:
        return _empty_page(request)
    return _files(request, scope, wiki.repository, wiki.repository.head_branch())


def _files(
    request: SearchRequest, scope: ProjectSearchScope, repository: Repository, branch: str | None
) -> Listing[FoundFileView]:
    commit = commit_oid_or_none(repository, scope.ref, branch)
    listing = find_files(repository, commit, request.text, request.page)
    ref_name = scope.ref or branch or "HEAD"
    return listing.of([found_file_view(match, ref_name, scope.project.id) for match in listing.items])


def _searchable_repository(request: SearchRequest, scope: ProjectSearchScope) -> Repository:
    require(may_download_code(request.actor, scope.access, scope.project))
    return readable_repository(request.store, request.actor, scope.access, scope.project)


def _empty_page(request: SearchRequest, *_: object) -> Listing[Any]:
    return Listing([], request.page, 0)


# The parameters accept only scopes that have an entry here.
ANYWHERE: dict[str, Anywhere] = {
    "projects": _projects_anywhere,
    "issues": _issues_anywhere,
    "merge_requests": _merge_requests_anywhere,
    "milestones": _milestones_anywhere,
    "snippet_titles": _snippet_titles,
    "snippet_blobs": _snippet_contents,
    "users": _users_anywhere,
}
IN_GROUP: dict[str, InGroup] = {
    "projects": _projects_in_group,
    "issues": _issues_in_group,
    "merge_requests": _merge_requests_in_group,
    "milestones": _milestones_in_group,
    "users": _users_in_group,
}
IN_PROJECT: dict[str, InProject] = {
    "issues": _issues_in_project,
    "merge_requests": _merge_requests_in_project,
    "milestones": _milestones_in_project,
    "notes": _notes_in_project,
    "wiki_blobs": _wiki_pages_in_project,
    "commits": _commits_in_project,
    "blobs": _files_in_project,
    "users": _users_in_project,
}
