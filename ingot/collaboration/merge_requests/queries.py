"""Queries of merge requests: single ones, lists and counts."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, bindparam, exists, literal_column, select, union_all

from ingot.collaboration.merge_requests import policy
from ingot.collaboration.merge_requests.approval_rules.limits import options_in_force
from ingot.collaboration.merge_requests.filters import KIND
from ingot.collaboration.merge_requests.list_query import MergeRequestListQuery
from ingot.collaboration.merge_requests.params import ListMergeRequests
from ingot.collaboration.merge_requests.tables import (
    MERGE_REQUEST_COLUMNS,
    DiffVersion,
    MergeRequest,
    merge_request_assignees,
    merge_request_commits,
    merge_request_counts,
    merge_request_reviewers,
    merge_request_versions,
    merge_requests,
)
from ingot.collaboration.notes.tables import notes
from ingot.collaboration.planning.scope import ProjectScope
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.access.rules import require
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Invalid, NotFound
from ingot.git.core.repository import Repository
from ingot.git.history.commits import branch_tip, commit_or_none
from ingot.git.history.log import count_between
from ingot.projects.namespaces.tables import namespace_tree, namespaces
from ingot.projects.projects.options import ProjectOptions, project_options
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project, projects

# Literal instead of a bound value, so that the partial indexes of open merge requests apply.
IS_OPEN = (merge_requests.c.state == literal_column("'opened'")) & merge_requests.c.deleted_at.is_(None)

_BY_IID = select(*MERGE_REQUEST_COLUMNS).where(
    merge_requests.c.target_project_id == bindparam("project"),
    merge_requests.c.iid == bindparam("iid"),
    merge_requests.c.deleted_at.is_(None),
)
_BY_ID = select(*MERGE_REQUEST_COLUMNS).where(merge_requests.c.id == bindparam("merge_request"))
_BY_IIDS = select(*MERGE_REQUEST_COLUMNS).where(
    in_list(merge_requests.c.target_project_id, "projects"),
    in_list(merge_requests.c.iid, "iids"),
    merge_requests.c.deleted_at.is_(None),
)
_ASSIGNEES = (
    select(merge_request_assignees.c.merge_request_id, merge_request_assignees.c.user_id)
    .where(in_list(merge_request_assignees.c.merge_request_id, "merge_requests"))
    .order_by(merge_request_assignees.c.id)
)
_REVIEWERS = (
    select(merge_request_reviewers.c.merge_request_id, merge_request_reviewers.c.user_id)
    .where(in_list(merge_request_reviewers.c.merge_request_id, "merge_requests"))
    .order_by(merge_request_reviewers.c.id)
)
_ASSIGNEES_AND_REVIEWERS = union_all(
    *(
        select(literal_column(role).label("role"), table.c.merge_request_id, table.c.user_id, table.c.id).where(
            in_list(table.c.merge_request_id, "merge_requests")
        )
        for role, table in (("1", merge_request_assignees), ("2", merge_request_reviewers))
    )
).order_by("role", "id")
_CONTAINS_COMMIT = select(merge_request_commits.c.id).where(
    merge_request_commits.c.merge_request_id == bindparam("merge_request"),
    merge_request_commits.c.oid == bindparam("oid"),
)
_COUNTS = select(merge_request_counts.c.state, merge_request_counts.c.count).where(
    merge_request_counts.c.project_id == bindparam("project")
)
_OPEN_DUPLICATE = select(*MERGE_REQUEST_COLUMNS).where(
    merge_requests.c.source_project_id == bindparam("source"),
    merge_requests.c.source_branch == bindparam("from_branch"),
    merge_requests.c.target_project_id == bindparam("target"),
    merge_requests.c.target_branch == bindparam("into_branch"),
    IS_OPEN,
)
_OPEN_FROM = (
    select(*MERGE_REQUEST_COLUMNS)
    .where(
        merge_requests.c.source_project_id == bindparam("source"),
        in_list(merge_requests.c.source_branch, "branches"),
        IS_OPEN,
    )
    .order_by(merge_requests.c.id)
)
_LATEST_COLLECTED = (
    select(merge_request_versions)
    .where(
        merge_request_versions.c.merge_request_id == bindparam("merge_request"),
        merge_request_versions.c.state == "collected",
    )
    .order_by(merge_request_versions.c.id.desc())
    .limit(1)
)


def _has_group_with(option: str) -> ColumnElement[bool]:
    """Return the condition that a group around the project has an option; options that are false are not stored."""
    return exists().where(
        namespace_tree.c.descendant_id == projects.c.namespace_id,
        namespaces.c.id == namespace_tree.c.ancestor_id,
        namespaces.c.options_document.contains(f'"{option}":true', autoescape=True),
    )


_TARGET_PROJECTS = select(
    projects.c.id,
    projects.c.full_path,
    projects.c.repository_key,
    projects.c.only_allow_merge_if_pipeline_succeeds,
    projects.c.only_allow_merge_if_all_discussions_are_resolved,
    projects.c.merge_method,
    projects.c.options_document,
    _has_group_with("only_allow_merge_if_pipeline_succeeds"),
    _has_group_with("allow_merge_on_skipped_pipeline"),
    _has_group_with("only_allow_merge_if_all_discussions_are_resolved"),
).where(in_list(projects.c.id, "projects"))

# A discussion is resolved when each of its notes is; individual notes cannot be resolved.
_WITH_UNRESOLVED_DISCUSSIONS = (
    select(notes.c.subject_id)
    .where(
        notes.c.subject_kind == KIND,
        in_list(notes.c.subject_id, "merge_requests"),
        notes.c.type.is_not(None),
        notes.c.system.is_(False),
        notes.c.resolved_at.is_(None),
    )
    .distinct()
)


class TargetProjectSummary(NamedTuple):
    """Columns of the target project that lists of merge requests need, and the requirements of the groups around it."""

    path: str
    repository_key: str
    own_pipeline_rule: bool
    own_discussion_rule: bool
    merge_method: str
    options_document: str
    group_pipeline_rule: bool = False
    group_allows_skipped: bool = False
    group_discussion_rule: bool = False

    @property
    def only_allow_merge_if_pipeline_succeeds(self) -> bool:
        """Whether the project or a group requires that the pipeline succeeds."""
        return self.own_pipeline_rule or self.group_pipeline_rule

    @property
    def allow_merge_on_skipped_pipeline(self) -> bool:
        """Whether a skipped pipeline counts as successful; a rule of a group decides unless the project does."""
        own = self.options.allow_merge_on_skipped_pipeline
        if own is None and self.group_pipeline_rule and not self.own_pipeline_rule:
            return self.group_allows_skipped
        return own is not False

    @property
    def merge_request_title_regex(self) -> str | None:
        """Expression that the title must match."""
        return self.options.merge_request_title_regex

    @property
    def only_allow_merge_if_all_discussions_are_resolved(self) -> bool:
        """Whether the project or a group requires that all discussions are resolved."""
        return self.own_discussion_rule or self.group_discussion_rule

    @property
    def options(self) -> ProjectOptions:
        """Options of the project."""
        return project_options(self.options_document)


def target_project_summary(project: Project) -> TargetProjectSummary:
    """Return the summary of a project, without the requirements of groups."""
    return TargetProjectSummary(
        project.full_path,
        project.repository_key,
        project.only_allow_merge_if_pipeline_succeeds,
        project.only_allow_merge_if_all_discussions_are_resolved,
        project.merge_method,
        project.options_document,
    )


def merge_requirements(db: Connection, project: Project) -> TargetProjectSummary:
    """Return the summary of a project with the requirements of the groups around it."""
    if project.space_kind == "user":
        return target_project_summary(project)
    rows = db.rows(_TARGET_PROJECTS, projects=[project.id])
    return TargetProjectSummary(*rows[0][1:]) if rows else target_project_summary(project)


def target_project_summaries(db: Connection, page: Sequence[MergeRequest]) -> dict[int, TargetProjectSummary]:
    """Return the summaries of the target projects of merge requests by id, in one statement."""
    project_ids = sorted({merge_request.target_project_id for merge_request in page})
    return (
        {
            project_id: TargetProjectSummary(*columns)
            for project_id, *columns in db.rows(_TARGET_PROJECTS, projects=project_ids)
        }
        if project_ids
        else {}
    )


def with_unresolved_discussions(db: Connection, merge_request_ids: Sequence[int]) -> frozenset[int]:
    """Return the ids of the merge requests with unresolved discussions, in one statement."""
    return frozenset(
        merge_request_id
        for (merge_request_id,) in db.rows(_WITH_UNRESOLVED_DISCUSSIONS, merge_requests=list(merge_request_ids))
    )


def find_merge_request(db: Connection, actor: Actor, project_name: str, iid: str) -> policy.MergeRequestLookup:
    """Return the merge request of a project with this iid; raise ``NotFound`` if the caller may not see it."""
    access, project = find_project(db, actor, project_name)
    number = number_or_none(iid)
    if number is None:
        raise Invalid(merge_request_iid=["is invalid"])
    require(policy.may_read_merge_requests(actor, access, project))
    lookup = merge_request_or_none(db, access, project, number)
    if lookup is None:
        raise NotFound("Merge Request")
    return lookup


def merge_request_or_none(
    db: Connection, access: Access, project: Project, iid: int
) -> policy.MergeRequestLookup | None:
    """Return the merge request with this iid, or None; the caller may see the project's merge requests."""
    key = ("merge request", project.id, iid)
    merge_request = db.cached(
        key,
        lambda: db.first(MergeRequest, _BY_IID, project=project.id, iid=iid),
        _request_bytes,
        lambda found: {"merge_requests": found.id},
    )
    if merge_request is None:
        return None
    involved = assignees_and_reviewers(db, merge_request.id)
    return policy.MergeRequestLookup(access, project, merge_request, *involved, options_in_force(db, project.options))


