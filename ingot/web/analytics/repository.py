"""Analytics of a repository: the languages of its default branch, now and over time."""

from typing import NamedTuple

from ingot.core.db.times import Date, day_of
from ingot.projects.projects.language_days import LanguageDay, list_language_days
from ingot.web.analytics.bars import HEIGHT
from ingot.web.analytics.sections import Periods, analytics_page, chosen_periods
from ingot.web.code.languages import repository_languages
from ingot.web.code.location import CodeLocation
from ingot.web.page_routes import PageResponse

_SHOWN = 6
"""Languages with a color of their own; a chart shows the largest of today, or else of the last recorded day."""


class Segment(NamedTuple):
    """Part of the bar of a period that belongs to a language."""

    name: str
    share: float
    y: float
    colour: int


class LanguagePeriod(NamedTuple):
    """Languages at the end of a period, or of the newest push before it."""

    start: Date
    segments: list[Segment]

    def share_of(self, name: str) -> float:
        """Return the percent of a language; zero without it."""
        return next((segment.share for segment in self.segments if segment.name == name), 0.0)


def show_languages(location: CodeLocation) -> PageResponse:
    """Show the languages of the default branch by week or month, from the days that were recorded after pushes."""
    parent, database = location.parent, location.parent.visit.database
    today = day_of(database.clock())
    periods = chosen_periods(parent.visit, today)
    days = database.read(lambda db: list_language_days(db, parent.project.id))
    tip = location.repository.tip(f"refs/heads/{parent.project.default_branch}")
    now = repository_languages(location.repository, tip) if tip is not None else []
    if now:  # Recorded a minute after a push, so today's row may not be written yet.
        days = [
            *(each for each in days if each.day < today),
            LanguageDay(today, {each.name: each.share for each in now}),
        ]
    names = list(days[-1].shares)[:_SHOWN] if days else []
    rows = [_period(start, shares, names) for start, shares in _ends(periods, days)]
    context = {"location": location, "periods": periods, "names": names, "rows": rows, "languages": now}
    return analytics_page(parent, "analytics/repository.html", "graphs/charts", context)


def _ends(periods: Periods, days: list[LanguageDay]) -> list[tuple[Date, dict[str, float]]]:
    """Return the newest shares at the end of each period; a period without a push has those of the one before."""
    ends, place, shares = [], 0, dict[str, float]()
    for start, following in zip(periods.starts, [*periods.starts[1:], Date("9999-12-31")], strict=True):
        while place < len(days) and days[place].day < following:
            shares, place = days[place].shares, place + 1
        ends.append((start, shares))
    return ends


def _period(start: Date, shares: dict[str, float], names: list[str]) -> LanguagePeriod:
    segments, top = [], float(HEIGHT)
    for colour, name in enumerate(names):
        share = shares.get(name, 0.0)
        if share:
            top -= share
            segments.append(Segment(name, share, round(top, 2), colour))
    return LanguagePeriod(start, segments)
