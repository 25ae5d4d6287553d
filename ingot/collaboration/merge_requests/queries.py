"""How merge requests are found and listed."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, literal_column, select, union_all

from ingot.collaboration.merge_requests import policy
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
from ingot.errors import Invalid, NotFound
from ingot.git.core.repository import Repository
from ingot.git.history.commits import branch_tip, commit_or_none
from ingot.git.writing.merge_request_commits import count_between
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project, projects
from ingot.repositories.pipelines.tables import Status, pipelines

# Written out, so that the indexes on open ones serve.
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
_PEOPLE = union_all(
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
_TARGET_PROJECTS = select(
    projects.c.id,
    projects.c.full_path,
    projects.c.repository_key,
    projects.c.only_allow_merge_if_pipeline_succeeds,
    projects.c.only_allow_merge_if_all_discussions_are_resolved,
    projects.c.merge_method,
).where(in_list(projects.c.id, "projects"))
_HEAD_PIPELINES = (
    select(pipelines.c.project_id, pipelines.c.sha, pipelines.c.ref, pipelines.c.status)
    .where(in_list(pipelines.c.project_id, "projects"), in_list(pipelines.c.sha, "heads"))
    .order_by(pipelines.c.id)
)

# A discussion is settled when each of its notes is; notes that stand alone are not to be settled.
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
    """What lists show, and ask, of the project that a merge request would change."""

    path: str
    repository_key: str
    only_allow_merge_if_pipeline_succeeds: bool
    only_allow_merge_if_all_discussions_are_resolved: bool
    merge_method: str


def target_project_summary(project: Project) -> TargetProjectSummary:
    """The same of a project at hand."""
    return TargetProjectSummary(
        project.full_path,
        project.repository_key,
        project.only_allow_merge_if_pipeline_succeeds,
        project.only_allow_merge_if_all_discussions_are_resolved,
        project.merge_method,
    )


def target_project_summaries(db: Connection, found: Sequence[MergeRequest]) -> dict[int, TargetProjectSummary]:
    """The projects that merge requests would change; one statement for all."""
    numbers = sorted({one.target_project_id for one in found})
    return (
        {number: TargetProjectSummary(*columns) for number, *columns in db.rows(_TARGET_PROJECTS, projects=numbers)}
        if numbers
        else {}
    )


def with_unresolved_discussions(db: Connection, numbers: Sequence[int]) -> frozenset[int]:
    """Those of which a discussion is still open; one statement for all."""
    return frozenset(number for (number,) in db.rows(_WITH_UNRESOLVED_DISCUSSIONS, merge_requests=list(numbers)))


def head_statuses(db: Connection, found: Sequence[MergeRequest]) -> dict[int, Status]:
    """What became of the heads of merge requests, as ``head_pipeline`` says of one; one statement for all."""
    newest: dict[tuple[int, str, str | None], Status] = {}
    heads = sorted({one.head_oid for one in found})
    sources = sorted({one.source_project_id for one in found if one.source_project_id is not None})
    for project_id, sha, ref, status in db.rows(_HEAD_PIPELINES, projects=sources, heads=heads) if sources else ():
        newest[project_id, sha, ref] = newest[project_id, sha, None] = status
    statuses: dict[int, Status] = {}
    for one in found:
        place = one.source_project_id or 0, one.head_oid
        status = newest.get((*place, one.source_branch)) or newest.get((*place, None))
        if status is not None:
            statuses[one.id] = status
    return statuses


def find_merge_request(db: Connection, actor: Actor, project_name: str, iid: str) -> policy.MergeRequestLookup:
    """The merge request of a project with this number, if the caller may know of it."""
    access, project = find_project(db, actor, project_name)
    number = number_or_none(iid)
    if number is None:
        raise Invalid(merge_request_iid=["is invalid"])
    require(policy.may_read_merge_requests(actor, access, project))
    found = merge_request_or_none(db, access, project, number)
    if found is None:
        raise NotFound("Merge Request")
    return found


def merge_request_or_none(
    db: Connection, access: Access, project: Project, iid: int
) -> policy.MergeRequestLookup | None:
    """The same for a project at hand, whose merge requests the caller may see."""
    key = ("merge request", project.id, iid)
    merge_request = db.cached(key, lambda: db.first(MergeRequest, _BY_IID, project=project.id, iid=iid), _request_bytes)
    if merge_request is None:
        return None
    return policy.MergeRequestLookup(access, project, merge_request, *people_of_merge_request(db, merge_request.id))


def _request_bytes(merge_request: MergeRequest) -> int:
    return 2_000 + 4 * len(merge_request.description or "")


def people_of_merge_request(db: Connection, number: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return assignees and reviewers; every request for a merge request needs them, so that they are cached."""

    def look() -> tuple[tuple[int, ...], tuple[int, ...]]:
        assigned, reviewing = assignees_and_reviewers_of(db, [number])
        return tuple(assigned.get(number, ())), tuple(reviewing.get(number, ()))

    return db.cached(("people of merge request", number), look, lambda _: 400) or ((), ())


