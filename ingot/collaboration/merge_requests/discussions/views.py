"""Response structs of reviewers."""

from collections.abc import Sequence
from typing import Literal

from ingot.accounts.users.queries import users_by_ids
from ingot.accounts.users.views import UserBrief, user_brief
from ingot.core.api.views import View
from ingot.core.db.connection import Connection


class ReviewerView(View):
    """A reviewer of a merge request, and whether they have approved it."""

    user: UserBrief
    state: Literal["unreviewed", "approved"]


def reviewer_views(db: Connection, reviewers: Sequence[int], approvers: Sequence[int], base: str) -> list[ReviewerView]:
    """Build the views of the reviewers."""
    users = users_by_ids(db, reviewers) if reviewers else {}
    return [
        ReviewerView(user_brief(users[user_id], base), "approved" if user_id in approvers else "unreviewed")
        for user_id in reviewers
    ]
