"""What is asked of a list: the conditions that the parameters stand for, and the pages that they give.

The first class serves all that is planned, also merge requests, which lie above; the second one issues.
"""

from typing import Any, Generic, TypeVar

from sqlalchemy import select

from ingot.accounts.users.queries import user_by_username_or_none
from ingot.collaboration.issues.filters import count_statement
from ingot.collaboration.issues.pages import fetch_issues
from ingot.collaboration.issues.params import ExcludedIssuables, ListIssuables, ListIssues
from ingot.collaboration.issues.ranking import IssueSelection
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.labels.tables import labels
from ingot.core.access.actor import Actor
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list, like_pattern
from ingot.core.db.paging import Listing, Page
from ingot.core.db.search import is_indexed, search_term
from ingot.core.db.times import add_duration, day_of
from ingot.core.markup.emoji import canonical_name
from ingot.errors import Invalid

_MAX_LABELS = 20
_OVERDUE_DAYS = {"week": 7, "month": 31}
_LABELS = select(labels.c.title, labels.c.id).where(in_list(labels.c.title, "titles"))


W = TypeVar("W", bound=ListIssuables)


class IssuableListQuery(Generic[W]):
    """Gathers the conditions that the parameters ask for, and what they are bound to."""

    def __init__(self, db: Connection, actor: Actor, wanted: W, default_scope: str) -> None:
        self._db = db
        self._actor = actor
        self._wanted = wanted
        self._filters: set[str] = set()
        self._values: dict[str, Any] = {}
        self._labels = self._excluded_labels = 0
        self._nothing = False
        self._read(default_scope)
        self.is_filtered = bool(self._filters - {"state"}) or self._labels + self._excluded_labels > 0 or self._nothing

    def add(self, name: str, **values: Any) -> None:
        """One condition more."""
        self._filters.add(name)
        self._values |= values

    def restrict_to_visible(self) -> None:
        """Leave out what the caller may not see."""
        if self._actor.admin:
            self.add("with_feature")
            return
        name = "visible_to_external" if self._actor.external else "visible"
        self.add(name, actor=self._actor.user_id, today=day_of(self._db.now))

    def _read(self, default_scope: str) -> None:
        wanted = self._wanted
        if wanted.state not in (None, "all"):
            self.add("state", state=wanted.state)
        if wanted.iids is not None:
            self.add("iids", iids=wanted.iids)
        for name in ("created_after", "created_before", "updated_after", "updated_before"):
            if getattr(wanted, name) is not None:
                self.add(name, **{name: getattr(wanted, name)})
        self._read_labels(wanted.labels)
        self._read_milestone(wanted.milestone)
        self._read_people(default_scope)
        self._read_reaction(wanted.my_reaction_emoji)
        if wanted.search:
            self._read_search(wanted.search)
        self._read_specific()

    def _read_specific(self) -> None:
        """What only lists of one kind are asked."""

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
        if len(titles) > _MAX_LABELS:
            raise Invalid(labels=[f"cannot be more than {_MAX_LABELS}"])
        known: dict[str, list[int]] = {}
        for title, number in self._db.rows(_LABELS, titles=titles):
            known.setdefault(title, []).append(number)
        if prefix == "label" and len(known) < len(set(titles)):
            self._nothing = True  # Nothing carries a label that is not there.
        self._values |= {f"{prefix}_{place}": numbers for place, numbers in enumerate(known.values())}
        return len(known)

    def _read_milestone(self, title: str | None) -> None:
        if not title:
            return
        word = title.casefold()
        if word in ("no milestone", "none"):
            self.add("without_milestone")
        elif word in ("any milestone", "any"):
            self.add("any_milestone")
        elif word in ("#upcoming", "upcoming", "#started", "started"):
            self.add(f"{word.removeprefix('#')}_milestone", today=day_of(self._db.now))
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
        self._read_person("assignee", assignee)

    def _read_person(self, role: str, named: str | None) -> None:
        """Somebody by number, or that there is anybody or nobody."""
        word = (named or "").casefold()
        if word in ("none", "0"):
            self.add(f"no_{role}")
        elif word == "any":
            self.add(f"any_{role}")
        elif word:
            number = number_or_none(word)
            if number is None:
                raise Invalid(**{f"{role}_id": ["is invalid"]})
            self.add(f"{role}s", **{f"{role}s": [number]})

    def _user_id(self, username: str | None) -> int | None:
        """The number of a user; of one who is not there, one that nobody has."""
        if not username:
            return None
        user = user_by_username_or_none(self._db, username)
        return user.id if user else 0

    def _read_reaction(self, name: str | None) -> None:
        if not name:
            return
        word = name.casefold()
        if word == "none":
            self.add("no_reaction", giver=self._actor.user_id)
        elif word == "any":
            self.add("any_reaction", giver=self._actor.user_id)
        else:
            self.add("reaction", giver=self._actor.user_id, reaction=canonical_name(name) or name)

    def _read_search(self, text: str) -> None:
        """In the title and the description, or in that one of them that is asked for; other words say nothing."""
        within = {part.strip() for part in (self._wanted.within or "").split(",")} & {"title", "description"}
        where = f"{within.pop()}_search" if len(within) == 1 else "search"
        if is_indexed(text):
            self.add(where, needle=search_term(text))
        else:
            self.add(f"short_{where}", pattern=like_pattern(text))

    def _read_excluded(self, excluded: ExcludedIssuables) -> None:
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
        if excluded.my_reaction_emoji:
            name = excluded.my_reaction_emoji
            self.add("not_reaction", giver=self._actor.user_id, not_reaction=canonical_name(name) or name)


class IssueListQuery(IssuableListQuery[ListIssues]):
    """What is asked of a list of issues."""

    def fetch(self, page: Page, total: int | None = None) -> Listing[Issue]:
        """The page."""
        if self._nothing:
            return Listing([], page, 0)
        wanted, labels = self._wanted, (self._labels, self._excluded_labels)
        asked = IssueSelection(frozenset(self._filters), self._values, *labels, wanted.order_by, wanted.sort)
        return fetch_issues(self._db, asked, page, total)

    def count(self) -> dict[str, int]:
        """How many there are by state."""
        counts = {"opened": 0, "closed": 0}
        if not self._nothing:
            query = count_statement(frozenset(self._filters), self._labels, self._excluded_labels)
            counts.update(self._db.rows(query, **self._values))
        return counts

    def _read_specific(self) -> None:
        wanted, excluded = self._wanted, self._wanted.excluded
        if wanted.issue_type not in (None, "issue"):
            self._nothing = True  # All are plain issues here.
        if wanted.confidential is not None:
            self.add("confidential" if wanted.confidential else "not_confidential")
        self._read_due_date(wanted.due_date)
        if excluded is not None:
            self._read_excluded(excluded)
            if excluded.iids:
                self.add("not_iids", not_iids=excluded.iids)
            if excluded.search:
                self.add("not_search", not_pattern=like_pattern(excluded.search))

    def _read_due_date(self, asked: str | None) -> None:
        if not asked:
            return
        today = day_of(self._db.now)
        if asked == "0":
            self.add("no_due_date")
        elif asked == "any":
            self.add("any_due_date")
        elif asked == "overdue":
            self.add("due_before", due_before=day_of(add_duration(self._db.now, days=-1)))
        elif asked in _OVERDUE_DAYS:
            self.add("due_after", due_after=today)
            self.add("due_before", due_before=day_of(add_duration(self._db.now, days=_OVERDUE_DAYS[asked])))
        else:
            raise Invalid(due_date=["is invalid"])
