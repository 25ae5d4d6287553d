"""Who may see pipelines; statuses are for those who may read the code, and are posted by those who may push it."""

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.projects.policy import may_download_code
from ingot.repository.place import Place


def may_read_pipelines(actor: Actor, here: Access, place: Place) -> bool:
    """Those who may read the code, and guests where the project shows its jobs."""
    shown = place.project.public_jobs and here.level >= Level.GUEST
    return shown or may_download_code(actor, here, place.project)
