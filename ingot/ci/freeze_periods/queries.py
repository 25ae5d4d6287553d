"""Queries of freeze periods."""

from sqlalchemy import bindparam, func, select

from ingot.ci.freeze_periods.tables import FreezePeriod, freeze_periods
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import NotFound

_IN_PROJECT = select(freeze_periods).where(freeze_periods.c.project_id == bindparam("project"))
_BY_ID = _IN_PROJECT.where(freeze_periods.c.id == bindparam("period"))
_ORDERED = _IN_PROJECT.order_by(freeze_periods.c.id)
_COUNT = select(func.count()).select_from(freeze_periods).where(freeze_periods.c.project_id == bindparam("project"))
# Ids grow with the time of creation.
_PAGE = list_query(_IN_PROJECT, freeze_periods.c.id, freeze_periods.c.id.asc())


def list_freeze_periods(db: Connection, project_id: int, page: Page) -> Listing[FreezePeriod]:
    """List a page of the freeze periods of a project, oldest first."""
    return fetch_page(db, FreezePeriod, _PAGE, page, project=project_id)


def all_freeze_periods(db: Connection, project_id: int) -> list[FreezePeriod]:
    """Return all freeze periods of a project."""
    return db.all(FreezePeriod, _ORDERED, project=project_id)


def count_freeze_periods(db: Connection, project_id: int) -> int:
    """Return the number of freeze periods of a project."""
    return int(db.value(_COUNT, project=project_id))


def freeze_period_or_none(db: Connection, project_id: int, period_id: int) -> FreezePeriod | None:
    """Return a freeze period of a project."""
    return db.first(FreezePeriod, _BY_ID, project=project_id, period=period_id)


def find_freeze_period(db: Connection, project_id: int, period_id: int) -> FreezePeriod:
    """Return a freeze period of a project; raise NotFound otherwise."""
    period = freeze_period_or_none(db, project_id, period_id)
    if period is None:
        raise NotFound("Freeze Period")
    return period
