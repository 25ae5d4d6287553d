"""What is stored of custom attributes; the table itself lies lower, where lists are filtered by it."""

from ingot.db.schema import Record
from ingot.groups.namespaces.tables import custom_attributes as custom_attributes  # For the modules of this room.


class CustomAttribute(Record, frozen=True):
    """A value under a key."""

    id: int
    project_id: int | None
    group_id: int | None
    key: str
    value: str
