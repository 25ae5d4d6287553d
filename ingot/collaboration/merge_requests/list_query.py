"""What is asked of a list of merge requests."""

from ingot.collaboration.merge_requests.filters import LIST_STATEMENTS
from ingot.collaboration.merge_requests.list_statements import MergeRequestListStatements
from ingot.collaboration.merge_requests.params import ExcludedMergeRequests, ListMergeRequests
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.planning.filters import IssuableFilter
from ingot.core.db.paging import Listing, Page, fetch_page, slice_page

# Up to here all that match are looked at once for a page and its total; beyond, a page walks in its order.
_MAX_LOOKED_UP = 2_000
_STATES = {"reopened": "opened"}


class MergeRequestListQuery(IssuableFilter[ListMergeRequests]):
    """Gathers the conditions that the parameters ask for, and what they are bound to."""

    def fetch(self, page: Page, total: int | None = None) -> Listing[MergeRequest]:
        """The page."""
        if self._matches_nothing:
            return Listing([], page, 0)
        wanted, filters = self._params, self._statement_filters()
        lists = LIST_STATEMENTS.lists_of(filters, wanted.order_by, wanted.sort, self._labels, self._excluded_labels)
        if page.keyset:
            return fetch_page(self._db, MergeRequest, lists.walking, page, **self._values)
        if total is None:
            total = self._total(filters, lists)
        if total is None:
            return self._fetch_by_lookup(lists, page)
        offset = (page.number - 1) * page.size
        if offset >= total:
            return Listing([], page, total)
        bounds = {"page_size": page.size, "page_offset": offset}
        return Listing(self._db.all(MergeRequest, lists.walking.by_number, **bounds, **self._values), page, total)

    def _statement_filters(self) -> frozenset[str]:
        """The conditions; the open ones have indexes of their own, which a statement has to name."""
        filters = frozenset(self._filters)
        return filters - {"state"} | {"opened"} if self._values.get("state") == "opened" else filters

    def _total(self, filters: frozenset[str], lists: MergeRequestListStatements) -> int | None:
        """How many there are; nothing where looking all of them up tells as well."""
        if filters & LIST_STATEMENTS.few:
            return None
        if not self._labels:
            total: int = self._db.value(lists.walking.total, **self._values)
            return total
        counted = LIST_STATEMENTS.label_count.get(filters) if self._labels == 1 and not self._excluded_labels else None
        if counted is None:
            return None
        total = self._db.value(counted, **self._values)
        return total if total > _MAX_LOOKED_UP else None

    def _fetch_by_lookup(self, lists: MergeRequestListStatements, page: Page) -> Listing[MergeRequest]:
        """A page of few, all of which are found first."""
        numbers = [number for (number,) in self._db.rows(lists.looked_up, **self._values)]
        listing = slice_page(numbers, page)
        if not listing.items:
            return Listing([], page, listing.total)
        found = {row.id: row for row in self._db.all(MergeRequest, LIST_STATEMENTS.by_ids, numbers=listing.items)}
        # One may have gone in between, where a server's statements do not all see the same moment.
        return Listing([found[number] for number in listing.items if number in found], page, listing.total)

    def _read_more(self) -> None:
        wanted = self._params
        if wanted.state in _STATES:
            self.add("state", state=_STATES[wanted.state])
        for name in ("source_branch", "target_branch"):
            if getattr(wanted, name):
                self.add(name, **{name: getattr(wanted, name)})
        if wanted.source_project_id is not None:
            self.add("source_project", source_project=wanted.source_project_id)
        draft = wanted.draft if wanted.wip is None else wanted.wip == "yes"
        if draft is not None:
            self.add("draft" if draft else "not_draft")
        if wanted.scope == "reviews_for_me":
            self.add("reviewed_by_me", me=self._actor.user_id)
        self._read_reviewers()
        if wanted.excluded is not None:
            self._read_specific_excluded(wanted.excluded)

    def _read_reviewers(self) -> None:
        wanted = self._params
        self._read_person("reviewer", wanted.reviewer_id)
        if wanted.reviewer_username:
            self.add("reviewers", reviewers=[self._user_id(wanted.reviewer_username)])
        merged_by = wanted.merge_user_id or self._user_id(wanted.merge_user_username)
        if merged_by is not None:
            self.add("merged_by", merged_by=merged_by)
        self._read_approvals(wanted.approved_by_ids)

    def _read_approvals(self, named: list[str] | None) -> None:
        word = named[0].casefold() if named and len(named) == 1 else ""
        if word in ("none", "any"):
            self.add("no_approval" if word == "none" else "any_approval")
        elif named:
            self.add("approved_by", approved_by=[int(each) if each.isdecimal() else 0 for each in named])

    def _read_specific_excluded(self, excluded: ExcludedMergeRequests) -> None:
        self._read_excluded(excluded)
        for name in ("source_branch", "target_branch"):
            if getattr(excluded, name):
                self.add(f"not_{name}", **{f"not_{name}": getattr(excluded, name)})
        reviewer = excluded.reviewer_id or self._user_id(excluded.reviewer_username)
        if reviewer is not None:
            self.add("not_reviewers", not_reviewers=[reviewer])
