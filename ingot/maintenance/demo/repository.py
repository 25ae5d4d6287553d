"""Content of the project Tidewatch: files, commits, merge requests, wiki pages, snippet and releases."""

from typing import Any, Literal, NamedTuple

README = """\
# Tidewatch

Tells ships when the water is high enough, and people when it is too high.

| gauge | reads | warns at |
|---|---|---|
| North mole | every 10 minutes | 4.20 m |
| Old lock | every hour | 3.85 m |

## Run it

```sh
python -m tidewatch --port 8090
```

- [x] read the gauges
- [x] ring the alarm
- [ ] draw the curve
"""
GAUGE = '''\
"""Reads the gauges of the harbour."""

from dataclasses import dataclass
from datetime import datetime

ALARM_METRES = 4.2


@dataclass(frozen=True)
class Reading:
    """How high the water was."""

    at: datetime
    metres: float

    @property
    def is_too_high(self) -> bool:
        """Whether people have to leave the quay."""
        return self.metres >= ALARM_METRES


def latest(readings: list[Reading]) -> Reading:
    """The newest of them."""
    return max(readings, key=lambda reading: reading.at)
'''
ALARM = '''\
"""Rings the bell."""

from tidewatch.gauge import Reading


def should_ring(reading: Reading, rang_today: bool) -> bool:
    """Once a day is enough."""
    return reading.is_too_high and not rang_today
'''
TEST = """\
from datetime import datetime

from tidewatch.alarm import should_ring
from tidewatch.gauge import Reading


def test_high_water_rings() -> None:
    assert should_ring(Reading(datetime(2026, 3, 1, 4), 4.31), rang_today=False)


def test_once_is_enough() -> None:
    assert not should_ring(Reading(datetime(2026, 3, 1, 5), 4.35), rang_today=True)
"""
CURVE = '''\
"""Draws the tide as a curve."""

from collections.abc import Sequence

BARS = " ▁▂▃▄▅▆▇█"


def curve(metres: Sequence[float]) -> str:
    """One sign for each reading, from low to high water."""
    low, high = min(metres), max(metres)
    width = (high - low) or 1.0
    return "".join(BARS[round((height - low) / width * (len(BARS) - 1))] for height in metres)
'''
MAKEFILE = "test:\n\tpython -m pytest\n\nrun:\n\tpython -m tidewatch\n"


class DemoCommit(NamedTuple):
    """A commit with the new contents of its files."""

    days_ago: int
    author: str
    branch: str
    message: str
    files: dict[str, str]
    creates_branch: bool = False
    """Whether the commit creates the branch."""
    fails: bool = False
    """Whether its tests fail."""
    signed: Literal["", "registered key", "other key"] = ""
    """The key that signs the commit, if any."""


MAIN = "master"
DEMO_COMMITS = (
    DemoCommit(
        358,
        "marlene.okafor",
        MAIN,
        "Say what it is for, and how to run it",
        {"README.md": README},
        signed="registered key",
    ),
    DemoCommit(
        355, "ines.calderon", MAIN, "Read the gauges", {"tidewatch/gauge.py": GAUGE, "tidewatch/__init__.py": ""}
    ),
    DemoCommit(351, "teun.dijkgraaf", MAIN, "Ring the bell once a day", {"tidewatch/alarm.py": ALARM}),
    DemoCommit(347, "teun.dijkgraaf", MAIN, "Test the alarm", {"tests/test_alarm.py": TEST, "Makefile": MAKEFILE}),
    DemoCommit(
        11,
        "suvi.rantala",
        "curve",
        "Draw the tide as a curve\n\nCloses #2",
        {"tidewatch/curve.py": CURVE},
        creates_branch=True,
        signed="registered key",
    ),
    DemoCommit(
        11,
        "suvi.rantala",
        "curve",
        "Say in the README that it draws",
        {"README.md": README.replace("- [ ] draw the curve", "- [x] draw the curve")},
        signed="other key",
    ),
    DemoCommit(
        9,
        "teun.dijkgraaf",
        "midnight",
        "Look at the day of the reading, not of the clock\n\nCloses #1",
        {
            "tidewatch/alarm.py": ALARM.replace("rang_today: bool", "rang_that_day: bool").replace(
                "rang_today", "rang_that_day"
            )
        },
        creates_branch=True,
    ),
    DemoCommit(
        6,
        "ines.calderon",
        "warn-earlier",
        "Warn at four metres",
        {"tidewatch/gauge.py": GAUGE.replace("ALARM_METRES = 4.2", "ALARM_METRES = 4.0")},
        creates_branch=True,
        fails=True,
    ),
)
CONFLICTING_COMMIT = DemoCommit(
    5,
    "wanjiru.mbatia",
    MAIN,
    "Warn at 4.10 m, as the harbour master asked",
    {"tidewatch/gauge.py": GAUGE.replace("ALARM_METRES = 4.2", "ALARM_METRES = 4.1")},
    signed="registered key",
)
REVIEWER, REVIEWED_FILE, REVIEWED_LINE = "marlene.okafor", "tidewatch/curve.py", 11
REVIEW_DAYS_AGO = 4
REVIEW_COMMENT = """\
A name for the height would make this easier to read.

```suggestion:-0+0
    span = (high - low) or 1.0
```
"""


class DemoMergeRequest(NamedTuple):
    """A merge request with its comments, one a day later than the other."""

    days_ago: int
    author: str
    branch: str
    title: str
    description: str
    comments: tuple[tuple[str, str], ...] = ()
    merged_by: str = ""


DEMO_MERGE_REQUESTS = (
    DemoMergeRequest(
        11,
        "suvi.rantala",
        "curve",
        "Show the tide as a curve",
        "It fits on a phone now:\n\n```\n▁▂▄▆█▇▅▃▁\n```\n\nCloses #2",
        (
            ("ines.calderon", "Lovely. What does it do when all readings are the same?"),
            ("suvi.rantala", "A flat line; `width` is never nothing."),
        ),
    ),
    DemoMergeRequest(
        9,
        "teun.dijkgraaf",
        "midnight",
        "Ring once, also at midnight",
        "The day that counts is that of the reading.\n\nCloses #1\n\n/label ~bug",
        (("marlene.okafor", "Thank you. The whole harbour can sleep again."),),
        "marlene.okafor",
    ),
    DemoMergeRequest(
        6,
        "ines.calderon",
        "warn-earlier",
        "Warn at four metres",
        "The quay is wet before the bell rings.\n\n/label ~feature",
        (("wanjiru.mbatia", "The harbour master wants 4.10 m. I changed that on the main branch, so this conflicts."),),
    ),
)
WIKI = (
    (310, "home", "Welcome to the **Tidewatch** wiki.\n\n- [Gauges](gauges)\n"),
    (308, "gauges", "# Gauges\n\nNorth mole, old lock.\n"),
)
SNIPPET_DAYS_AGO = 150
SNIPPET: dict[str, Any] = {
    "title": "Read one gauge by hand",
    "file_name": "gauge.sh",
    "content": "#!/bin/sh\ncurl -s https://gauges.example.org/north-mole | tail -n 1\n",
    "visibility": "public",
}
RELEASES = (
    (236, "v0.8", "Reads all gauges, and rings the bell."),
    (122, "v0.9", "Survives a gauge that does not answer."),
    (3, "v1.0", "The first one that the harbour uses."),
)
"""Age, tag and description of each release."""
