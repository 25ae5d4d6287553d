"""Queries of issues: single ones, lists and counts."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import bindparam, func, select, union_all

from ingot.collaboration.issues import policy
from ingot.collaboration.issues.lists.filters import IssueFilter
from ingot.collaboration.issues.lists.statements import CONDITIONS, KIND
from ingot.collaboration.issues.params import ListIssues
from ingot.collaboration.issues.tables import ISSUE_COLUMNS, Issue, issue_assignees, issue_counts, issue_origins, issues
from ingot.collaboration.labels.tables import label_links, labels
from ingot.collaboration.planning.scope import ProjectScope
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.access.rules import require
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Invalid, NotFound
from ingot.projects.projects.queries import find_project, project_or_none
from ingot.projects.projects.tables import Project, projects

_BY_IID = select(*ISSUE_COLUMNS).where(
    issues.c.project_id == bindparam("project"), issues.c.iid == bindparam("iid"), issues.c.deleted_at.is_(None)
)
_BY_ID = select(*ISSUE_COLUMNS).where(issues.c.id == bindparam("issue"))
_BY_IIDS = select(*ISSUE_COLUMNS).where(
    in_list(issues.c.project_id, "projects"), in_list(issues.c.iid, "iids"), issues.c.deleted_at.is_(None)
)
_ASSIGNEES = (
    select(issue_assignees.c.issue_id, issue_assignees.c.user_id)
    .where(in_list(issue_assignees.c.issue_id, "issues"))
    .order_by(issue_assignees.c.id)
)
_LABEL_TITLES = (
    select(label_links.c.subject_id, labels.c.title)
    .join(labels, labels.c.id == label_links.c.label_id)
    .where(label_links.c.subject_kind == KIND, in_list(label_links.c.subject_id, "issues"))
    .order_by(labels.c.title_key, labels.c.id)
)
_COUNTS = select(issue_counts.c.state, issue_counts.c.confidential, issue_counts.c.count).where(
    issue_counts.c.project_id == bindparam("project")
)
_CONFIDENTIAL = (
    select(issues.c.state, func.count())
    .where(issues.c.project_id == bindparam("project"), issues.c.confidential.is_(True), issues.c.deleted_at.is_(None))
    .group_by(issues.c.state)
)
# Two parts, each of which an index finds; a condition for both would read all confidential issues of the project.
_OWN_CONFIDENTIAL = union_all(
    _CONFIDENTIAL.where(issues.c.author_id == bindparam("actor")),
    _CONFIDENTIAL.where(
        issues.c.author_id != bindparam("actor"),
        issues.c.id.in_(select(issue_assignees.c.issue_id).where(issue_assignees.c.user_id == bindparam("actor"))),
    ),
)
# Issues that a caller may see in any project.
_VISIBLE_IDS = {
    name: select(issues.c.id)
    .join(projects, projects.c.id == issues.c.project_id)
    .where(in_list(issues.c.id, "issues"), issues.c.deleted_at.is_(None), CONDITIONS[name])
    for name in ("with_feature", "visible", "visible_to_external")
}
_USER_AGENT_DETAIL = select(issue_origins.c.user_agent, issue_origins.c.ip_address, issue_origins.c.submitted).where(
    issue_origins.c.issue_id == bindparam("issue")
)


def find_issue(db: Connection, actor: Actor, project_name: str, iid: str) -> policy.IssueLookup:
    """Return the issue of a project with this iid; raise ``NotFound`` if the caller may not see it."""
    access, project = find_project(db, actor, project_name)
    number = number_or_none(iid)
    if number is None:
        raise Invalid(issue_iid=["is invalid"])
    require(policy.may_read_issues(actor, access, project))
    lookup = issue_or_none(db, actor, access, project, number)
    if lookup is None:
        raise NotFound("Issue")
    return lookup


def issue_or_none(
    db: Connection, actor: Actor, access: Access, project: Project, iid: int
) -> policy.IssueLookup | None:
    """Return the issue with this iid, or None if there is none or the caller may not see it."""
    issue = db.cached(
        ("issue", project.id, iid), lambda: db.first(Issue, _BY_IID, project=project.id, iid=iid), _issue_bytes
    )
    if issue is None:
        return None
    assignees = assignees_of_issue(db, issue.id)
    if not policy.may_see_issue(actor, access, issue, assignees):
        return None
    return policy.IssueLookup(access, project, issue, assignees)


def _issue_bytes(issue: Issue) -> int:
    return 2_000 + 4 * len(issue.description or "")


def assignees_of_issue(db: Connection, issue_id: int) -> tuple[int, ...]:
    """Return the users that an issue is assigned to; every request for an issue needs them, so that they are cached."""
    key = ("assignees of issue", issue_id)
    return db.cached(key, lambda: tuple(assignees_of(db, [issue_id]).get(issue_id, ())), lambda _: 300) or ()


def visible_issues_by_iid(
    db: Connection,
    actor: Actor,
    scopes: Iterable[ProjectScope],
    keys: Collection[tuple[int, int]],
    *,
    to_name_only: bool = False,
) -> dict[tuple[int, int], policy.IssueLookup]:
    """Return the issues with these pairs of project id and iid that the caller may see, in two statements.

    With ``to_name_only``, assignees are read only for confidential issues, whose visibility depends on them.
    """
    readable = {
        entry.project.id: entry for entry in scopes if policy.may_read_issues(actor, entry.access, entry.project)
    }
    readable_keys = {(project_id, iid) for project_id, iid in keys if project_id in readable}
    if not readable_keys:
        return {}
    project_ids, iids = ({pair[index] for pair in readable_keys} for index in (0, 1))
    rows = db.all(Issue, _BY_IIDS, projects=sorted(project_ids), iids=sorted(iids))
    rows = [issue for issue in rows if (issue.project_id, issue.iid) in readable_keys]
    needed = [issue.id for issue in rows if issue.confidential or not to_name_only]
    assigned = assignees_of(db, needed) if needed else {}
    lookups = (
        policy.IssueLookup(*readable[issue.project_id], issue, tuple(assigned.get(issue.id, ()))) for issue in rows
    )
    return {
        (entry.issue.project_id, entry.issue.iid): entry
        for entry in lookups
        if policy.may_see_issue(actor, entry.access, entry.issue, entry.assignees)
    }


def visible_issue_ids(db: Connection, actor: Actor, issue_ids: Sequence[int]) -> set[int]:
    """Return the ids of the issues that the caller may see, in one statement; none for anonymous callers."""
    if not actor.known or not issue_ids:
        return set()
    values: dict[str, object] = {"issues": list(issue_ids)}
    name = "with_feature"
    if not actor.admin:
        name = "visible_to_external" if actor.external else "visible"
        values |= {"actor": actor.user_id, "today": db.today}
    return {row[0] for row in db.rows(_VISIBLE_IDS[name], **values)}


def issue_by_id(db: Connection, issue_id: int) -> Issue:
    """Return the issue with this id, without a permission check."""
    issue = db.first(Issue, _BY_ID, issue=issue_id)
    if issue is None:
        raise NotFound("Issue")
    return issue


def find_issue_by_id(db: Connection, issue_id: int) -> policy.IssueLookup:
    """Return the issue with this id, for administrators."""
    issue = issue_by_id(db, issue_id)
    project = project_or_none(db, issue.project_id)
    if issue.deleted_at is not None or project is None or project.namespace_id is None or not project.issues_enabled:
        raise NotFound("Issue")
    return policy.IssueLookup(Access(), project, issue, tuple(assignees_of(db, [issue.id]).get(issue.id, ())))


def assignees_of(db: Connection, issue_ids: Sequence[int]) -> dict[int, list[int]]:
    """Return the ids of the assignees of each issue, in one statement."""
    assigned: defaultdict[int, list[int]] = defaultdict(list)
    for issue_id, user_id in db.rows(_ASSIGNEES, issues=list(issue_ids)):
        assigned[issue_id].append(user_id)
    return assigned


def label_titles_of(db: Connection, issue_ids: Sequence[int]) -> dict[int, list[str]]:
    """Return the titles of the labels of each issue, in one statement."""
    titles: defaultdict[int, list[str]] = defaultdict(list)
    for issue_id, title in db.rows(_LABEL_TITLES, issues=list(issue_ids)):
        titles[issue_id].append(title)
    return titles


def user_agent_detail_of(db: Connection, issue_id: int) -> tuple[str, str, bool] | None:
    """Return the user agent and IP address with which an issue was created, and whether a spam filter received it."""
    rows = db.rows(_USER_AGENT_DETAIL, issue=issue_id)
    return None if not rows else (rows[0][0], rows[0][1], rows[0][2])


def list_project_issues(
    db: Connection, actor: Actor, access: Access, project: Project, params: ListIssues, page: Page
) -> Listing[Issue]:
    """Return a page of a project's issues."""
    filtered = IssueFilter(db, actor, params, default_scope="all")
    filtered.add("in_project", project=project.id)
    if not _sees_all(actor, access):
        filtered.add("not_hidden", actor=actor.user_id)
    return filtered.fetch(page, None if filtered.narrowed else _visible_total(db, access, actor, project, params))


