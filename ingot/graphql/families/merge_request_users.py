"""Users of merge requests: author, assignees, reviewers and participants, with their approvals and permissions."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from sqlalchemy import select

from ingot.accounts.users.queries import users_by_ids
from ingot.accounts.users.tables import User
from ingot.accounts.users.views import UserReference
from ingot.collaboration.merge_requests import review_states as reviews
from ingot.collaboration.merge_requests.approvals import approvers_by_merge_request
from ingot.collaboration.merge_requests.policy import (
    MergeCandidate,
    MergeRequestLookup,
    may_edit_merge_request,
    may_merge,
)
from ingot.collaboration.merge_requests.queries import assignees_of
from ingot.collaboration.merge_requests.tables import MERGE_REQUEST_COLUMNS, MergeRequest, merge_requests
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.graphql.connections import ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.resolvers import Arguments, Resolvers
from ingot.projects.projects.queries import projects_by_ids
from ingot.projects.sharing.queries import users_with_access
from ingot.repositories.protection.queries import branch_rules_of_projects

resolvers = Resolvers()
_BY_IDS = select(*MERGE_REQUEST_COLUMNS).where(in_list(merge_requests.c.id, "ids"))
_KINDS = ("MergeRequestAuthor", "MergeRequestAssignee", "MergeRequestReviewer", "MergeRequestParticipant")


class InvolvedUser(UserReference):
    """User with the merge request that the user belongs to."""

    merge_request: Any
    bot: bool

    @property
    def key(self) -> tuple[int, int]:
        """Ids of the merge request and of the user."""
        return self.merge_request.id, self.id


class Rights(msgspec.Struct):
    """Permissions of a user on a merge request."""

    merge: bool
    update: bool


def _involved(subject: Any, user: Any) -> InvolvedUser:
    brief = {name: getattr(user, name) for name in UserReference.__struct_fields__}
    return InvolvedUser(**brief, merge_request=subject, bot=getattr(user, "bot", None) is True)


def _page(subject: Any, users: Sequence[Any], arguments: Arguments) -> ConnectionPage:
    return connection_of([_involved(subject, user) for user in users], arguments)


@resolvers.value("MergeRequest.author")
def find_author(_: QueryContext, subject: Any) -> InvolvedUser | None:
    """Return the author of a merge request."""
    return _involved(subject, subject.author) if subject.author else None


@resolvers.batch("MergeRequest.assignees")
def list_assignees(_: QueryContext, subjects: Sequence[Any], arguments: Arguments) -> list[ConnectionPage]:
    """Return the assignees of merge requests."""
    return [_page(subject, subject.assignees, arguments) for subject in subjects]


@resolvers.batch("MergeRequest.reviewers")
def list_reviewers(_: QueryContext, subjects: Sequence[Any], arguments: Arguments) -> list[ConnectionPage]:
    """Return the reviewers of merge requests."""
    return [_page(subject, subject.reviewers, arguments) for subject in subjects]


@resolvers.single("MergeRequest.participants")
def list_participants(context: QueryContext, subject: Any, arguments: Arguments) -> ConnectionPage:
    """Return the participants of a merge request."""
    route = "GET /projects/:id/merge_requests/:merge_request_iid/participants"
    page = listed(context, route, arguments, id=subject.project_id, merge_request_iid=subject.iid)
    page.nodes = [_involved(subject, user) for user in page.nodes]
    return page


@resolvers.value(*(f"{kind}.mergeRequestInteraction" for kind in _KINDS))
def find_interaction(_: QueryContext, user: InvolvedUser) -> InvolvedUser:
    """Return the user as the parent of the fields about the merge request."""
    return user


def _approvals(context: QueryContext, users: Sequence[InvolvedUser]) -> list[bool]:
    """Return for each user whether the merge request is approved by that user."""

    def fetch(missing: Collection[int]) -> dict[int, set[int]]:
        approvers: defaultdict[int, set[int]] = defaultdict(set)
        for merge_request_id, user_id in context.read(lambda db: approvers_by_merge_request(db, missing)):
            approvers[merge_request_id].add(user_id)
        return approvers

    found = context.load("approvers", {user.merge_request.id for user in users}, fetch)
    return [user.id in (found[user.merge_request.id] or ()) for user in users]


@resolvers.batch("UserMergeRequestInteraction.approved")
def has_approved(context: QueryContext, users: Sequence[InvolvedUser], _: Arguments) -> list[bool]:
    """Return whether users have approved the merge request."""
    return _approvals(context, users)


def _review_states(context: QueryContext, users: Sequence[InvolvedUser]) -> list[str | None]:
    """Return for each user the result of the review besides an approval."""

    def fetch(missing: Collection[int]) -> dict[int, dict[int, str]]:
        states: defaultdict[int, dict[int, str]] = defaultdict(dict)
        for (merge_request_id, user_id), state in context.read(lambda db: reviews.review_states(db, missing)).items():
            states[merge_request_id][user_id] = state
        return states

    found = context.load("review states", {user.merge_request.id for user in users}, fetch)
    return [(found[user.merge_request.id] or {}).get(user.id) for user in users]


def _is_reviewer(user: InvolvedUser) -> bool:
    return any(reviewer.id == user.id for reviewer in user.merge_request.reviewers)


@resolvers.batch("UserMergeRequestInteraction.reviewState")
def review_states(context: QueryContext, users: Sequence[InvolvedUser], _: Arguments) -> list[str | None]:
    """Return the states that REST returns with reviewers; null for users who are no reviewers."""
    approved, states = _approvals(context, users), _review_states(context, users)
    return [
        ("APPROVED" if has_approved else (state or "unreviewed").upper()) if _is_reviewer(user) else None
        for user, has_approved, state in zip(users, approved, states, strict=True)
    ]


@resolvers.batch("UserMergeRequestInteraction.reviewed")
def have_reviewed(context: QueryContext, users: Sequence[InvolvedUser], _: Arguments) -> list[bool]:
    """Return whether users are reviewers who have finished their review."""
    approved, states = _approvals(context, users), _review_states(context, users)
    return [
        (has_approved or state is not None) and _is_reviewer(user)
        for user, has_approved, state in zip(users, approved, states, strict=True)
    ]


@resolvers.batch("UserMergeRequestInteraction.canMerge")
def can_merge(context: QueryContext, users: Sequence[InvolvedUser], _: Arguments) -> list[bool]:
    """Return whether users may merge."""
    return [rights.merge for rights in _load_rights(context, users)]


@resolvers.batch("UserMergeRequestInteraction.canUpdate")
def can_update(context: QueryContext, users: Sequence[InvolvedUser], _: Arguments) -> list[bool]:
    """Return whether users may edit the merge request."""
    return [rights.update for rights in _load_rights(context, users)]


def _load_rights(context: QueryContext, users: Sequence[InvolvedUser]) -> list[Rights]:
    def fetch(missing: Collection[tuple[int, int]]) -> dict[tuple[int, int], Rights]:
        return context.read(lambda db: _rights(db, missing))

    found = context.load("rights on merge requests", [user.key for user in users], fetch)
    return [found[user.key] or Rights(merge=False, update=False) for user in users]


def _rights(db: Connection, pairs: Collection[tuple[int, int]]) -> dict[tuple[int, int], Rights]:
    """Return the rights of users by merge request and user; the statements depend on the number of projects only."""
    numbers = sorted({merge_request_id for merge_request_id, _ in pairs})
    subjects = {subject.id: subject for subject in db.all(MergeRequest, _BY_IDS, ids=numbers)}
    assignees = assignees_of(db, numbers)
    project_ids = sorted({subject.target_project_id for subject in subjects.values()})
    projects, rules = projects_by_ids(db, project_ids), branch_rules_of_projects(db, project_ids)
    users = users_by_ids(db, {user_id for _, user_id in pairs})
    involved: defaultdict[int, set[int]] = defaultdict(set)
    for merge_request_id, user_id in pairs:
        involved[subjects[merge_request_id].target_project_id].add(user_id)
    levels = {number: users_with_access(db, projects[number], user_ids) for number, user_ids in involved.items()}
    rights = {}
    for merge_request_id, user_id in pairs:
        subject = subjects[merge_request_id]
        project_id = subject.target_project_id
        level = levels[project_id].get(user_id)
        if level is not None:
            access, assigned = Access(level=level), tuple(assignees.get(merge_request_id, ()))
            lookup = MergeRequestLookup(access, projects[project_id], subject, assigned)
            rights[merge_request_id, user_id] = _rights_of(users[user_id], level, lookup, rules.get(project_id, []))
    return rights


def _rights_of(user: User, level: Level, lookup: MergeRequestLookup, rules: Sequence[Any]) -> Rights:
    actor = Actor(user.id, user.username, user.name, admin=user.admin, external=user.external)
    access = Access(level=level)
    return Rights(
        merge=may_merge(actor, access, MergeCandidate(lookup, rules)),
        update=may_edit_merge_request(actor, access, lookup),
    )
