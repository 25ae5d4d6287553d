"""How issues are found and listed."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, select

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.api.params import number_or_none
from ingot.db.connection import Connection
from ingot.db.expressions import any_of, like_pattern
from ingot.db.paging import Listing, Page, fetch_page
from ingot.db.search import is_indexed, needle
from ingot.db.times import day_of, later
from ingot.errors import Invalid, NotFound
from ingot.issues import policy
from ingot.issues.filters import lists_of
from ingot.issues.params import Excluded, ListIssues
from ingot.issues.tables import Issue, issue_assignees, issue_counts, issue_origins, issues
from ingot.projects.queries import find_project
from ingot.projects.tables import Project
from ingot.users.accounts.queries import user_by_username

_MOST_LABELS = 20
_MOST_PAST_DAYS = {"week": 7, "month": 31}
_BY_IID = select(issues).where(
    issues.c.project_id == bindparam("project"), issues.c.iid == bindparam("iid"), issues.c.deleted_at.is_(None)
)
_BY_ID = select(issues).where(issues.c.id == bindparam("issue"))
_ASSIGNEES = (
    select(issue_assignees.c.issue_id, issue_assignees.c.user_id)
    .where(any_of(issue_assignees.c.issue_id, "issues"))
    .order_by(issue_assignees.c.id)
)
_COUNTS = select(issue_counts.c.state, issue_counts.c.confidential, issue_counts.c.count).where(
    issue_counts.c.project_id == bindparam("project")
)
_ORIGIN = select(issue_origins.c.user_agent, issue_origins.c.ip_address, issue_origins.c.submitted).where(
    issue_origins.c.issue_id == bindparam("issue")
)


def find_issue(db: Connection, actor: Actor, project_name: str, iid: str) -> policy.Found:
    """The issue of a project with this number, if the caller may know of it."""
    here, project = find_project(db, actor, project_name)
    number = number_or_none(iid)
    if number is None:
        raise Invalid(issue_iid=["is invalid"])
    if not policy.may_read_issues(actor, here, project):
        raise NotFound("Issue") if project.issues_enabled else NotFound()
    found = issue_or_none(db, actor, here, project, number)
    if found is None:
        raise NotFound("Issue")
    return found


def issue_or_none(db: Connection, actor: Actor, here: Access, project: Project, iid: int) -> policy.Found | None:
    """The same for a project at hand."""
    issue = db.first(Issue, _BY_IID, project=project.id, iid=iid)
    if issue is None:
        return None
    assignees = tuple(assignees_of(db, [issue.id]).get(issue.id, ()))
    if not policy.may_see_issue(actor, here, issue, assignees):
        return None
    return policy.Found(here, project, issue, assignees)


def issue_by_id(db: Connection, issue_id: int) -> Issue:
    """The issue with this number of its row, whoever asks."""
    issue = db.first(Issue, _BY_ID, issue=issue_id)
    if issue is None:
        raise NotFound("Issue")
    return issue


def assignees_of(db: Connection, issue_ids: Sequence[int]) -> dict[int, list[int]]:
    """Who has each of these to do; one statement for all."""
    assigned: defaultdict[int, list[int]] = defaultdict(list)
    for issue_id, user_id in db.rows(_ASSIGNEES, issues=list(issue_ids)):
        assigned[issue_id].append(user_id)
    return assigned


def origin_of(db: Connection, issue_id: int) -> tuple[str, str, bool] | None:
    """With which program and from where an issue was written."""
    rows = db.rows(_ORIGIN, issue=issue_id)
    return None if not rows else (rows[0][0], rows[0][1], rows[0][2])


def list_project_issues(
    db: Connection, actor: Actor, here: Access, project: Project, wanted: ListIssues, page: Page
) -> Listing[Issue]:
    """A page of a project's issues."""
    asked = _Asked(db, actor, wanted, default_scope="all")
    asked.add("in_project", project=project.id)
    if not (here.level >= Level.REPORTER or actor.admin):
        asked.add("not_hidden", actor=actor.user_id)
    return asked.fetch(page, None if asked.narrowed else _known_total(db, here, actor, project, wanted))


def list_group_issues(db: Connection, actor: Actor, group_id: int, wanted: ListIssues, page: Page) -> Listing[Issue]:
    """A page of the issues in a group and all below it."""
    asked = _Asked(db, actor, wanted, default_scope="all")
    asked.add("in_group", group=group_id)
    asked.only_visible()
    return asked.fetch(page)


def list_issues(db: Connection, actor: Actor, wanted: ListIssues, page: Page) -> Listing[Issue]:
    """A page of issues anywhere; those that the caller wrote unless they ask for others."""
    asked = _Asked(db, actor, wanted, default_scope="created_by_me")
    asked.only_visible()
    return asked.fetch(page)


def _known_total(db: Connection, here: Access, actor: Actor, project: Project, wanted: ListIssues) -> int | None:
    """How many there are of a state, where nothing else is asked for and nothing is hidden."""
    if not (here.level >= Level.REPORTER or actor.admin):
        return None
    counts: list[tuple[str, bool, int]] = db.rows(_COUNTS, project=project.id)
    return sum(count for state, _, count in counts if wanted.state in (None, "all", state))


