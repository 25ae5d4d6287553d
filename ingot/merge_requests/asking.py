"""What is asked of a list of merge requests."""

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.db.expressions import like_pattern
from ingot.issues.asking import AskedOf
from ingot.merge_requests.filters import SHAPES
from ingot.merge_requests.params import Excluded, ListMergeRequests
from ingot.merge_requests.tables import MergeRequest

_STATES = {"reopened": "opened"}


class Asked(AskedOf[ListMergeRequests, MergeRequest]):
    """Gathers the conditions that the parameters ask for, and what they are bound to."""

    def __init__(self, db: Connection, actor: Actor, wanted: ListMergeRequests, default_scope: str) -> None:
        super().__init__(db, actor, wanted, default_scope, SHAPES, MergeRequest)

    def _read_more(self) -> None:
        wanted = self._wanted
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
            self._read_excluded_too(wanted.excluded)

    def _read_reviewers(self) -> None:
        wanted = self._wanted
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

    def _read_search(self, text: str) -> None:
        within = {part.strip() for part in (self._wanted.within or "").split(",")} & {"title", "description"}
        if len(within) == 1:
            self.add(f"{within.pop()}_search", pattern=like_pattern(text))
        else:
            super()._read_search(text)

    def _read_excluded_too(self, excluded: Excluded) -> None:
        self._read_excluded(excluded)
        for name in ("source_branch", "target_branch"):
            if getattr(excluded, name):
                self.add(f"not_{name}", **{f"not_{name}": getattr(excluded, name)})
        reviewer = excluded.reviewer_id or self._user_id(excluded.reviewer_username)
        if reviewer is not None:
            self.add("not_reviewers", not_reviewers=[reviewer])
