"""Response views of uploads."""

from ingot.core.api.views import View
from ingot.projects.projects.tables import Project
from ingot.projects.uploads.names import file_stem, is_image
from ingot.projects.uploads.tables import StoredUpload


class UploadView(View):
    """Upload, with the Markdown that references it."""

    id: int
    alt: str
    url: str
    """Relative to the project."""
    full_path: str
    """Relative to the server."""
    markdown: str


def upload_view(project: Project, upload: StoredUpload) -> UploadView:
    """Return the view of an upload."""
    image = is_image(upload.name)
    alt = file_stem(upload.name) if image else upload.name
    url = f"/uploads/{upload.secret}/{upload.name}"
    return UploadView(upload.id, alt, url, f"/{project.full_path}{url}", f"{'!' if image else ''}[{alt}]({url})")
