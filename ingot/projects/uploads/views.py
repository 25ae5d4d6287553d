"""What callers see of uploads."""

from ingot.api.views import View
from ingot.projects.tables import Project
from ingot.projects.uploads.names import is_picture, stem_of
from ingot.projects.uploads.tables import StoredUpload


class UploadView(View):
    """An upload, ready to be mentioned in a text."""

    id: int
    alt: str
    url: str
    """Relative to the project."""
    full_path: str
    """Relative to the server."""
    markdown: str


def upload_view(project: Project, upload: StoredUpload) -> UploadView:
    """One upload."""
    picture = is_picture(upload.name)
    alt = stem_of(upload.name) if picture else upload.name
    url = f"/uploads/{upload.secret}/{upload.name}"
    return UploadView(upload.id, alt, url, f"/{project.full_path}{url}", f"{'!' if picture else ''}[{alt}]({url})")
