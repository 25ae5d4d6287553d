"""Permissions on discussions and approvals of merge requests."""

from ingot.collaboration.merge_requests import policy
from ingot.collaboration.merge_requests.policy import MergeRequestLookup
from ingot.collaboration.subjects import Subject, SubjectAccess
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.policy import may_change_project, may_own_project


def merge_request_subject_access(
    actor: Actor, access: Access, lookup: MergeRequestLookup, subject: Subject
) -> SubjectAccess:
    """Return the caller's permissions on a merge request; only members may write in a locked discussion."""
    is_reporter = access.level >= Level.REPORTER or actor.admin
    is_member = access.level >= Level.GUEST or actor.admin
    may_participate = policy.may_take_part(actor, access, lookup) and (
        is_member or not lookup.merge_request.discussion_locked
    )
    is_developer_or_author = access.level >= Level.DEVELOPER or actor.admin or subject.author_id == actor.user_id
    return SubjectAccess(
        subject,
        may_participate=may_participate,
        may_moderate=access.level >= Level.MASTER or actor.admin,
        may_set_times=may_own_project(actor, access, lookup.project),
        may_see_internal=is_reporter,
        may_write_internal=is_reporter,
        may_resolve=actor.known and may_participate and is_developer_or_author,
    )


def may_resolve(actor: Actor, access: Access, subject_access: SubjectAccess) -> bool:  # noqa: ARG001 - The signature of a rule on a subject.
    """Developers and the author of the merge request, if they may comment on it."""
    return subject_access.may_resolve


def may_reset_approvals(actor: Actor, access: Access, lookup: MergeRequestLookup) -> bool:
    """Maintainers, unless the project is archived."""
    return may_change_project(actor, access, lookup.project)