def list_group_issues(db: Connection, actor: Actor, group_id: int, params: ListIssues, page: Page) -> Listing[Issue]:
    """Return a page of the issues of a group and its subgroups."""
    filtered = IssueFilter(db, actor, params, default_scope="all")
    filtered.add("in_group", group=group_id)
    filtered.only_visible()
    return filtered.fetch(page)


def list_issues(db: Connection, actor: Actor, params: ListIssues, page: Page) -> Listing[Issue]:
    """Return a page of issues of all projects, by default those that the caller created."""
    filtered = IssueFilter(db, actor, params, default_scope="created_by_me")
    filtered.only_visible()
    return filtered.fetch(page)


def count_project_issues(
    db: Connection, actor: Actor, access: Access, project: Project, params: ListIssues
) -> dict[str, int]:
    """Count a project's issues by state."""
    filtered = IssueFilter(db, actor, params, default_scope="all")
    if not filtered.narrowed:
        return visible_counts(db, actor, access, project)
    filtered.add("in_project", project=project.id)
    if not _sees_all(actor, access):
        filtered.add("not_hidden", actor=actor.user_id)
    return filtered.count()


def count_group_issues(db: Connection, actor: Actor, group_id: int, params: ListIssues) -> dict[str, int]:
    """Count the issues of a group and its subgroups by state."""
    filtered = IssueFilter(db, actor, params, default_scope="all")
    filtered.add("in_group", group=group_id)
    filtered.only_visible()
    return filtered.count()


