"""Permissions on discussions of issues."""

from ingot.collaboration.issues import policy
from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.subjects import Subject, SubjectAccess
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level


def issue_subject_access(actor: Actor, access: Access, lookup: IssueLookup, subject: Subject) -> SubjectAccess:
    """Return the caller's permissions on an issue as a subject; only members may write in a locked discussion."""
    is_reporter = access.level >= Level.REPORTER or actor.admin
    involved = actor.known and (lookup.issue.author_id == actor.user_id or actor.user_id in lookup.assignees)
    is_member = access.level >= Level.GUEST or actor.admin
    return SubjectAccess(
        subject,
        may_participate=policy.may_take_part(actor, access, lookup)
        and (is_member or not lookup.issue.discussion_locked),
        may_moderate=access.level >= Level.MASTER or actor.admin,
        may_set_times=policy.may_set_times(actor, access, lookup.project),
        may_see_internal=is_reporter or involved,
        may_write_internal=is_reporter,
    )