def visible_merge_requests_by_iid(
    db: Connection, actor: Actor, places: Iterable[ProjectScope], named: Collection[tuple[int, int]]
) -> dict[tuple[int, int], MergeRequest]:
    """Those with these numbers of projects at hand that the caller may know of; one statement for all."""
    open_to = {one.project.id for one in places if policy.may_read_merge_requests(actor, one.here, one.project)}
    wanted = {(project_id, iid) for project_id, iid in named if project_id in open_to}
    if not wanted:
        return {}
    projects_named, iids = ({pair[place] for pair in wanted} for place in (0, 1))
    rows = db.all(MergeRequest, _BY_IIDS, projects=sorted(projects_named), iids=sorted(iids))
    found = {(one.target_project_id, one.iid): one for one in rows}
    return {key: one for key, one in found.items() if key in wanted}


def merge_request_by_id(db: Connection, merge_request_id: int) -> MergeRequest:
    """The merge request with this number of its row, whoever asks."""
    found = db.first(MergeRequest, _BY_ID, merge_request=merge_request_id)
    if found is None:
        raise NotFound("Merge Request")
    return found


def open_duplicate_or_none(
    db: Connection, source_id: int, source_branch: str, target_id: int, target_branch: str
) -> MergeRequest | None:
    """The open merge request between the very same branches."""
    return db.first(
        MergeRequest,
        _OPEN_DUPLICATE,
        source=source_id,
        from_branch=source_branch,
        target=target_id,
        into_branch=target_branch,
    )


def open_merge_requests_from(db: Connection, source_id: int, branches: Sequence[str]) -> list[MergeRequest]:
    """The open merge requests that come from these branches of a project."""
    return db.all(MergeRequest, _OPEN_FROM, source=source_id, branches=list(branches))


def latest_version(db: Connection, merge_request_id: int) -> DiffVersion | None:
    """Return the newest version whose commits are recorded; there is none only in the moment after it was opened."""
    key = ("latest version", merge_request_id)
    return db.cached(
        key, lambda: db.first(DiffVersion, _LATEST_COLLECTED, merge_request=merge_request_id), lambda _: 1_000
    )


def diverged_commits_count(repository: Repository, merge_request: MergeRequest) -> int:
    """How many commits the target has that the source lacks."""
    tip = branch_tip(repository, merge_request.target_branch)
    if tip is None or commit_or_none(repository, merge_request.head_oid) is None:
        return 0
    return count_between(repository, merge_request.head_oid, tip)


def assignees_of(db: Connection, numbers: Sequence[int]) -> dict[int, list[int]]:
    """Who has each of these to do; one statement for all."""
    assigned: defaultdict[int, list[int]] = defaultdict(list)
    for number, user_id in db.rows(_ASSIGNEES, merge_requests=list(numbers)):
        assigned[number].append(user_id)
    return assigned


