"""Users that messages of merges name: the author, the user who merges, and those who approved and reviewed."""

from typing import NamedTuple

from sqlalchemy import bindparam, select

from ingot.accounts.users.commit_addresses import commit_address
from ingot.accounts.users.queries import find_user, users_by_ids
from ingot.collaboration.merge_requests.approvals import approvers_of
from ingot.collaboration.merge_requests.filters import KIND
from ingot.collaboration.merge_requests.merge.commit_messages import MessageContext, templates_use
from ingot.collaboration.merge_requests.merge.queries import open_issues_to_close
from ingot.collaboration.merge_requests.ports import MergeRequestAddresses
from ingot.collaboration.merge_requests.queries import assignees_and_reviewers
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.notes.tables import notes
from ingot.core.db.connection import Connection
from ingot.core.db.times import to_datetime
from ingot.git.core.repository import Repository
from ingot.git.history.commits import Signature
from ingot.projects.projects.tables import Project

_COMMENTERS = (
    select(notes.c.author_id)
    .where(notes.c.subject_kind == KIND, notes.c.subject_id == bindparam("merge_request"), notes.c.system.is_(False))
    .distinct()
)
_VARIABLES_OF_PEOPLE = ("merge_request_author", "merged_by", "co_authored_by", "approved_by", "reviewed_by")


class MessagePeople(NamedTuple):
    """Signatures of the users around a merge request."""

    author: Signature
    merged_by: Signature
    approved_by: tuple[Signature, ...] = ()
    reviewed_by: tuple[Signature, ...] = ()


def message_people(db: Connection, project: Project, merge_request: MergeRequest, merged_by_id: int) -> MessagePeople:
    """Return the users that the templates of a project may name."""
    author, merged_by = commit_signature(db, merge_request.author_id), commit_signature(db, merged_by_id)
    if not templates_use(project, "approved_by", "reviewed_by"):
        return MessagePeople(author, merged_by)
    approvers = approvers_of(db, merge_request.id)
    active = {*approvers, *(row[0] for row in db.rows(_COMMENTERS, merge_request=merge_request.id))}
    reviewers = [user_id for user_id in assignees_and_reviewers(db, merge_request.id)[1] if user_id in active]
    return MessagePeople(author, merged_by, _signatures(db, approvers), _signatures(db, reviewers))


def proposed_people(db: Connection, project: Project, merge_request: MergeRequest, merged_by_id: int) -> MessagePeople:
    """Return the users that a proposed message names, without a query if the templates name none."""
    if templates_use(project, *_VARIABLES_OF_PEOPLE):
        return message_people(db, project, merge_request, merged_by_id)
    nobody = Signature("", "", 0, 0)
    return MessagePeople(nobody, nobody)


def message_context(
    db: Connection,
    project: Project,
    merge_request: MergeRequest,
    people: MessagePeople,
    repository: Repository,
    tip: str | None,
) -> MessageContext:
    """Return the values for the messages of a merge into a commit."""
    return MessageContext(
        project,
        merge_request,
        open_issues_to_close(db, merge_request),
        merge_request_url(db, project, merge_request),
        people.author,
        people.merged_by,
        people.approved_by,
        people.reviewed_by,
        repository,
        tip,
    )


def merge_request_url(db: Connection, project: Project, merge_request: MergeRequest) -> str:
    """Return the address of the page of a merge request."""
    return f"{db.ports[MergeRequestAddresses].base_url}/{project.full_path}/-/merge_requests/{merge_request.iid}"


def commit_signature(db: Connection, user_id: int) -> Signature:
    """Return the signature of a user for commits created now."""
    user = find_user(db, user_id)
    return Signature(user.name or user.username, commit_address(db, user), int(to_datetime(db.now).timestamp()), 0)


def _signatures(db: Connection, user_ids: list[int]) -> tuple[Signature, ...]:
    users = users_by_ids(db, user_ids)
    now = int(to_datetime(db.now).timestamp())
    shown = [users[user_id] for user_id in user_ids if user_id in users]
    return tuple(Signature(user.name or user.username, commit_address(db, user), now, 0) for user in shown)
