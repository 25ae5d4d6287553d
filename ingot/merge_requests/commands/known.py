"""The commands that merge requests know."""

from dataclasses import dataclass

from ingot.access.actor import Actor
from ingot.commands.desk import Commands, Desk
from ingot.commands.planning import LONGEST_TITLE, PLANNING
from ingot.db.connection import Connection
from ingot.git.commits import branch_tip
from ingot.git.faults import MissingRepository
from ingot.git.store import Store
from ingot.issues.commands.timing import add_timing
from ingot.merge_requests.commands.merging import may_be_merged, merge_as_told
from ingot.merge_requests.drafts import drafted, is_draft, ready
from ingot.merge_requests.policy import Found, may_approve
from ingot.merge_requests.queries import merge_request_by_id, open_twin
from ingot.merge_requests.service import hold_merge_request
from ingot.merge_requests.talk.approving import approve, approvers_of, unapprove
from ingot.merge_requests.upkeep import service
from ingot.projects.queries import project_or_none
from ingot.subjects import Subject


@dataclass(slots=True)
class MergeRequestDesk(Desk):
    """The desk of a merge request."""

    title: str = ""
    """As it is, or as it is to be where it is being written."""
    found: Found | None = None
    """Nothing while it is being written."""
    store: Store | None = None
    seen: str | None = None
    """The head that whoever commands says they have seen."""


MERGE_REQUESTS: Commands[MergeRequestDesk] = Commands(PLANNING)


@MERGE_REQUESTS.on("reopen")
def reopen(desk: MergeRequestDesk, _: str) -> str | None:
    """Open it again, where it is closed, its source is still there and no other one has taken its place."""
    found = desk.found
    if not desk.edits or found is None or desk.store is None or found.merge_request.state != "closed":
        return None
    source = project_or_none(desk.db, found.merge_request.source_project_id or 0)
    if source is None or _tip(desk.store, source.repository_key, found.merge_request.source_branch) is None:
        return None
    if _has_twin(desk.db, found, found.merge_request.target_branch):
        return None
    desk.wishes["state_event"] = "reopen"
    return "Reopened this."


@MERGE_REQUESTS.on("target_branch")
def set_target(desk: MergeRequestDesk, branch: str) -> str | None:
    """Let it be merged into another branch; of one that is being written, that is seen to before git is asked."""
    found = desk.found
    if not desk.edits or found is None or desk.store is None or found.merge_request.state != "opened":
        return None
    merge_request = found.merge_request
    own = merge_request.source_project_id == found.project.id and branch == merge_request.source_branch
    if own or branch == merge_request.target_branch or not branch:
        return None
    if _tip(desk.store, found.project.repository_key, branch) is None or _has_twin(desk.db, found, branch):
        return None
    desk.wishes["target_branch"] = branch
    return f"Set target branch to {branch}."


@MERGE_REQUESTS.on("wip")
def toggle_draft(desk: MergeRequestDesk, _: str) -> str | None:
    """Say that it is not to be merged yet, or that it is."""
    title = desk.wishes.get("title", desk.title)
    return _retitle(desk, ready(title) if is_draft(title) else drafted(title, "WIP"))


@MERGE_REQUESTS.on("draft")
def mark_draft(desk: MergeRequestDesk, _: str) -> str | None:
    """Say that it is not to be merged yet."""
    return _retitle(desk, drafted(desk.wishes.get("title", desk.title), "Draft"))


@MERGE_REQUESTS.on("ready")
def mark_ready(desk: MergeRequestDesk, _: str) -> str | None:
    """Say that it is to be merged."""
    return _retitle(desk, ready(desk.wishes.get("title", desk.title)))


def _retitle(desk: MergeRequestDesk, title: str) -> str | None:
    before = desk.wishes.get("title", desk.title)
    if not desk.edits or title == before or not 0 < len(title) <= LONGEST_TITLE:
        return None
    desk.wishes["title"] = title
    return f"Marked this merge request as {'draft' if is_draft(title) else 'ready'}."


@MERGE_REQUESTS.on("merge")
def merge(desk: MergeRequestDesk, _: str) -> str | None:
    """Merge it: soon, by a job, or when its pipeline has succeeded."""
    found = desk.found
    if found is None or desk.store is None:
        return None
    head, store = found.merge_request.head_oid, desk.store
    if desk.seen not in (None, head) or not may_be_merged(desk.db, store, desk.actor, found):
        return None

    def tell(db: Connection, subject: Subject) -> None:
        if subject.id is not None:
            held = hold_merge_request(db, found.merge_request)
            merge_as_told(db, store, desk.actor, found._replace(merge_request=held), head)

    desk.effects.append(tell)
    return "Scheduled to merge this merge request."


@MERGE_REQUESTS.on("approve")
def say_yes(desk: MergeRequestDesk, _: str) -> str | None:
    """Approve of it, once."""
    found = desk.found
    if found is None or found.merge_request.state != "opened" or not may_approve(desk.actor, found.here, found):
        return None
    if desk.actor.user_id in approvers_of(desk.db, found.merge_request.id):
        return None
    desk.effects.append(lambda db, _: _approve(db, desk.actor, found))
    return "Approved this merge request."


def _approve(db: Connection, actor: Actor, found: Found) -> None:
    held = hold_merge_request(db, found.merge_request)
    # What else was commanded may have closed it, or have said the same before, be it at the same time.
    if held.state == "opened" and actor.user_id not in approvers_of(db, held.id):
        approve(db, actor, held)


@MERGE_REQUESTS.on("unapprove")
def take_back(desk: MergeRequestDesk, _: str) -> str | None:
    """Approve of it no more."""
    found = desk.found
    if found is None or not may_approve(desk.actor, found.here, found):
        return None
    if desk.actor.user_id not in approvers_of(desk.db, found.merge_request.id):
        return None
    desk.effects.append(lambda db, _: _unapprove(db, desk.actor, found))
    return "Unapproved this merge request."


def _unapprove(db: Connection, actor: Actor, found: Found) -> None:
    held = hold_merge_request(db, found.merge_request)
    if actor.user_id in approvers_of(db, held.id):
        unapprove(db, actor, held)


def _tip(store: Store, key: str, branch: str) -> str | None:
    try:
        return branch_tip(store.open(key), branch)
    except MissingRepository:
        return None


def _has_twin(db: Connection, found: Found, branch: str) -> bool:
    """Whether there is an open one already between its source and a branch."""
    merge_request = found.merge_request
    source = merge_request.source_project_id
    if source is None:
        return False
    twin = open_twin(db, source, merge_request.source_branch, merge_request.target_project_id, branch)
    return twin is not None and twin.id != merge_request.id


add_timing(MERGE_REQUESTS, service.CLOCK, merge_request_by_id)
