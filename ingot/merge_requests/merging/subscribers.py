"""What becomes of merge requests when branches move and pipelines end."""

from collections.abc import Sequence

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.jobs.queue import enqueue
from ingot.merge_requests.events import MergeFailed
from ingot.merge_requests.kind import MERGE_REQUESTS
from ingot.merge_requests.merging.queries import awaited_heads, brought_by, merges_made, open_at, waiting_from
from ingot.merge_requests.merging.service import cancel_merge, give_up, mark_merged
from ingot.merge_requests.merging.wishes import MERGE_WHEN_READY
from ingot.merge_requests.queries import merge_request_by_id
from ingot.merge_requests.service import subject_of
from ingot.merge_requests.tables import MergeRequest
from ingot.repository.changes.events import CommitsAwaited, RefsChanged
from ingot.repository.pipelines.events import PipelineChanged
from ingot.todos.service import add_todo, finish_because

subscriptions = Subscriptions()


@subscriptions.on(CommitsAwaited)
def await_heads(db: Connection, event: CommitsAwaited) -> None:
    """Heads of open merge requests are awaited on their targets, also those that come with the very same push."""
    new = {update.branch: update.new for update in event.updates if update.branch is not None}
    for each in awaited_heads(db, event.project_id, list(new)):
        heads = event.awaited.setdefault(each.target_branch, set())
        heads.add(each.head_oid)
        if each.source_project_id == event.project_id and each.source_branch in new:
            heads.add(new[each.source_branch])


@subscriptions.on(RefsChanged)
def notice_merges(db: Connection, event: RefsChanged) -> None:
    """A target that has come to the commit of a merge, or contains a head, has merged it; heads have moved before."""
    for update in event.updates:
        if update.branch is None or update.deletes:
            continue
        for made in merges_made(db, event.project_id, update.branch, update.new):
            mark_merged(db, merge_request_by_id(db, made.merge_request_id), event.actor_id, made)
        heads = event.arrived.get(update.branch)
        if heads:
            for merge_request in brought_by(db, event.project_id, update.branch, heads):
                mark_merged(db, merge_request, event.actor_id, None)


@subscriptions.on(RefsChanged)
def drop_what_was_to_be_merged(db: Connection, event: RefsChanged) -> None:
    """Somebody wanted what they had seen to be merged, and not what was pushed after it."""
    moved = [update.branch for update in event.updates if update.branch is not None]
    if moved:
        for merge_request in waiting_from(db, event.project_id, moved):
            cancel_merge(db, event.actor_id or merge_request.author_id, merge_request)


@subscriptions.on(PipelineChanged)
def merge_when_ready(db: Connection, event: PipelineChanged) -> None:
    """A success lets a job merge what waits for it; what fails is not waited for any longer, and is to be looked at."""
    if event.status in ("created", "manual", "skipped"):
        return
    for merge_request in open_at(db, event.project_id, event.sha):
        waits = merge_request.merge_when_pipeline_succeeds
        if event.status in ("failed", "canceled"):
            if waits:
                give_up(db, merge_request, "The pipeline has not succeeded, so it was not merged.", failed=True)
            elif event.status == "failed":
                _look(db, merge_request, [merge_request.author_id], "build_failed")
            continue
        finish_because(db, subject_of(merge_request), "build_failed")
        if waits and event.status == "success":
            key = f"{MERGE_WHEN_READY} {merge_request.id}"
            enqueue(db, MERGE_WHEN_READY, merge_request.id, unique_key=key)


@subscriptions.on(MergeFailed)
def look_at_what_failed(db: Connection, event: MergeFailed) -> None:
    """Who offered it and who wanted it merged have to look at it."""
    merge_request = merge_request_by_id(db, event.merge_request_id)
    people = (merge_request.author_id, event.merge_user_id or merge_request.author_id)
    _look(db, merge_request, people, event.cause)


def _look(db: Connection, merge_request: MergeRequest, people: Sequence[int], action: str) -> None:
    """Nobody gives it to them, so they have it from themselves; those who may not see it any more do not."""
    subject = subject_of(merge_request)
    for user_id in sorted(MERGE_REQUESTS.readers(db, subject, set(people), False)):
        add_todo(db, user_id, user_id, subject, action)
