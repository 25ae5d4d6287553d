"""Table of feature flags."""

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
    """A feature flag; ``gates`` is JSON of Gates."""

    id: int
    name: str
    gates: str


class Gates(msgspec.Struct, frozen=True, omit_defaults=True):
    """Conditions under which a flag is enabled: for everyone, for groups, for actors, or for a percentage of time."""

    boolean: bool = False
    groups: tuple[str, ...] = ()
    actors: tuple[str, ...] = ()
    percentage_of_time: int = 0
