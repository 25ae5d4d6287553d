"""Todos about merges that did not happen."""

from collections.abc import Sequence

from ingot.collaboration.merge_requests.service import subject_of
from ingot.collaboration.merge_requests.subject_kind import MERGE_REQUEST_KIND
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.todos.service import add_todo
from ingot.core.db.connection import Connection


def add_todos_of_readers(db: Connection, merge_request: MergeRequest, user_ids: Sequence[int], action: str) -> None:
    """Add todos for users who may still see the merge request; each is also the author of their todo."""
    subject = subject_of(merge_request)
    for user_id in sorted(MERGE_REQUEST_KIND.readers(db, subject, set(user_ids), False)):
        add_todo(db, user_id, user_id, subject, action)
