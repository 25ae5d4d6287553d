"""What can be looked for: each scope asks the room that it belongs to, which decides what the caller may see."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.access.rules import require
from ingot.db.connection import Connection
from ingot.db.paging import Listing, Page
from ingot.git.repository import Repository
from ingot.git.store import Store
from ingot.groups.members.params import ListMembers
from ingot.groups.members.queries import list_members
from ingot.groups.members.records import Member
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.queries import source_of as source_of_group
from ingot.groups.shares.people import ways_into_group
from ingot.issues.params import ListIssues
from ingot.issues.policy import may_read_issues
from ingot.issues.queries import list_group_issues, list_issues, list_project_issues
from ingot.issues.tables import Issue
from ingot.issues.views import IssueView, issue_views
from ingot.merge_requests.listing import page_of_views
from ingot.merge_requests.params import ListMergeRequests
from ingot.merge_requests.policy import may_read_merge_requests
from ingot.merge_requests.queries import list_group_merge_requests, list_merge_requests, list_project_merge_requests
from ingot.merge_requests.tables import MergeRequest
from ingot.merge_requests.views import MergeRequestView
from ingot.milestones.params import ListGroupMilestones, ListMilestones
from ingot.milestones.policy import may_read_milestones
from ingot.milestones.queries import list_milestones, list_milestones_anywhere
from ingot.milestones.tables import Milestone
from ingot.milestones.views import MilestoneView, milestone_view
from ingot.notes.views import NoteView, views_of_notes
from ingot.projects.code import code_of_project
from ingot.projects.params import ListProjects
from ingot.projects.people.queries import list_everybody
from ingot.projects.policy import may_download_code
from ingot.projects.queries import list_group_projects, list_projects
from ingot.projects.queries import source_of as source_of_project
from ingot.projects.tables import Project
from ingot.projects.views import Addresses, ProjectView, project_views
from ingot.search.code import commit_of, find_commits, find_files
from ingot.search.notes import iids_of_subjects, search_notes
from ingot.search.params import Wanted
from ingot.search.views import FoundCommitView, FoundFileView, found_commit_view, found_file_view
from ingot.snippets.queries import search_snippets
from ingot.snippets.views import SnippetView, snippet_views
from ingot.users.accounts.params import ListUsers
from ingot.users.accounts.queries import list_users
from ingot.users.accounts.tables import User
from ingot.users.accounts.views import UserBrief, user_brief
from ingot.wikis.policy import Place as Wiki
from ingot.wikis.policy import may_read_wiki
from ingot.wikis.queries import wiki_of


class Asked(NamedTuple):
    """Who looks for what, and which page of it."""

    db: Connection
    actor: Actor
    wanted: Wanted
    page: Page
    at: Addresses
    store: Store

    @property
    def text(self) -> str:
        """What is looked for."""
        return self.wanted.search


class Within(NamedTuple):
    """A project to look in, what the caller holds in it, and which state of its code is meant."""

    here: Access
    project: Project
    ref: str


Anywhere = Callable[[Asked], Listing[Any]]
InGroup = Callable[[Asked, Namespace], Listing[Any]]
InProject = Callable[[Asked, Within], Listing[Any]]


def _projects(asked: Asked, found: Listing[Project]) -> Listing[ProjectView]:
    return found.of(project_views(asked.db, asked.actor, found.items, asked.at))


def _wanted_projects(asked: Asked) -> ListProjects:
    return ListProjects(search=asked.text, sort=asked.wanted.sort)


def _projects_anywhere(asked: Asked) -> Listing[ProjectView]:
    return _projects(asked, list_projects(asked.db, asked.actor, _wanted_projects(asked), asked.page))


def _projects_in_group(asked: Asked, group: Namespace) -> Listing[ProjectView]:
    wanted = _wanted_projects(asked)
    return _projects(asked, list_group_projects(asked.db, asked.actor, group, wanted, asked.page, deep=True))


def _issues(asked: Asked, found: Listing[Issue]) -> Listing[IssueView]:
    return found.of(issue_views(asked.db, asked.actor, found.items, asked.at.base))


def _wanted_issues(asked: Asked) -> ListIssues | None:
    """Nothing where the state is one that no issue has."""
    wanted = asked.wanted
    if wanted.state not in (None, "opened", "closed", "all"):
        return None
    return ListIssues(
        scope="all", search=asked.text, state=wanted.state, confidential=wanted.confidential, sort=wanted.sort
    )


def _issues_anywhere(asked: Asked) -> Listing[IssueView]:
    wanted = _wanted_issues(asked)
    return _none(asked) if wanted is None else _issues(asked, list_issues(asked.db, asked.actor, wanted, asked.page))


def _issues_in_group(asked: Asked, group: Namespace) -> Listing[IssueView]:
    wanted = _wanted_issues(asked)
    if wanted is None:
        return _none(asked)
    return _issues(asked, list_group_issues(asked.db, asked.actor, group.id, wanted, asked.page))


def _issues_in_project(asked: Asked, within: Within) -> Listing[IssueView]:
    here, project, _ = within
    require(may_read_issues(asked.actor, here, project))
    wanted = _wanted_issues(asked)
    if wanted is None:
        return _none(asked)
    return _issues(asked, list_project_issues(asked.db, asked.actor, here, project, wanted, asked.page))


def _merge_requests(
    asked: Asked, found: Listing[MergeRequest], project: Project | None = None
) -> Listing[MergeRequestView]:
    return found.of(page_of_views(asked.db, asked.store, found.items, asked.at.base, project))


def _wanted_merge_requests(asked: Asked) -> ListMergeRequests:
    return ListMergeRequests(scope="all", search=asked.text, state=asked.wanted.state, sort=asked.wanted.sort)


def _merge_requests_anywhere(asked: Asked) -> Listing[MergeRequestView]:
    wanted = _wanted_merge_requests(asked)
    return _merge_requests(asked, list_merge_requests(asked.db, asked.actor, wanted, asked.page))


def _merge_requests_in_group(asked: Asked, group: Namespace) -> Listing[MergeRequestView]:
    wanted = _wanted_merge_requests(asked)
    return _merge_requests(asked, list_group_merge_requests(asked.db, asked.actor, group.id, wanted, asked.page))


def _merge_requests_in_project(asked: Asked, within: Within) -> Listing[MergeRequestView]:
    here, project, _ = within
    require(may_read_merge_requests(asked.actor, here, project))
    wanted = _wanted_merge_requests(asked)
    found = list_project_merge_requests(asked.db, asked.actor, project, wanted, asked.page)
    return _merge_requests(asked, found, project)


def _milestones(asked: Asked, found: Listing[Milestone]) -> Listing[MilestoneView]:
    return found.of([milestone_view(milestone, asked.db.now, asked.at.base) for milestone in found.items])


def _milestones_anywhere(asked: Asked) -> Listing[MilestoneView]:
    wanted = ListMilestones(search=asked.text)
    return _milestones(asked, list_milestones_anywhere(asked.db, asked.actor, wanted, asked.page, asked.wanted.sort))


def _milestones_in_group(asked: Asked, group: Namespace) -> Listing[MilestoneView]:
    wanted = ListGroupMilestones(search=asked.text, include_descendants=True)
    return _milestones(asked, list_milestones(asked.db, asked.actor, source_of_group(group), wanted, asked.page))


def _milestones_in_project(asked: Asked, within: Within) -> Listing[MilestoneView]:
    require(may_read_milestones(asked.actor, within.here, within.project))
    wanted, source = ListMilestones(search=asked.text), source_of_project(within.project)
    return _milestones(asked, list_milestones(asked.db, asked.actor, source, wanted, asked.page))


def _users(asked: Asked, found: Listing[User] | Listing[Member]) -> Listing[UserBrief]:
    return found.of([user_brief(user, asked.at.base) for user in found.items])


def _users_anywhere(asked: Asked) -> Listing[UserBrief]:
    wanted = ListUsers(search=asked.text, sort=asked.wanted.sort)
    return _users(asked, list_users(asked.db, asked.actor, wanted, asked.page))


def _users_in_group(asked: Asked, group: Namespace) -> Listing[UserBrief]:
    ways = ways_into_group(asked.db, asked.actor, group.id)
    wanted, source = ListMembers(query=asked.text), source_of_group(group)
    return _users(asked, list_members(asked.db, source, wanted, asked.page, ways))


def _users_in_project(asked: Asked, within: Within) -> Listing[UserBrief]:
    wanted = ListMembers(query=asked.text)
    return _users(asked, list_everybody(asked.db, asked.actor, within.project, wanted, asked.page))


def _snippets(asked: Asked, where: Literal["titles", "contents"]) -> Listing[SnippetView]:
    found = search_snippets(asked.db, asked.actor, where, asked.text, asked.page, asked.wanted.sort)
    return found.of(snippet_views(asked.db, found.items, asked.at.base))


def _snippet_titles(asked: Asked) -> Listing[SnippetView]:
    return _snippets(asked, "titles")


def _snippet_contents(asked: Asked) -> Listing[SnippetView]:
    return _snippets(asked, "contents")


def _notes_in_project(asked: Asked, within: Within) -> Listing[NoteView]:
    here, project, _ = within
    found = search_notes(asked.db, asked.actor, here, project, asked.text, asked.page, asked.wanted.sort)
    iids = iids_of_subjects(asked.db, found.items)
    return found.of(
        views_of_notes(
            asked.db, found.items, lambda note: iids.get((note.subject_kind, note.subject_id)), asked.at.base
        )
    )


def _commits_in_project(asked: Asked, within: Within) -> Listing[FoundCommitView]:
    repository = _code_of(asked, within)
    tip = commit_of(repository, within.ref, within.project.default_branch)
    found = find_commits(repository, tip, asked.text, asked.page)
    url = f"{asked.at.base}/{within.project.full_path}"
    return found.of([found_commit_view(commit, within.project.id, url) for commit in found.items])


def _files_in_project(asked: Asked, within: Within) -> Listing[FoundFileView]:
    return _files(asked, within, _code_of(asked, within), within.project.default_branch)


def _wiki_pages_in_project(asked: Asked, within: Within) -> Listing[FoundFileView]:
    wiki = Wiki(within.here, within.project, wiki_of(asked.db, asked.store, within.project))
    require(may_read_wiki(asked.actor, within.here, wiki))
    if wiki.repository is None:
        return _none(asked)
    return _files(asked, within, wiki.repository, wiki.repository.head_branch())


def _files(asked: Asked, within: Within, repository: Repository, branch: str | None) -> Listing[FoundFileView]:
    commit = commit_of(repository, within.ref, branch)
    found = find_files(repository, commit, asked.text, asked.page)
    shown = within.ref or branch or "HEAD"
    return found.of([found_file_view(match, shown, within.project.id) for match in found.items])


def _code_of(asked: Asked, within: Within) -> Repository:
    require(may_download_code(asked.actor, within.here, within.project))
    return code_of_project(asked.store, within.project)


def _none(asked: Asked, *_: object) -> Listing[Any]:
    return Listing([], asked.page, 0)


# A scope that has no entry is refused by the parameters, which name those that there are.
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
