"""Response structs of reviewers."""

from collections.abc import Sequence
from typing import Literal

from ingot.accounts.users.queries import users_by_ids
from ingot.accounts.users.views import UserBrief, user_brief
from ingot.collaboration.merge_requests.review_states import review_states
from ingot.core.api.views import View
from ingot.core.db.connection import Connection


class ReviewerView(View):
    """A reviewer of a merge request, and the result of their review."""

    user: UserBrief
    state: Literal["unreviewed", "reviewed", "requested_changes", "approved"]


def reviewer_views(
    db: Connection, merge_request_id: int, reviewers: Sequence[int], approvers: Sequence[int], base: str
) -> list[ReviewerView]:
    """Build the views of the reviewers."""
    users = users_by_ids(db, reviewers) if reviewers else {}
    states = review_states(db, [merge_request_id] if reviewers else [])
    return [
        ReviewerView(
            user_brief(users[user_id], base),
            "approved" if user_id in approvers else states.get((merge_request_id, user_id), "unreviewed"),
        )
        for user_id in reviewers
    ]
