"""Endpoint of the statistics of projects."""

from ingot.core.api.routes import Call, Routes
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.policy import may_see_statistics
from ingot.projects.projects.tables import Project
from ingot.projects.statistics.queries import list_fetches
from ingot.projects.statistics.views import DailyFetchesView, FetchTotalsView, ProjectStatisticsView

routes = Routes("statistics")


@routes.get("/projects/:id/statistics", on=project_in_path, may=may_see_statistics, returns=ProjectStatisticsView)
def get_project_statistics(call: Call, project: Project) -> ProjectStatisticsView:
    """Get the number of clones and fetches of a project over HTTP in the last 30 days."""
    days = [DailyFetchesView(fetches.count, fetches.day) for fetches in list_fetches(call.db, project)]
    return ProjectStatisticsView(FetchTotalsView(sum(day.count for day in days), days))