def assignees_and_reviewers_of(
    db: Connection, numbers: Sequence[int]
) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Both, of those who have each to do and of those who are to look at it; one statement for all."""
    people: tuple[defaultdict[int, list[int]], ...] = (defaultdict(list), defaultdict(list))
    for role, number, user_id, _ in db.rows(_PEOPLE, merge_requests=list(numbers)):
        people[role - 1][number].append(user_id)
    return people[0], people[1]


def contains_commit(db: Connection, merge_request: MergeRequest, oid: str) -> bool:
    """Whether a commit came with a merge request, or was made to merge it."""
    if oid in (merge_request.merge_commit_oid, merge_request.squash_commit_oid):
        return True
    return db.value(_CONTAINS_COMMIT, merge_request=merge_request.id, oid=oid) is not None


def reviewers_of(db: Connection, numbers: Sequence[int]) -> dict[int, list[int]]:
    """Who is to look at each of these; one statement for all."""
    reviewing: defaultdict[int, list[int]] = defaultdict(list)
    for number, user_id in db.rows(_REVIEWERS, merge_requests=list(numbers)):
        reviewing[number].append(user_id)
    return reviewing


def list_project_merge_requests(
    db: Connection, actor: Actor, project: Project, params: ListMergeRequests, page: Page
) -> Listing[MergeRequest]:
    """A page of a project's merge requests, of which the caller may see all."""
    asked = MergeRequestListQuery(db, actor, params, default_scope="all")
    asked.add("in_project", project=project.id)
    return asked.fetch(page, None if asked.narrowed else _stored_total(db, project, params))


def list_group_merge_requests(
    db: Connection, actor: Actor, group_id: int, params: ListMergeRequests, page: Page
) -> Listing[MergeRequest]:
    """A page of the merge requests into projects in a group and all below it."""
    asked = MergeRequestListQuery(db, actor, params, default_scope="all")
    asked.add("in_group", group=group_id)
    return _visible_page(asked, params, page)


def list_merge_requests(db: Connection, actor: Actor, params: ListMergeRequests, page: Page) -> Listing[MergeRequest]:
    """A page of merge requests anywhere; those that the caller wrote unless they ask for others."""
    return _visible_page(MergeRequestListQuery(db, actor, params, default_scope="created_by_me"), params, page)


def list_closing_merge_requests(db: Connection, actor: Actor, issue_id: int, page: Page) -> Listing[MergeRequest]:
    """A page of the merge requests that close an issue when they are merged, as far as the caller may see them."""
    asked = MergeRequestListQuery(db, actor, _OPEN, default_scope="all")
    asked.add("closing", issue=issue_id)
    asked.add("into_default")
    return _visible_page(asked, _OPEN, page)


def list_merge_requests_by_ids(
    db: Connection, actor: Actor, numbers: Sequence[int], params: ListMergeRequests, page: Page
) -> Listing[MergeRequest]:
    """List the merge requests with these ids that the caller may see."""
    if not numbers:
        return Listing([], page, 0)
    asked = MergeRequestListQuery(db, actor, params, default_scope="all")
    asked.add("numbers", chosen=list(numbers))
    return _visible_page(asked, params, page)


def list_milestone_merge_requests(
    db: Connection, actor: Actor, milestone_id: int, project: Project | None, page: Page
) -> Listing[MergeRequest]:
    """A page of those that have a milestone: of a project whose merge requests the caller sees, or of all such."""
    asked = MergeRequestListQuery(db, actor, _ALL, default_scope="all")
    asked.add("of_milestone", of_milestone=milestone_id)
    if project is None:
        return _visible_page(asked, _ALL, page)
    asked.add("in_project", project=project.id)
    return asked.fetch(page)


_ALL = ListMergeRequests()
_OPEN = ListMergeRequests(state="opened")


def _visible_page(asked: MergeRequestListQuery, params: ListMergeRequests, page: Page) -> Listing[MergeRequest]:
    asked.only_visible()
    if params.non_archived:
        asked.add("not_archived")
    return asked.fetch(page)


def _stored_total(db: Connection, project: Project, params: ListMergeRequests) -> int:
    """How many there are of a state, where nothing else is asked for."""
    state = "opened" if params.state == "reopened" else params.state
    counts = dict(db.rows(_COUNTS, project=project.id))
    return sum(count for each, count in counts.items() if state in (None, "all", each))