class _Asked:
    """Gathers the conditions that the parameters ask for, and what they are bound to."""

    def __init__(self, db: Connection, actor: Actor, wanted: ListIssues, default_scope: str) -> None:
        self._db = db
        self._actor = actor
        self._wanted = wanted
        self._filters: set[str] = set()
        self._values: dict[str, Any] = {}
        self._labels = self._excluded_labels = 0
        self._nothing = False
        self._read(default_scope)
        self.narrowed = bool(self._filters - {"state"}) or self._labels + self._excluded_labels > 0 or self._nothing

    def add(self, name: str, **values: Any) -> None:
        """One condition more."""
        self._filters.add(name)
        self._values |= values

    def only_visible(self) -> None:
        """Leave out what the caller may not see."""
        if self._actor.admin:
            self.add("with_issues")
            return
        name = "visible_to_external" if self._actor.external else "visible"
        self.add(name, actor=self._actor.user_id, today=day_of(self._db.now))

    def fetch(self, page: Page, total: int | None = None) -> Listing[Issue]:
        """The page."""
        if self._nothing:
            return Listing([], page, 0)
        wanted = self._wanted
        query = lists_of(frozenset(self._filters), wanted.order_by, wanted.sort, self._labels, self._excluded_labels)
        if total is None or page.keyset:
            return fetch_page(self._db, Issue, query, page, **self._values)
        offset = (page.number - 1) * page.size
        if offset >= total:
            return Listing([], page, total)
        found = self._db.all(Issue, query.by_number, page_size=page.size, page_offset=offset, **self._values)
        return Listing(found, page, total)

    def _read(self, default_scope: str) -> None:
        wanted = self._wanted
        if wanted.state not in (None, "all"):
            self.add("state", state=wanted.state)
        if wanted.confidential is not None:
            self.add("confidential" if wanted.confidential else "not_confidential")
        if wanted.iids is not None:
            self.add("iids", iids=wanted.iids)
        for name in ("created_after", "created_before", "updated_after", "updated_before"):
            if getattr(wanted, name) is not None:
                self.add(name, **{name: getattr(wanted, name)})
        self._read_labels(wanted.labels)
        self._read_milestone(wanted.milestone)
        self._read_people(default_scope)
        self._read_due_date(wanted.due_date)
        if wanted.search:
            self._read_search(wanted.search)
        if wanted.excluded is not None:
            self._read_excluded(wanted.excluded)

    def _read_labels(self, titles: list[str] | None) -> None:
        if not titles:
            return
        word = titles[0].casefold() if len(titles) == 1 else ""
        if word in ("no label", "no+label", "none"):
            self.add("without_labels")
        elif word == "any":
            self.add("any_label")
        else:
            self._labels = self._bind_labels("label", titles)

    def _bind_labels(self, prefix: str, titles: list[str]) -> int:
        if len(titles) > _MOST_LABELS:
            raise Invalid(labels=[f"cannot be more than {_MOST_LABELS}"])
        self._values |= {f"{prefix}_{place}": title for place, title in enumerate(titles)}
        return len(titles)

    def _read_milestone(self, title: str | None) -> None:
        if not title:
            return
        word = title.casefold()
        if word in ("no milestone", "none"):
            self.add("without_milestone")
        elif word == "any":
            self.add("any_milestone")
        else:
            self.add("milestone", milestone=title)

    def _read_people(self, default_scope: str) -> None:
        wanted = self._wanted
        scope = (wanted.scope or default_scope).replace("-", "_")
        if wanted.scope is None and (wanted.author_id or wanted.author_username):
            scope = "all"
        if scope == "created_by_me":
            self.add("written_by_me", me=self._actor.user_id)
        elif scope == "assigned_to_me":
            self.add("assigned_to_me", me=self._actor.user_id)
        author = wanted.author_id or self._user_id(wanted.author_username)
        if author is not None:
            self.add("author", author=author)
        self._read_assignee(wanted.assignee_id)
        if wanted.assignee_username:
            self.add("assignees", assignees=[self._user_id(name) for name in wanted.assignee_username])

    def _read_assignee(self, assignee: str | None) -> None:
        if not assignee:
            return
        word = assignee.casefold()
        if word in ("none", "0"):
            self.add("no_assignee")
        elif word == "any":
            self.add("any_assignee")
        else:
            number = number_or_none(assignee)
            if number is None:
                raise Invalid(assignee_id=["is invalid"])
            self.add("assignees", assignees=[number])

    def _user_id(self, username: str | None) -> int | None:
        """The number of a user; of one who is not there, one that nobody has."""
        if not username:
            return None
        user = user_by_username(self._db, username)
        return user.id if user else 0

    def _read_due_date(self, asked: str | None) -> None:
        if not asked:
            return
        today = day_of(self._db.now)
        if asked == "0":
            self.add("no_due_date")
        elif asked == "any":
            self.add("any_due_date")
        elif asked == "overdue":
            self.add("due_before", due_before=day_of(later(self._db.now, days=-1)))
        elif asked in _MOST_PAST_DAYS:
            self.add("due_after", due_after=today)
            self.add("due_before", due_before=day_of(later(self._db.now, days=_MOST_PAST_DAYS[asked])))
        else:
            raise Invalid(due_date=["is invalid"])

    def _read_search(self, text: str) -> None:
        if is_indexed(text):
            self.add("search", needle=needle(text))
        else:
            self.add("short_search", pattern=like_pattern(text))

    def _read_excluded(self, excluded: Excluded) -> None:
        if excluded.labels:
            self._excluded_labels = self._bind_labels("not_label", excluded.labels)
        if excluded.milestone:
            self.add("not_milestone", not_milestone=excluded.milestone)
        author = excluded.author_id or self._user_id(excluded.author_username)
        if author is not None:
            self.add("not_author", not_author=author)
        people = [excluded.assignee_id, *(self._user_id(name) for name in excluded.assignee_username or ())]
        people = [person for person in people if person is not None]
        if people:
            self.add("not_assignees", not_assignees=people)
        if excluded.iids:
            self.add("not_iids", not_iids=excluded.iids)
        if excluded.search:
            self.add("not_search", not_pattern=like_pattern(excluded.search))
