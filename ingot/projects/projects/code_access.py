"""Access to the repository of a project."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.git.core.layout import MERGE_REQUEST_REFS
from ingot.git.core.repository import Repository
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.feature_access import may_use_feature
from ingot.projects.projects.tables import Project


def project_repository(store: RepositoryStore, project: Project) -> Repository:
    """Return the repository of a project, without merge request refs if merge requests are disabled."""
    repository = store.open(project.repository_key)
    return repository if project.merge_requests_enabled else repository.without(MERGE_REQUEST_REFS)


def readable_repository(store: RepositoryStore, actor: Actor, access: Access, project: Project) -> Repository:
    """Return the repository of a project, without merge request refs unless the user may read merge requests."""
    repository = project_repository(store, project)
    if may_use_feature(actor, access, project, "merge_requests"):
        return repository
    return repository.without(MERGE_REQUEST_REFS)
