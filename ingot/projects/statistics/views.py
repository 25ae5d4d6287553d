"""Response structs of the fetches of projects."""

from ingot.core.api.views import View
from ingot.core.db.times import Date


class DailyFetchesView(View):
    """Fetches of one day."""

    count: int
    date: Date


class FetchTotalsView(View):
    """Fetches of the last 30 days."""

    total: int
    days: list[DailyFetchesView]


class ProjectStatisticsView(View):
    """Statistics of a project."""

    fetches: FetchTotalsView
