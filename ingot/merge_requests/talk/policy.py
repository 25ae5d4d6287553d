"""Who may say what about a merge request."""

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.merge_requests import policy
from ingot.merge_requests.policy import Found
from ingot.projects.policy import may_change_project, may_own_project
from ingot.subjects import Reached, Subject


def reach(actor: Actor, here: Access, found: Found, subject: Subject) -> Reached:
    """What a caller who found a merge request may do there; where it is locked, only members write."""
    works_on_it = here.level >= Level.REPORTER or actor.admin
    belongs = here.level >= Level.GUEST or actor.admin
    return Reached(
        subject,
        takes_part=policy.may_take_part(actor, here, found) and (belongs or not found.merge_request.discussion_locked),
        moderates=here.level >= Level.MASTER or actor.admin,
        sets_times=may_own_project(actor, here, found.project),
        sees_internal=works_on_it,
        writes_internal=works_on_it,
    )


def may_resolve(actor: Actor, here: Access, reached: Reached) -> bool:
    """Developers, and who wrote the merge request, where they may take part."""
    theirs = reached.subject.author_id == actor.user_id
    return actor.known and reached.takes_part and (here.level >= Level.DEVELOPER or actor.admin or theirs)


def may_reset_approvals(actor: Actor, here: Access, found: Found) -> bool:
    """Masters, unless the project is archived."""
    return may_change_project(actor, here, found.project)
