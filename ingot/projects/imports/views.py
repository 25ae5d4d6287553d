"""Response structs of imports."""

from ingot.core.api.views import View
from ingot.core.db.times import Timestamp
from ingot.projects.projects.tables import Project


class ImportView(View):
    """Status of a project's import, without the URL."""

    id: int
    description: str | None
    name: str
    name_with_namespace: str
    path: str
    path_with_namespace: str
    created_at: Timestamp
    import_status: str
    import_type: str | None
    import_error: str | None
    import_progress: str | None
    """Latest progress line of git while the import runs."""


def import_view(project: Project, *, in_full: bool) -> ImportView:
    """Return the view of a project's import; only project administrators see the remote server's messages."""
    return ImportView(
        project.id,
        project.description,
        project.name,
        project.full_name,
        project.path,
        project.full_path,
        project.created_at,
        project.import_status,
        project.import_type or ("git" if project.import_url is not None else None),
        project.import_error if in_full else None,
        project.import_progress if in_full else None,
    )