def _request_bytes(merge_request: MergeRequest) -> int:
    return 2_000 + 4 * len(merge_request.description or "")


def assignees_and_reviewers(db: Connection, merge_request_id: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ids of the assignees and of the reviewers, from the cache of reads."""

    def read() -> tuple[tuple[int, ...], tuple[int, ...]]:
        assigned, reviewing = assignees_and_reviewers_of(db, [merge_request_id])
        return tuple(assigned.get(merge_request_id, ())), tuple(reviewing.get(merge_request_id, ()))

    rows = {"merge_request_assignees": merge_request_id, "merge_request_reviewers": merge_request_id}
    key = ("assignees and reviewers of merge request", merge_request_id)
    return db.cached(key, read, lambda _: 400, lambda _: rows) or ((), ())


def visible_merge_requests_by_iid(
    db: Connection, actor: Actor, scopes: Iterable[ProjectScope], keys: Collection[tuple[int, int]]
) -> dict[tuple[int, int], MergeRequest]:
    """Return the merge requests with these pairs of project id and iid that the caller may see, in one statement."""
    readable = {
        entry.project.id for entry in scopes if policy.may_read_merge_requests(actor, entry.access, entry.project)
    }
    readable_keys = {(project_id, iid) for project_id, iid in keys if project_id in readable}
    if not readable_keys:
        return {}
    project_ids, iids = ({pair[index] for pair in readable_keys} for index in (0, 1))
    rows = db.all(MergeRequest, _BY_IIDS, projects=sorted(project_ids), iids=sorted(iids))
    by_key = {(entry.target_project_id, entry.iid): entry for entry in rows}
    return {key: entry for key, entry in by_key.items() if key in readable_keys}


def merge_request_by_id(db: Connection, merge_request_id: int) -> MergeRequest:
    """Return the merge request with this id, without a permission check."""
    merge_request = db.first(MergeRequest, _BY_ID, merge_request=merge_request_id)
    if merge_request is None:
        raise NotFound("Merge Request")
    return merge_request


def open_duplicate_or_none(
    db: Connection, source_id: int, source_branch: str, target_id: int, target_branch: str
) -> MergeRequest | None:
    """Return the open merge request between the same branches, or None."""
    return db.first(
        MergeRequest,
        _OPEN_DUPLICATE,
        source=source_id,
        from_branch=source_branch,
        target=target_id,
        into_branch=target_branch,
    )


def open_merge_requests_from(db: Connection, source_id: int, branches: Sequence[str]) -> list[MergeRequest]:
    """Return the open merge requests from these source branches of a project."""
    return db.all(MergeRequest, _OPEN_FROM, source=source_id, branches=list(branches))


def latest_version(db: Connection, merge_request_id: int) -> DiffVersion | None:
    """Return the latest complete version; None only between the opening and the first collection."""
    key = ("latest version", merge_request_id)
    return db.cached(
        key,
        lambda: db.first(DiffVersion, _LATEST_COLLECTED, merge_request=merge_request_id),
        lambda _: 1_000,
        lambda _: {"merge_request_versions": merge_request_id},
    )


def diverged_commits_count(repository: Repository, merge_request: MergeRequest) -> int:
    """Count the commits of the target that the source lacks."""
    tip = branch_tip(repository, merge_request.target_branch)
    if tip is None or commit_or_none(repository, merge_request.head_oid) is None:
        return 0
    return count_between(repository, merge_request.head_oid, tip)


def assignees_of(db: Connection, merge_request_ids: Sequence[int]) -> dict[int, list[int]]:
    """Return the ids of the assignees of each merge request, in one statement."""
    assigned: defaultdict[int, list[int]] = defaultdict(list)
    for merge_request_id, user_id in db.rows(_ASSIGNEES, merge_requests=list(merge_request_ids)):
        assigned[merge_request_id].append(user_id)
    return assigned


def assignees_and_reviewers_of(
    db: Connection, merge_request_ids: Sequence[int]
) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Return the ids of the assignees and of the reviewers of each merge request, in one statement."""
    users_by_role: tuple[defaultdict[int, list[int]], ...] = (defaultdict(list), defaultdict(list))
    for role, merge_request_id, user_id, _ in db.rows(_ASSIGNEES_AND_REVIEWERS, merge_requests=list(merge_request_ids)):
        users_by_role[role - 1][merge_request_id].append(user_id)
    return users_by_role[0], users_by_role[1]


def contains_commit(db: Connection, merge_request: MergeRequest, oid: str) -> bool:
    """Return whether a commit is part of a merge request, or was created by merging it."""
    if oid in (merge_request.merge_commit_oid, merge_request.squash_commit_oid):
        return True
    return db.value(_CONTAINS_COMMIT, merge_request=merge_request.id, oid=oid) is not None


def reviewers_of(db: Connection, merge_request_ids: Sequence[int]) -> dict[int, list[int]]:
    """Return the ids of the reviewers of each merge request, in one statement."""
    reviewing: defaultdict[int, list[int]] = defaultdict(list)
    for merge_request_id, user_id in db.rows(_REVIEWERS, merge_requests=list(merge_request_ids)):
        reviewing[merge_request_id].append(user_id)
    return reviewing


def list_project_merge_requests(
    db: Connection, actor: Actor, project: Project, params: ListMergeRequests, page: Page
) -> Listing[MergeRequest]:
    """Return a page of a project's merge requests; the caller may see all of them."""
    query = MergeRequestListQuery(db, actor, params, default_scope="all")
    query.add("in_project", project=project.id)
    return query.fetch(page, None if query.narrowed else _stored_total(db, project, params))


def list_group_merge_requests(
    db: Connection, actor: Actor, group_id: int, params: ListMergeRequests, page: Page
) -> Listing[MergeRequest]:
    """Return a page of the merge requests of a group and its subgroups."""
    query = MergeRequestListQuery(db, actor, params, default_scope="all")
    query.add("in_group", group=group_id)
    return _visible_page(query, params, page)


def list_merge_requests(db: Connection, actor: Actor, params: ListMergeRequests, page: Page) -> Listing[MergeRequest]:
    """Return a page of merge requests of all projects, by default those that the caller created."""
    return _visible_page(MergeRequestListQuery(db, actor, params, default_scope="created_by_me"), params, page)


def list_closing_merge_requests(db: Connection, actor: Actor, issue_id: int, page: Page) -> Listing[MergeRequest]:
    """Return a page of the merge requests that close an issue when merged, as far as the caller may see them."""
    query = MergeRequestListQuery(db, actor, _OPEN, default_scope="all")
    query.add("closing", issue=issue_id)
    query.add("into_default")
    return _visible_page(query, _OPEN, page)


def list_merge_requests_by_ids(
    db: Connection, actor: Actor, merge_request_ids: Sequence[int], params: ListMergeRequests, page: Page
) -> Listing[MergeRequest]:
    """Return a page of the merge requests with these ids, as far as the caller may see them."""
    if not merge_request_ids:
        return Listing([], page, 0)
    query = MergeRequestListQuery(db, actor, params, default_scope="all")
    query.add("ids", ids=list(merge_request_ids))
    return _visible_page(query, params, page)


def list_milestone_merge_requests(
    db: Connection, actor: Actor, milestone_id: int, project: Project | None, page: Page
) -> Listing[MergeRequest]:
    """Return a page of the merge requests with a milestone.

    They are those of ``project``, which the caller may see, or of all projects that the caller may see.
    """
    query = MergeRequestListQuery(db, actor, _ALL, default_scope="all")
    query.add("of_milestone", of_milestone=milestone_id)
    if project is None:
        return _visible_page(query, _ALL, page)
    query.add("in_project", project=project.id)
    return query.fetch(page)


_ALL = ListMergeRequests()
_OPEN = ListMergeRequests(state="opened")


def _visible_page(query: MergeRequestListQuery, params: ListMergeRequests, page: Page) -> Listing[MergeRequest]:
    query.only_visible()
    if params.non_archived:
        query.add("not_archived")
    return query.fetch(page)


def count_by_state(db: Connection, project_id: int) -> dict[str, int]:
    """Return the stored numbers of a project's merge requests by state."""
    key = ("merge request counts", project_id)
    return db.cached(key, lambda: dict(db.rows(_COUNTS, project=project_id)), lambda _: 400) or {}


def _stored_total(db: Connection, project: Project, params: ListMergeRequests) -> int:
    """Return the stored total of a list without filters."""
    state = "opened" if params.state == "reopened" else params.state
    counts = count_by_state(db, project.id)
    return sum(count for counted_state, count in counts.items() if state in (None, "all", counted_state))
