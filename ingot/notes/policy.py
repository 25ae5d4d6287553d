"""Who may write notes; what somebody wrote is read by those who may see what it is about."""

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.projects.policy import may_download_code
from ingot.repository.place import Place


def may_comment_on_code(actor: Actor, here: Access, place: Place) -> bool:
    """Users who may read the code, unless the project is archived."""
    return actor.known and may_download_code(actor, here, place.project) and not place.project.archived
