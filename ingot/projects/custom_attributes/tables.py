"""Record of custom attributes; the table is in ``namespaces``, because lists of groups are filtered by it."""

from ingot.core.db.schema import Record
from ingot.projects.namespaces.tables import custom_attributes as custom_attributes  # Re-exported for this package.


class ResourceCustomAttribute(Record, frozen=True):
    """Custom attribute of a project or group."""

    id: int
    project_id: int | None
    group_id: int | None
    key: str
    value: str
