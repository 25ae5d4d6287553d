"""Who may say what about an issue."""

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.issues import policy
from ingot.issues.policy import Found
from ingot.subjects import Reached, Subject


def reach(actor: Actor, here: Access, found: Found, subject: Subject) -> Reached:
    """What a caller who found an issue may do there; where it is locked, only members write."""
    works_on_it = here.level >= Level.REPORTER or actor.admin
    involved = actor.known and (found.issue.author_id == actor.user_id or actor.user_id in found.assignees)
    belongs = here.level >= Level.GUEST or actor.admin
    return Reached(
        subject,
        takes_part=policy.may_take_part(actor, here, found) and (belongs or not found.issue.discussion_locked),
        moderates=here.level >= Level.MASTER or actor.admin,
        sets_times=policy.may_set_times(actor, here, found.project),
        sees_internal=works_on_it or involved,
        writes_internal=works_on_it,
    )
