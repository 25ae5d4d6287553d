"""Layout of the analytics of a project: links between its charts, and the periods that they show."""

from datetime import date, timedelta
from typing import Any, NamedTuple

from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.core.db.times import Date
from ingot.repositories.commit_statuses import api as statuses_api
from ingot.repositories.trees import api as trees_api
from ingot.web.page_routes import TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext

_SECTIONS = (
    ("value_stream_analytics", "Value stream analytics", merge_requests_api.list_project_merge_requests),
    ("graphs", "Contributor analytics", trees_api.list_tree),
    ("pipelines/charts", "CI/CD analytics", statuses_api.list_pipelines),
    ("graphs/charts", "Repository analytics", trees_api.list_tree),
)
_RANGES = {"12w": "12 weeks", "26w": "26 weeks", "12m": "12 months", "24m": "24 months"}


class Periods(NamedTuple):
    """Weeks or months of a chart, oldest first, of which the last one contains today."""

    chosen: str
    """Key of the range."""
    starts: list[Date]
    """First day of each; weeks begin on Monday."""

    @property
    def ranges(self) -> dict[str, str]:
        """Return the labels of the ranges that can be chosen."""
        return _RANGES

    @property
    def monthly(self) -> bool:
        """Return whether the periods are months."""
        return self.chosen.endswith("m")

    def index_of(self, day: str) -> int | None:
        """Return the place of the period that contains a day or time; None if it is before the first."""
        first = [place for place, start in enumerate(self.starts) if start <= day]
        return first[-1] if first else None


def chosen_periods(visit: Visit, today: Date) -> Periods:
    """Return the periods of the ``range`` in the URL; 12 weeks without a valid one."""
    chosen = visit.request.query.get("range")
    if not isinstance(chosen, str) or chosen not in _RANGES:
        chosen = next(iter(_RANGES))
    number, day = int(chosen[:-1]), date.fromisoformat(today)
    if chosen.endswith("w"):
        monday = day - timedelta(days=day.weekday())
        starts = [monday - timedelta(weeks=back) for back in reversed(range(number))]
    else:
        months = [12 * day.year + day.month - 1 - back for back in reversed(range(number))]
        starts = [date(month // 12, month % 12 + 1, 1) for month in months]
    return Periods(chosen, [Date(start.isoformat()) for start in starts])


def analytics_page(parent: ProjectContext, template: str, section: str, context: dict[str, Any]) -> TemplateResponse:
    """Render a page with links to the other charts that the user has permission to see."""
    sections = [
        (f"{parent.url}/-/{key}", name, key == section)
        for key, name, endpoint in _SECTIONS
        if parent.may(endpoint) and (endpoint is not statuses_api.list_pipelines or parent.project.jobs_enabled)
    ]
    return parent.page(template, "analytics", {**context, "sections": sections})
