"""Commits per week of the last year, as a small SVG bar chart."""

from collections import Counter
from datetime import timedelta
from typing import NamedTuple

from markupsafe import Markup

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.db.times import Timestamp, to_datetime
from ingot.git.core.command import run_git
from ingot.git.core.repository import Repository
from ingot.web.formats import count

WEEKS = 52
_WEEK_SECONDS = 7 * 86_400
_MAX_COMMITS = 20_000
_HEIGHT = 100
_week_cache: BoundedCache[tuple[str, str, str], "CommitWeeks"] = declare_cache("commit-activity", share=1)


class CommitWeeks(NamedTuple):
    """SVG bars of the last weeks, oldest first, and the total number of commits."""

    bars: Markup
    total: int
    counts: list[tuple[str, int]]
    """First day and number of commits of each week."""


def commits_by_week(repository: Repository, commit: str, now: Timestamp) -> CommitWeeks:
    """Return the commits per week up to today; cached for the day, since the history of a commit cannot change."""
    key = str(repository.path), commit, now[:10]
    weeks = _week_cache.get(key)
    if weeks is None:
        weeks = _read_weeks(repository, commit, now)
        _week_cache.put(key, weeks, len(weeks.bars) + 150 * WEEKS)
    return weeks


def _read_weeks(repository: Repository, commit: str, now: Timestamp) -> CommitWeeks:
    end = to_datetime(now)
    start = end - timedelta(weeks=WEEKS)
    args = ["log", f"--max-count={_MAX_COMMITS}", f"--since={int(start.timestamp())}", "--format=%ct", commit, "--"]
    times = run_git(args, repository.path).out.split()
    counts = Counter(int((int(time) - start.timestamp()) // _WEEK_SECONDS) for time in times)
    weeks = [((start + timedelta(weeks=week)).date().isoformat(), counts[week]) for week in range(WEEKS)]
    most = max([1, *(commits for _, commits in weeks)])
    bars = "".join(_bar(place, commits, most, day) for place, (day, commits) in enumerate(weeks))
    total = sum(commits for _, commits in weeks)
    return CommitWeeks(Markup(bars), total, weeks)  # noqa: S704 - Built from numbers only.


def _bar(week: int, commits: int, limit: int, day: str) -> str:
    height = max(6, round(_HEIGHT * commits / limit)) if commits else 2
    title = f"<title>{count(commits, 'commit')} in the week of {day}</title>"
    kind = "" if commits else ' class="none"'
    return f'<rect{kind} x="{week * 10}" y="{_HEIGHT - height}" width="8" height="{height}">{title}</rect>'
