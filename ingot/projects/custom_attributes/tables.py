"""What is stored of custom attributes; the table itself lies lower, where lists are filtered by it."""

from ingot.core.db.schema import Record
from ingot.projects.namespaces.tables import custom_attributes as custom_attributes  # For the modules of this room.


class ResourceCustomAttribute(Record, frozen=True):
    """A value under a key."""

    id: int
    project_id: int | None
    group_id: int | None
    key: str
    value: str
