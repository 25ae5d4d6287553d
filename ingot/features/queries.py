"""How feature flags are found and listed."""

from sqlalchemy import bindparam, select

from ingot.db.connection import Connection
from ingot.db.paging import Listing, Page, fetch_page, list_query
from ingot.features.tables import FeatureFlag, feature_flags

_ALL = list_query(select(feature_flags), feature_flags.c.id, feature_flags.c.name.asc())
_BY_NAME = select(feature_flags).where(feature_flags.c.name == bindparam("feature"))
# Two changes at once must not lose one another's, so the second waits; SQLite has one writer anyway.
_HELD_BY_NAME = _BY_NAME.with_for_update()


def list_features(db: Connection, page: Page) -> Listing[FeatureFlag]:
    """A page of the flags that were ever set, by name."""
    return fetch_page(db, FeatureFlag, _ALL, page)


def feature_or_none(db: Connection, name: str) -> FeatureFlag | None:
    """The flag with this name, held until the transaction ends."""
    return db.first(FeatureFlag, _HELD_BY_NAME, feature=name)
