"""Value stream of a project: median times to the first review and to the merge, by week or month."""

from collections import defaultdict
from statistics import median
from typing import NamedTuple

from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.collaboration.merge_requests.value_stream import MAX_MERGE_REQUESTS, MergedTimes, merged_times
from ingot.core.db.connection import Connection
from ingot.core.db.times import Date, Timestamp, to_datetime
from ingot.core.errors import NotFound
from ingot.web.analytics.bars import scaled_bars
from ingot.web.analytics.sections import Periods, analytics_page, chosen_periods
from ingot.web.page_routes import PageResponse, PageRoutes, Visit
from ingot.web.projects.context import project_context

pages = PageRoutes()


class PeriodTimes(NamedTuple):
    """Median times in seconds of the merge requests that were merged in a period; None without any."""

    start: Date
    merged: int
    review: float | None
    merge: float | None


@pages.get("/:path/-/value_stream_analytics", open=True)
def show_value_stream(visit: Visit, db: Connection) -> PageResponse:
    """Show how long merge requests waited for their first review and for the merge."""
    parent = project_context(visit)
    if not parent.may(merge_requests_api.list_project_merge_requests):
        raise NotFound("Project")
    periods = chosen_periods(visit, db.today)
    times = merged_times(db, parent.project.id, periods.starts[0])
    rows = _by_period(periods, times)
    context = {
        "periods": periods,
        "rows": rows,
        "total": _median_times(periods.starts[0], times),
        "reviewed": sum(each.first_review_at is not None for each in times),
        "review_bars": scaled_bars((row.start, row.review) for row in rows),
        "merge_bars": scaled_bars((row.start, row.merge) for row in rows),
        "limit": MAX_MERGE_REQUESTS,
    }
    return analytics_page(parent, "analytics/value_stream.html", "value_stream_analytics", context)


def _by_period(periods: Periods, times: list[MergedTimes]) -> list[PeriodTimes]:
    grouped: defaultdict[int | None, list[MergedTimes]] = defaultdict(list)
    for each in times:
        grouped[periods.index_of(each.merged_at)].append(each)
    return [_median_times(start, grouped[place]) for place, start in enumerate(periods.starts)]


def _median_times(start: Date, times: list[MergedTimes]) -> PeriodTimes:
    reviews = [_seconds(each.created_at, each.first_review_at) for each in times if each.first_review_at is not None]
    merges = [_seconds(each.created_at, each.merged_at) for each in times]
    return PeriodTimes(start, len(times), median(reviews) if reviews else None, median(merges) if merges else None)


def _seconds(start: Timestamp, end: Timestamp) -> float:
    return max(0.0, (to_datetime(end) - to_datetime(start)).total_seconds())
