"""Queries for lists of merge requests."""

from ingot.collaboration.merge_requests.filters import LIST_STATEMENTS
from ingot.collaboration.merge_requests.list_statements import MergeRequestListStatements
from ingot.collaboration.merge_requests.params import ExcludedMergeRequests, ListMergeRequests
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.planning.filters import IssuableFilter
from ingot.core.api.params import number_or_none
from ingot.core.db.paging import Listing, Page, fetch_page, slice_page

# Up to this number all matching ids are looked up for a page and its total; beyond, a page is read along its order.
_MAX_LOOKED_UP = 2_000
_STATES = {"reopened": "opened"}


class MergeRequestListQuery(IssuableFilter[ListMergeRequests]):
    """The conditions of one list of merge requests, and the values that are bound to them."""

    def fetch(self, page: Page, total: int | None = None) -> Listing[MergeRequest]:
        """Return a page of the list; ``total`` is the number of all rows of the list, if known."""
        if self._matches_nothing:
            return Listing([], page, 0)
        params, filters = self._params, self._statement_filters()
        lists = LIST_STATEMENTS.lists_of(filters, params.order_by, params.sort, self._labels, self._excluded_labels)
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
        """Return the filters; the literal state lets the partial indexes of open merge requests apply."""
        filters = frozenset(self._filters)
        return filters - {"state"} | {"opened"} if self._values.get("state") == "opened" else filters

    def _total(self, filters: frozenset[str], lists: MergeRequestListStatements) -> int | None:
        """Return the total, or None if all ids are to be looked up anyway."""
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
        """Look up all ids and return a page of them."""
        ids = [merge_request_id for (merge_request_id,) in self._db.rows(lists.looked_up, **self._values)]
        listing = slice_page(ids, page)
        if not listing.items:
            return Listing([], page, listing.total)
        by_id = {row.id: row for row in self._db.all(MergeRequest, LIST_STATEMENTS.by_ids, page_ids=listing.items)}
        # On PostgreSQL a row may have been deleted since the statement that found its id.
        return Listing(
            [by_id[merge_request_id] for merge_request_id in listing.items if merge_request_id in by_id],
            page,
            listing.total,
        )

    def _read_more(self) -> None:
        params = self._params
        if params.state in _STATES:
            self.add("state", state=_STATES[params.state])
        for name in ("source_branch", "target_branch"):
            if getattr(params, name):
                self.add(name, **{name: getattr(params, name)})
        if params.source_project_id is not None:
            self.add("source_project", source_project=params.source_project_id)
        draft = params.draft if params.wip is None else params.wip == "yes"
        if draft is not None:
            self.add("draft" if draft else "not_draft")
        if params.scope == "reviews_for_me":
            self.add("reviewed_by_me", me=self._actor.user_id)
        self._read_reviewers()
        if params.excluded is not None:
            self._read_specific_excluded(params.excluded)

    def _read_reviewers(self) -> None:
        params = self._params
        self._read_person("reviewer", params.reviewer_id)
        if params.reviewer_username:
            self.add("reviewers", reviewers=[self._user_id(params.reviewer_username)])
        merged_by = params.merge_user_id or self._user_id(params.merge_user_username)
        if merged_by is not None:
            self.add("merged_by", merged_by=merged_by)
        self._read_approvals(params.approved_by_ids)

    def _read_approvals(self, user_ids: list[str] | None) -> None:
        word = user_ids[0].casefold() if user_ids and len(user_ids) == 1 else ""
        if word in ("none", "any"):
            self.add("no_approval" if word == "none" else "any_approval")
        elif user_ids:
            self.add("approved_by", approved_by=[number_or_none(user_id) or 0 for user_id in user_ids])

    def _read_specific_excluded(self, excluded: ExcludedMergeRequests) -> None:
        self._read_excluded(excluded)
        for name in ("source_branch", "target_branch"):
            if getattr(excluded, name):
                self.add(f"not_{name}", **{f"not_{name}": getattr(excluded, name)})
        reviewer = excluded.reviewer_id or self._user_id(excluded.reviewer_username)
        if reviewer is not None:
            self.add("not_reviewers", not_reviewers=[reviewer])
