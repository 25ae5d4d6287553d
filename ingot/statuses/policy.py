"""Who may see pipelines; statuses are for those who may read the code, and are posted by those who may push it."""

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.projects.policy import may_download_code
from ingot.projects.tables import Project
from ingot.repository.place import Place


def may_read_pipelines(actor: Actor, here: Access, place: Place) -> bool:
    """Those who may read the code, and guests where the project shows its jobs."""
    return may_read_pipelines_of(actor, here, place.project)


def may_read_pipelines_of(actor: Actor, here: Access, project: Project) -> bool:
    """The same of a project that is not at hand as a place."""
    shown = project.public_jobs and here.level >= Level.GUEST and project.repository_access_level != "disabled"
    return shown or may_download_code(actor, here, project)
