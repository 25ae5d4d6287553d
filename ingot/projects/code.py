"""The code of a project, as those see it who may read it."""

from ingot.git.layout import MERGE_REQUEST_REFS
from ingot.git.repository import Repository
from ingot.git.store import Store
from ingot.projects.tables import Project


def code_of_project(store: Store, project: Project) -> Repository:
    """Its repository, without what only merge requests brought where nobody may see these."""
    repository = store.open(project.repository_key)
    return repository if project.merge_requests_enabled else repository.without(MERGE_REQUEST_REFS)
