"""Queries of feature flags."""

from sqlalchemy import bindparam, select

from ingot.accounts.features.tables import FeatureFlag, feature_flags
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page, fetch_page, list_query

_ALL = list_query(select(feature_flags), feature_flags.c.id, feature_flags.c.name.asc())
_BY_NAME = select(feature_flags).where(feature_flags.c.name == bindparam("feature"))
# Locks the row, so that concurrent changes do not overwrite each other; SQLite has a single writer anyway.
_BY_NAME_FOR_UPDATE = _BY_NAME.with_for_update()


def list_features(db: Connection, page: Page) -> Listing[FeatureFlag]:
    """List the flags that have been set, by name."""
    return fetch_page(db, FeatureFlag, _ALL, page)


def lock_feature_or_none(db: Connection, name: str) -> FeatureFlag | None:
    """Return the flag with this name, locked until the transaction ends."""
    return db.first(FeatureFlag, _BY_NAME_FOR_UPDATE, feature=name)
