"""What is stored of feature flags."""

import msgspec
from sqlalchemy import Table

from ingot.core.db.schema import Record, metadata, row_id, text

feature_flags = Table(
    "feature_flags",
    metadata,
    row_id(),
    text("name", unique=True),
    text("gates"),
    sqlite_autoincrement=True,
)


class FeatureFlag(Record, frozen=True):
    """A flag; ``gates`` holds as JSON for whom it is open."""

    id: int
    name: str
    gates: str


class Gates(msgspec.Struct, frozen=True, omit_defaults=True):
    """For whom a flag is open: everybody, some groups, some actors, or a share of the time."""

    boolean: bool = False
    groups: tuple[str, ...] = ()
    actors: tuple[str, ...] = ()
    percentage_of_time: int = 0
