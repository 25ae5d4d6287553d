"""Who may say what about an issue."""

from ingot.collaboration.issues import policy
from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.subjects import Subject, SubjectAccess
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level


def issue_subject_access(actor: Actor, access: Access, lookup: IssueLookup, subject: Subject) -> SubjectAccess:
    """What a caller who found an issue may do there; where it is locked, only members write."""
    works_on_it = access.level >= Level.REPORTER or actor.admin
    involved = actor.known and (lookup.issue.author_id == actor.user_id or actor.user_id in lookup.assignees)
    belongs = access.level >= Level.GUEST or actor.admin
    return SubjectAccess(
        subject,
        may_participate=policy.may_take_part(actor, access, lookup) and (belongs or not lookup.issue.discussion_locked),
        may_moderate=access.level >= Level.MASTER or actor.admin,
        may_set_times=policy.may_set_times(actor, access, lookup.project),
        may_see_internal=works_on_it or involved,
        may_write_internal=works_on_it,
    )
