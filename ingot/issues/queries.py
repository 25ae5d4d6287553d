"""How issues are found and listed."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import bindparam, select

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.access.rules import require
from ingot.api.params import number_or_none
from ingot.db.connection import Connection
from ingot.db.expressions import any_of
from ingot.db.paging import Listing, Page
from ingot.db.times import day_of
from ingot.errors import Invalid, NotFound
from ingot.issues import policy
from ingot.issues.asking import Asked
from ingot.issues.filters import CONDITIONS, KIND
from ingot.issues.params import ListIssues
from ingot.issues.tables import ISSUE, Issue, issue_assignees, issue_counts, issue_origins, issues
from ingot.labels.tables import label_links, labels
from ingot.projects.queries import find_project, project_or_none
from ingot.projects.tables import Project, projects

_BY_IID = select(*ISSUE).where(
    issues.c.project_id == bindparam("project"), issues.c.iid == bindparam("iid"), issues.c.deleted_at.is_(None)
)
_BY_ID = select(*ISSUE).where(issues.c.id == bindparam("issue"))
_NAMED = select(*ISSUE).where(
    any_of(issues.c.project_id, "projects"), any_of(issues.c.iid, "iids"), issues.c.deleted_at.is_(None)
)
_ASSIGNEES = (
    select(issue_assignees.c.issue_id, issue_assignees.c.user_id)
    .where(any_of(issue_assignees.c.issue_id, "issues"))
    .order_by(issue_assignees.c.id)
)
_LABEL_TITLES = (
    select(label_links.c.subject_id, labels.c.title)
    .join(labels, labels.c.id == label_links.c.label_id)
    .where(label_links.c.subject_kind == KIND, any_of(label_links.c.subject_id, "issues"))
    .order_by(labels.c.title_key, labels.c.id)
)
_COUNTS = select(issue_counts.c.state, issue_counts.c.confidential, issue_counts.c.count).where(
    issue_counts.c.project_id == bindparam("project")
)
# Those that a caller sees, wherever they are.
_SEEN = {
    name: select(issues.c.id)
    .join(projects, projects.c.id == issues.c.project_id)
    .where(any_of(issues.c.id, "issues"), issues.c.deleted_at.is_(None), CONDITIONS[name])
    for name in ("with_feature", "visible", "visible_to_external")
}
_ORIGIN = select(issue_origins.c.user_agent, issue_origins.c.ip_address, issue_origins.c.submitted).where(
    issue_origins.c.issue_id == bindparam("issue")
)


def find_issue(db: Connection, actor: Actor, project_name: str, iid: str) -> policy.Found:
    """The issue of a project with this number, if the caller may know of it."""
    here, project = find_project(db, actor, project_name)
    number = number_or_none(iid)
    if number is None:
        raise Invalid(issue_iid=["is invalid"])
    require(policy.may_read_issues(actor, here, project))
    found = issue_or_none(db, actor, here, project, number)
    if found is None:
        raise NotFound("Issue")
    return found


def issue_or_none(db: Connection, actor: Actor, here: Access, project: Project, iid: int) -> policy.Found | None:
    """The same for a project at hand."""
    issue = db.kept(
        ("issue", project.id, iid), lambda: db.first(Issue, _BY_IID, project=project.id, iid=iid), _issue_bytes
    )
    if issue is None:
        return None
    assignees = _assignees(db, issue.id)
    if not policy.may_see_issue(actor, here, issue, assignees):
        return None
    return policy.Found(here, project, issue, assignees)


def _issue_bytes(issue: Issue) -> int:
    return 2_000 + 4 * len(issue.description or "")


def _assignees(db: Connection, issue_id: int) -> tuple[int, ...]:
    key = ("assignees of issue", issue_id)
    return db.kept(key, lambda: tuple(assignees_of(db, [issue_id]).get(issue_id, ())), lambda _: 300) or ()


def seen_issues(
    db: Connection, actor: Actor, places: Iterable[policy.Place], named: Collection[tuple[int, int]]
) -> dict[tuple[int, int], policy.Found]:
    """The issues with these numbers of projects at hand that the caller may know of; two statements for all."""
    open_to = {one.project.id: one for one in places if policy.may_read_issues(actor, one.here, one.project)}
    wanted = {(project_id, iid) for project_id, iid in named if project_id in open_to}
    if not wanted:
        return {}
    projects_named, iids = ({pair[place] for pair in wanted} for place in (0, 1))
    rows = db.all(Issue, _NAMED, projects=sorted(projects_named), iids=sorted(iids))
    rows = [issue for issue in rows if (issue.project_id, issue.iid) in wanted]
    assigned = assignees_of(db, [issue.id for issue in rows])
    found = (policy.Found(*open_to[issue.project_id], issue, tuple(assigned.get(issue.id, ()))) for issue in rows)
    return {
        (one.issue.project_id, one.issue.iid): one
        for one in found
        if policy.may_see_issue(actor, one.here, one.issue, one.assignees)
    }


def seen_ids(db: Connection, actor: Actor, issue_ids: Sequence[int]) -> set[int]:
    """Which of these the caller may know of; one statement for all, none for nobody."""
    if not actor.known or not issue_ids:
        return set()
    values: dict[str, object] = {"issues": list(issue_ids)}
    name = "with_feature"
    if not actor.admin:
        name = "visible_to_external" if actor.external else "visible"
        values |= {"actor": actor.user_id, "today": day_of(db.now)}
    return {row[0] for row in db.rows(_SEEN[name], **values)}


def issue_by_id(db: Connection, issue_id: int) -> Issue:
    """The issue with this number of its row, whoever asks."""
    issue = db.first(Issue, _BY_ID, issue=issue_id)
    if issue is None:
        raise NotFound("Issue")
    return issue


def find_anywhere(db: Connection, issue_id: int) -> policy.Found:
    """The issue with this number of its row, for administrators."""
    issue = issue_by_id(db, issue_id)
    project = project_or_none(db, issue.project_id)
    if issue.deleted_at is not None or project is None or project.namespace_id is None or not project.issues_enabled:
        raise NotFound("Issue")
    return policy.Found(Access(), project, issue, tuple(assignees_of(db, [issue.id]).get(issue.id, ())))


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


def origin_of(db: Connection, issue_id: int) -> tuple[str, str, bool] | None:
    """With which program and from where an issue was written."""
    rows = db.rows(_ORIGIN, issue=issue_id)
    return None if not rows else (rows[0][0], rows[0][1], rows[0][2])


def list_project_issues(
    db: Connection, actor: Actor, here: Access, project: Project, wanted: ListIssues, page: Page
) -> Listing[Issue]:
    """A page of a project's issues."""
    asked = Asked(db, actor, wanted, default_scope="all")
    asked.add("in_project", project=project.id)
    if not _hides_nothing(actor, here):
        asked.add("not_hidden", actor=actor.user_id)
    return asked.fetch(page, None if asked.narrowed else _known_total(db, here, actor, project, wanted))


