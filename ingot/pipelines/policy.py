"""Permission to read the pipelines of a project."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.feature_access import feature_level, may_use_feature
from ingot.projects.projects.policy import may_download_code
from ingot.projects.projects.tables import Project


def may_read_project_pipelines(actor: Actor, access: Access, project: Project) -> bool:
    """Users who may read the code, and guests if jobs are public; members only if pipelines are private.

    Disabled pipelines stay readable, because other CI servers post statuses, which create pipelines.
    """
    if feature_level(project, "builds") == "private" and not may_use_feature(actor, access, project, "builds"):
        return False
    shown = project.public_jobs and access.level >= Level.GUEST and project.repository_access_level != "disabled"
    return shown or may_download_code(actor, access, project)