def count_issues(db: Connection, actor: Actor, params: ListIssues) -> dict[str, int]:
    """Count issues of all projects by state, by default those that the caller created."""
    filtered = IssueFilter(db, actor, params, default_scope="created_by_me")
    filtered.only_visible()
    return filtered.count()


def _sees_all(actor: Actor, access: Access) -> bool:
    """Return whether the caller sees all confidential issues of the project."""
    return access.level >= Level.REPORTER or actor.admin


def visible_counts(db: Connection, actor: Actor, access: Access, project: Project) -> dict[str, int]:
    """Count the issues of a project that the caller may see, by state.

    The numbers are stored; only confidential issues of callers who do not see all of them are counted.
    """
    counts = {"opened": 0, "closed": 0}
    sees_all, hidden = _sees_all(actor, access), 0
    stored = db.cached(("issue counts", project.id), lambda: db.rows(_COUNTS, project=project.id), lambda _: 400) or []
    for state, confidential, count in stored:
        if sees_all or not confidential:
            counts[state] += count
        else:
            hidden += count
    if hidden and actor.known:
        for state, count in db.rows(_OWN_CONFIDENTIAL, project=project.id, actor=actor.user_id):
            counts[state] += count
    return counts


def _visible_total(db: Connection, access: Access, actor: Actor, project: Project, params: ListIssues) -> int:
    """Return the total of a list of a project's issues without other filters than the state."""
    counts = visible_counts(db, actor, access, project)
    return sum(count for state, count in counts.items() if params.state in (None, "all", state))
