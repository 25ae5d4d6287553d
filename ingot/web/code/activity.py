"""How much was committed in each week of the last year, as a small picture."""

from collections import Counter
from datetime import timedelta
from typing import NamedTuple

from ingot.db.times import Timestamp, moment
from ingot.git.command import run_git
from ingot.git.remembered import Remembered
from ingot.git.repository import Repository

WEEKS = 52
_WEEK_SECONDS = 7 * 86_400
_MOST_COMMITS = 20_000
_HEIGHT = 100
_kept: Remembered[tuple[str, str, str], "Weeks"] = Remembered(500, 2**20)


class Bar(NamedTuple):
    """One week: where its bar stands in the picture, and what it says."""

    x: int
    y: int
    height: int
    commits: int
    day: str


class Weeks(NamedTuple):
    """The last weeks, oldest first."""

    bars: list[Bar]
    total: int


def commits_by_week(repository: Repository, commit: str, now: Timestamp) -> Weeks:
    """The weeks up to today; kept for the day, since neither the commit nor its past can change."""
    key = str(repository.path), commit, now[:10]
    known = _kept.get(key)
    return known if known is not None else _kept.keep(key, _read(repository, commit, now), WEEKS * 200)


def _read(repository: Repository, commit: str, now: Timestamp) -> Weeks:
    end = moment(now)
    start = end - timedelta(weeks=WEEKS)
    args = ["log", f"--max-count={_MOST_COMMITS}", f"--since={int(start.timestamp())}", "--format=%ct", commit, "--"]
    times = run_git(args, repository.path).out.split()
    counts = Counter(int((int(time) - start.timestamp()) // _WEEK_SECONDS) for time in times)
    most = max([1, *(counts[week] for week in range(WEEKS))])
    bars = []
    for week in range(WEEKS):
        number = counts[week]
        height = max(6, round(_HEIGHT * number / most)) if number else 2
        day = (start + timedelta(weeks=week)).date().isoformat()
        bars.append(Bar(week * 10, _HEIGHT - height, height, number, day))
    return Weeks(bars, sum(bar.commits for bar in bars))
