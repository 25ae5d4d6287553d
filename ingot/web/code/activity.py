"""How much was committed in each week of the last year, as a small picture."""

from collections import Counter
from datetime import datetime, timedelta
from typing import NamedTuple

from markupsafe import Markup

from ingot.db.times import Timestamp, moment
from ingot.git.command import run_git
from ingot.git.remembered import Remembered
from ingot.git.repository import Repository
from ingot.web.saying import count

WEEKS = 52
_WEEK_SECONDS = 7 * 86_400
_MOST_COMMITS = 20_000
_HEIGHT = 100
_kept: Remembered[tuple[str, str, str], "Weeks"] = Remembered(500, 2**20)


class Weeks(NamedTuple):
    """The bars of the last weeks, oldest first, and how many commits there are in all of them."""

    bars: Markup
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
    bars = "".join(_bar(week, counts[week], most, start + timedelta(weeks=week)) for week in range(WEEKS))
    total = sum(counts[week] for week in range(WEEKS))
    return Weeks(Markup(bars), total)  # noqa: S704 - They are made of our own numbers alone.


def _bar(week: int, commits: int, most: int, day: datetime) -> str:
    height = max(6, round(_HEIGHT * commits / most)) if commits else 2
    said = f"<title>{count(commits, 'commit')} in the week of {day.date().isoformat()}</title>"
    kind = "" if commits else ' class="none"'
    return f'<rect{kind} x="{week * 10}" y="{_HEIGHT - height}" width="8" height="{height}">{said}</rect>'
