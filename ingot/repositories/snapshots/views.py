"""Response structs of the location of repositories."""

from ingot.core.api.views import View
from ingot.core.db.times import Timestamp


class ProjectStorageView(View):
    """Location of a project's repository; there is one storage."""

    project_id: int
    disk_path: str
    created_at: Timestamp
    repository_storage: str
