"""How issues are found and listed."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import bindparam, select

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
from ingot.core.db.times import day_of
from ingot.errors import Invalid, NotFound
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
# Those that a caller sees, wherever they are.
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
    """The issue of a project with this number, if the caller may know of it."""
    access, project = find_project(db, actor, project_name)
    number = number_or_none(iid)
    if number is None:
        raise Invalid(issue_iid=["is invalid"])
    require(policy.may_read_issues(actor, access, project))
    found = issue_or_none(db, actor, access, project, number)
    if found is None:
        raise NotFound("Issue")
    return found


def issue_or_none(
    db: Connection, actor: Actor, access: Access, project: Project, iid: int
) -> policy.IssueLookup | None:
    """The same for a project at hand."""
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
    places: Iterable[ProjectScope],
    named: Collection[tuple[int, int]],
    *,
    to_name_only: bool = False,
) -> dict[tuple[int, int], policy.IssueLookup]:
    """Return the issues with these iids of projects at hand that the caller may see; two statements for all.

    Where they are ``to_name_only``, assignees are read only of confidential ones, whose visibility depends on them.
    """
    open_to = {one.project.id: one for one in places if policy.may_read_issues(actor, one.here, one.project)}
    wanted = {(project_id, iid) for project_id, iid in named if project_id in open_to}
    if not wanted:
        return {}
    projects_named, iids = ({pair[place] for pair in wanted} for place in (0, 1))
    rows = db.all(Issue, _BY_IIDS, projects=sorted(projects_named), iids=sorted(iids))
    rows = [issue for issue in rows if (issue.project_id, issue.iid) in wanted]
    asked = [issue.id for issue in rows if issue.confidential or not to_name_only]
    assigned = assignees_of(db, asked) if asked else {}
    found = (policy.IssueLookup(*open_to[issue.project_id], issue, tuple(assigned.get(issue.id, ()))) for issue in rows)
    return {
        (one.issue.project_id, one.issue.iid): one
        for one in found
        if policy.may_see_issue(actor, one.here, one.issue, one.assignees)
    }


def visible_issue_ids(db: Connection, actor: Actor, issue_ids: Sequence[int]) -> set[int]:
    """Which of these the caller may know of; one statement for all, none for nobody."""
    if not actor.known or not issue_ids:
        return set()
    values: dict[str, object] = {"issues": list(issue_ids)}
    name = "with_feature"
    if not actor.admin:
        name = "visible_to_external" if actor.external else "visible"
        values |= {"actor": actor.user_id, "today": day_of(db.now)}
    return {row[0] for row in db.rows(_VISIBLE_IDS[name], **values)}


def issue_by_id(db: Connection, issue_id: int) -> Issue:
    """The issue with this number of its row, whoever asks."""
    issue = db.first(Issue, _BY_ID, issue=issue_id)
    if issue is None:
        raise NotFound("Issue")
    return issue


def find_issue_by_id(db: Connection, issue_id: int) -> policy.IssueLookup:
    """The issue with this number of its row, for administrators."""
    issue = issue_by_id(db, issue_id)
    project = project_or_none(db, issue.project_id)
    if issue.deleted_at is not None or project is None or project.namespace_id is None or not project.issues_enabled:
        raise NotFound("Issue")
    return policy.IssueLookup(Access(), project, issue, tuple(assignees_of(db, [issue.id]).get(issue.id, ())))


def assignees_of(db: Connection, issue_ids: Sequence[int]) -> dict[int, list[int]]:
    """Who has each of these to do; one statement for all."""
    assigned: defaultdict[int, list[int]] = defaultdict(list)
    for issue_id, user_id in db.rows(_ASSIGNEES, issues=list(issue_ids)):
        assigned[issue_id].append(user_id)
    return assigned


def label_titles_of(db: Connection, issue_ids: Sequence[int]) -> dict[int, list[str]]:
    """What each of these is labelled with; one statement for all."""
    carried: defaultdict[int, list[str]] = defaultdict(list)
    for issue_id, title in db.rows(_LABEL_TITLES, issues=list(issue_ids)):
        carried[issue_id].append(title)
    return carried


def user_agent_detail_of(db: Connection, issue_id: int) -> tuple[str, str, bool] | None:
    """With which program and from where an issue was written."""
    rows = db.rows(_USER_AGENT_DETAIL, issue=issue_id)
    return None if not rows else (rows[0][0], rows[0][1], rows[0][2])


def list_project_issues(
    db: Connection, actor: Actor, access: Access, project: Project, params: ListIssues, page: Page
) -> Listing[Issue]:
    """A page of a project's issues."""
    asked = IssueFilter(db, actor, params, default_scope="all")
    asked.add("in_project", project=project.id)
    if not _sees_all(actor, access):
        asked.add("not_hidden", actor=actor.user_id)
    return asked.fetch(page, None if asked.narrowed else _stored_total(db, access, actor, project, params))


def list_group_issues(db: Connection, actor: Actor, group_id: int, params: ListIssues, page: Page) -> Listing[Issue]:
    """A page of the issues in a group and all below it."""
    asked = IssueFilter(db, actor, params, default_scope="all")
    asked.add("in_group", group=group_id)
    asked.only_visible()
    return asked.fetch(page)


def list_issues(db: Connection, actor: Actor, params: ListIssues, page: Page) -> Listing[Issue]:
    """A page of issues anywhere; those that the caller wrote unless they ask for others."""
    asked = IssueFilter(db, actor, params, default_scope="created_by_me")
    asked.only_visible()
    return asked.fetch(page)


def count_project_issues(
    db: Connection, actor: Actor, access: Access, project: Project, params: ListIssues
) -> dict[str, int]:
    """How many of a project's issues there are by state."""
    asked = IssueFilter(db, actor, params, default_scope="all")
    if not asked.narrowed and _sees_all(actor, access):
        return _stored_counts(db, project)
    asked.add("in_project", project=project.id)
    if not _sees_all(actor, access):
        asked.add("not_hidden", actor=actor.user_id)
    return asked.count()


def count_group_issues(db: Connection, actor: Actor, group_id: int, params: ListIssues) -> dict[str, int]:
    """How many issues there are by state in a group and all below it."""
    asked = IssueFilter(db, actor, params, default_scope="all")
    asked.add("in_group", group=group_id)
    asked.only_visible()
    return asked.count()


def count_issues(db: Connection, actor: Actor, params: ListIssues) -> dict[str, int]:
    """How many there are by state anywhere; of those that the caller wrote unless they ask for others."""
    asked = IssueFilter(db, actor, params, default_scope="created_by_me")
    asked.only_visible()
    return asked.count()


def _sees_all(actor: Actor, access: Access) -> bool:
    """Whether confidential ones are shown too, whosever they are."""
    return access.level >= Level.REPORTER or actor.admin


def _stored_counts(db: Connection, project: Project) -> dict[str, int]:
    counts = {"opened": 0, "closed": 0}
    for state, _, count in db.rows(_COUNTS, project=project.id):
        counts[state] += count
    return counts


def _stored_total(db: Connection, access: Access, actor: Actor, project: Project, params: ListIssues) -> int | None:
    """How many there are of a state, where nothing else is asked for and nothing is hidden."""
    if not _sees_all(actor, access):
        return None
    return sum(count for state, count in _stored_counts(db, project).items() if params.state in (None, "all", state))
