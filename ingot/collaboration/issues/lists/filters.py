"""Filters of lists of issues."""

from ingot.collaboration.issues.lists.pages import fetch_issues
from ingot.collaboration.issues.lists.statements import IssueListQuery, counts_of
from ingot.collaboration.issues.params import ListIssues
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.planning.filters import IssuableFilter
from ingot.core.db.expressions import like_pattern
from ingot.core.db.paging import Listing, Page
from ingot.core.db.times import add_duration, day_of
from ingot.core.errors import Invalid

_DAYS_AHEAD = {"week": 7, "month": 31}


class IssueFilter(IssuableFilter[ListIssues]):
    """The conditions of one list of issues."""

    def fetch(self, page: Page, total: int | None = None) -> Listing[Issue]:
        """Return a page of the list; ``total`` is the number of all issues of the list, if known."""
        if self._matches_nothing:
            return Listing([], page, 0)
        params, labels = self._params, (self._labels, self._excluded_labels)
        query = IssueListQuery(frozenset(self._filters), self._values, *labels, params.order_by, params.sort)
        return fetch_issues(self._db, query, page, total)

    def count(self) -> dict[str, int]:
        """Count the issues of the list by state."""
        counts = {"opened": 0, "closed": 0}
        if not self._matches_nothing:
            query = counts_of(frozenset(self._filters), self._labels, self._excluded_labels)
            counts.update(self._db.rows(query, **self._values))
        return counts

    def _read_more(self) -> None:
        params, excluded = self._params, self._params.excluded
        if params.issue_type is not None:
            self.add("of_type", issue_type=params.issue_type)
        if params.confidential is not None:
            self.add("confidential" if params.confidential else "not_confidential")
        self._read_due_date(params.due_date)
        if excluded is not None:
            self._read_excluded(excluded)
            if excluded.iids:
                self.add("not_iids", not_iids=excluded.iids)
            if excluded.search:
                self.add("not_search", not_pattern=like_pattern(excluded.search))

    def _read_due_date(self, due: str | None) -> None:
        if not due:
            return
        today = self._db.today
        if due == "0":
            self.add("no_due_date")
        elif due == "any":
            self.add("any_due_date")
        elif due == "overdue":
            self.add("due_before", due_before=day_of(add_duration(self._db.now, days=-1)))
        elif due in _DAYS_AHEAD:
            self.add("due_after", due_after=today)
            self.add("due_before", due_before=day_of(add_duration(self._db.now, days=_DAYS_AHEAD[due])))
        else:
            raise Invalid(due_date=["is invalid"])
