"""The code of a project, as those see it who may read it."""

from ingot.git.core.layout import MERGE_REQUEST_REFS
from ingot.git.core.repository import Repository
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.tables import Project


def project_repository(store: RepositoryStore, project: Project) -> Repository:
    """Its repository, without what only merge requests brought where nobody may see these."""
    repository = store.open(project.repository_key)
    return repository if project.merge_requests_enabled else repository.without(MERGE_REQUEST_REFS)