def list_group_issues(db: Connection, actor: Actor, group_id: int, wanted: ListIssues, page: Page) -> Listing[Issue]:
    """A page of the issues in a group and all below it."""
    asked = Asked(db, actor, wanted, default_scope="all")
    asked.add("in_group", group=group_id)
    asked.only_visible()
    return asked.fetch(page)


def list_issues(db: Connection, actor: Actor, wanted: ListIssues, page: Page) -> Listing[Issue]:
    """A page of issues anywhere; those that the caller wrote unless they ask for others."""
    asked = Asked(db, actor, wanted, default_scope="created_by_me")
    asked.only_visible()
    return asked.fetch(page)


def count_project_issues(
    db: Connection, actor: Actor, here: Access, project: Project, wanted: ListIssues
) -> dict[str, int]:
    """How many of a project's issues there are by state."""
    asked = Asked(db, actor, wanted, default_scope="all")
    if not asked.narrowed and _hides_nothing(actor, here):
        return _kept_counts(db, project)
    asked.add("in_project", project=project.id)
    if not _hides_nothing(actor, here):
        asked.add("not_hidden", actor=actor.user_id)
    return asked.count()


def count_group_issues(db: Connection, actor: Actor, group_id: int, wanted: ListIssues) -> dict[str, int]:
    """How many issues there are by state in a group and all below it."""
    asked = Asked(db, actor, wanted, default_scope="all")
    asked.add("in_group", group=group_id)
    asked.only_visible()
    return asked.count()


def count_issues(db: Connection, actor: Actor, wanted: ListIssues) -> dict[str, int]:
    """How many there are by state anywhere; of those that the caller wrote unless they ask for others."""
    asked = Asked(db, actor, wanted, default_scope="created_by_me")
    asked.only_visible()
    return asked.count()


def _hides_nothing(actor: Actor, here: Access) -> bool:
    """Whether confidential ones are shown too, whosever they are."""
    return here.level >= Level.REPORTER or actor.admin


def _kept_counts(db: Connection, project: Project) -> dict[str, int]:
    counts = {"opened": 0, "closed": 0}
    for state, _, count in db.rows(_COUNTS, project=project.id):
        counts[state] += count
    return counts


def _known_total(db: Connection, here: Access, actor: Actor, project: Project, wanted: ListIssues) -> int | None:
    """How many there are of a state, where nothing else is asked for and nothing is hidden."""
    if not _hides_nothing(actor, here):
        return None
    return sum(count for state, count in _kept_counts(db, project).items() if wanted.state in (None, "all", state))
