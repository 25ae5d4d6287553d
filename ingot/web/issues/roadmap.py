"""Roadmap: the milestones of a project or group on a time axis, with their progress."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from ingot.collaboration.issues.milestone_issues.views import MilestoneProgress
from ingot.collaboration.milestones import api as milestones_api
from ingot.collaboration.milestones.views import MilestoneView
from ingot.core.db.times import Date, day_of
from ingot.web.issues.group_context import ProjectOrGroupContext
from ingot.web.issues.milestones import ancestors_param, progress_of
from ingot.web.issues.planning_parent import SharedPages, planning_page
from ingot.web.page_routes import PageResponse
from ingot.web.projects.context import ProjectContext

shared_pages = SharedPages()
pages = shared_pages.pages
_MILESTONES = 100
_MAX_TICKS = 12
_MIN_WIDTH = 0.6
"""Percent of the width, so that a milestone with one date is visible."""


class RoadmapBar(NamedTuple):
    """A milestone with the place of its bar and of the closed part, in percent of the width."""

    milestone: MilestoneView
    progress: MilestoneProgress
    x: float
    width: float
    done: float


class TimeAxis(NamedTuple):
    """Months of a roadmap, with the place of today if it is among them."""

    ticks: list[tuple[str, float]]
    today: float | None


@shared_pages.get("/roadmap", open=True)
def show_roadmap(parent: ProjectOrGroupContext) -> PageResponse:
    """Show the milestones with dates as bars, and list those without."""
    closed = parent.visit.request.query.get("state") == "all"
    of_project = isinstance(parent, ProjectContext)
    params = {"per_page": _MILESTONES, "state": "all" if closed else "active", ancestors_param(parent): "true"}
    endpoint = parent.either(milestones_api.list_project_milestones, milestones_api.list_group_milestones)
    listing = parent.ask(endpoint, params if of_project else {**params, "include_descendants": "true"})
    dated = sorted(
        (one for one in listing.items if one.start_date or one.due_date),
        key=lambda one: (one.start_date or one.due_date or "", one.due_date or ""),
    )
    progress = progress_of(parent, [one.id for one in listing.items])
    today = day_of(parent.visit.database.clock())
    start, end = _range(dated, today)
    context: dict[str, object] = {
        "bars": [_bar(one, progress.get(one.id, MilestoneProgress()), start, end) for one in dated],
        "axis": _axis(start, end, today),
        "undated": [one for one in listing.items if not (one.start_date or one.due_date)],
        "state": "all" if closed else "active",
        "limit": _MILESTONES if listing.total is None or listing.total > _MILESTONES else None,
    }
    return planning_page(parent, "issues/roadmap.html", "milestones", context)


def _range(dated: Sequence[MilestoneView], today: Date) -> tuple[date, date]:
    """Return whole months that contain all dates."""
    days = [day for one in dated for day in (one.start_date, one.due_date) if day] or [today]
    start, last = date.fromisoformat(min(days)).replace(day=1), date.fromisoformat(max(days)).replace(day=1)
    return start, (last + timedelta(days=32)).replace(day=1)


def _bar(one: MilestoneView, progress: MilestoneProgress, start: date, end: date) -> RoadmapBar:
    first = one.start_date or one.due_date or start.isoformat()
    last = max(one.due_date or first, first)
    x = _place(first, start, end)
    width = max(_MIN_WIDTH, _place(last, start, end) + 100 / (end - start).days - x)
    x = min(x, 100 - _MIN_WIDTH)
    return RoadmapBar(one, progress, round(x, 2), round(width, 2), round(width * progress.share / 100, 2))


def _place(day: str, start: date, end: date) -> float:
    return 100 * (date.fromisoformat(day) - start).days / (end - start).days


def _axis(start: date, end: date, today: Date) -> TimeAxis:
    months = (end.year - start.year) * 12 + end.month - start.month
    step = -(-months // _MAX_TICKS)
    ticks = []
    for number in range(0, months, step):
        year, month = divmod(12 * start.year + start.month - 1 + number, 12)
        day = date(year, month + 1, 1)
        ticks.append((f"{day:%Y-%m}", round(_place(day.isoformat(), start, end), 2)))
    inside = start.isoformat() <= today < end.isoformat()
    return TimeAxis(ticks, round(_place(today, start, end), 2) if inside else None)
