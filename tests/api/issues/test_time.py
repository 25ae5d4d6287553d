"""Time tracking of issues."""

from typing import Any

import pytest

from ingot.collaboration.planning.durations import format_duration, parse_duration
from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue
from tests.client import Api, Make
from tests.factories import make_project

HOUR, DAY, WEEK, MONTH = 3600, 8 * 3600, 40 * 3600, 160 * 3600


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1mo 2w 3d 4h 5m", MONTH + 2 * WEEK + 3 * DAY + 4 * HOUR + 300),
        ("1mo2w3d4h5m", MONTH + 2 * WEEK + 3 * DAY + 4 * HOUR + 300),
        ("3h30m", 3 * HOUR + 1800),
        ("1.5h", HOUR + 1800),
        ("1 hour, 30 minutes", HOUR + 1800),
        (" 2D ", 2 * DAY),
        ("90s", 90),
        ("-1h", -HOUR),
        ("- 1h 30m", -HOUR - 1800),
        ("0h", 0),
        ("1h1h", None),
        ("1h 2hours", None),
        ("-", None),
        ("", None),
        (" ", None),
        ("h", None),
        ("1", None),
        ("1x", None),
        ("1h2", None),
        ("--1h", None),
        ("1h -30m", None),
        ("1e3h", None),
        ("99999999999mo", None),
        ("999999999mo", None),
        ("٣h", None),
        ("1" * 100_000, None),
        ("1m" * 50_000, None),
    ],
    ids=lambda value: str(value)[:20],
)
def test_durations_are_parsed(text: str, seconds: int | None) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("seconds", [0, 1, 59, 60, HOUR, DAY - 60, DAY, WEEK, MONTH, 13 * MONTH + WEEK + 61, -HOUR])
def test_durations_round_trip(seconds: int) -> None:
    shown = format_duration(seconds)
    assert (parse_duration(shown) if shown else 0) == seconds


def test_all_endpoints(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    iid = make_issue(make, project, owner)["iid"]
    base = f"/projects/{project.id}/issues/{iid}"
    empty = {
        "time_estimate": 0,
        "total_time_spent": 0,
        "human_time_estimate": None,
        "human_total_time_spent": None,
    }
    assert api.get(f"/projects/{project.id}/issues/{iid}/time_stats", owner).json() == empty
    steps: list[tuple[str, dict[str, str], int, dict[str, Any]]] = [
        ("time_estimate", {"duration": "1w"}, 200, {"time_estimate": WEEK, "human_time_estimate": "1w"}),
        ("time_estimate", {"duration": "3h 30m"}, 200, {"time_estimate": 12600, "human_time_estimate": "3h 30m"}),
        ("add_spent_time", {"duration": "2h"}, 201, {"total_time_spent": 2 * HOUR, "human_total_time_spent": "2h"}),
        ("add_spent_time", {"duration": "-1h"}, 201, {"total_time_spent": HOUR, "human_total_time_spent": "1h"}),
        ("reset_time_estimate", {}, 200, {"time_estimate": 0, "human_time_estimate": None}),
        ("reset_time_estimate", {}, 200, {"time_estimate": 0, "human_time_estimate": None}),
        ("reset_spent_time", {}, 200, {"total_time_spent": 0, "human_total_time_spent": None}),
    ]
    now: dict[str, Any] = dict(empty)
    for call, sent, status, change in steps:
        answer = api.post(f"{base}/{call}", owner, **sent)
        now |= change
        assert (answer.status_code, answer.json()) == (status, now), call
        assert api.get(f"{base}/time_stats", owner).json() == now
    assert api.get(base, owner).json()["time_stats"] == now


@pytest.mark.parametrize(
    ("call", "duration", "message"),
    [
        ("time_estimate", None, '400 (Bad request) "duration" not given'),
        ("time_estimate", "soon", {"duration": ["is invalid"]}),
        ("time_estimate", "-1h", {"duration": ["is invalid"]}),
        ("time_estimate", ["1h"], {"duration": ["is invalid"]}),
        ("time_estimate", "99999999999mo", {"duration": ["is invalid"]}),
        ("add_spent_time", None, '400 (Bad request) "duration" not given'),
        ("add_spent_time", "1h1h", {"duration": ["is invalid"]}),
        ("add_spent_time", "-", {"duration": ["is invalid"]}),
        ("add_spent_time", "0h", {"duration": ["is invalid"]}),
        ("add_spent_time", "-61m", {"time_spent": ["Time to subtract exceeds the total time spent"]}),
        ("add_spent_time", "3728mo 43h", {"time_spent": ["is too long"]}),
    ],
)
def test_invalid_durations(api: Api, make: Make, call: str, duration: Any, message: Any) -> None:
    owner = make.user()
    project = make_project(make, owner)
    base = f"/projects/{project.id}/issues/{make_issue(make, project, owner)['iid']}"
    assert api.post(f"{base}/add_spent_time", owner, duration="1h").status_code == 201
    before = api.get(f"{base}/time_stats", owner).json()

    answer = api.post(f"{base}/{call}", owner, duration=duration)

    assert (answer.status_code, answer.json()) == (400, {"message": message})
    assert api.get(f"{base}/time_stats", owner).json() == before


@pytest.mark.parametrize(("who", "allowed"), [("guest", False), ("author", True), ("reporter", True)])
def test_permissions(api: Api, make: Make, who: str, allowed: bool) -> None:
    """Requires permission to edit the issue."""
    people = {name: make.user() for name in ("guest", "author", "reporter")}
    levels = {people["guest"]: Level.GUEST, people["author"]: Level.GUEST, people["reporter"]: Level.REPORTER}
    project = make_project(make, members=levels)
    iid = make_issue(make, project, people["author"])["iid"]
    base, caller = f"/projects/{project.id}/issues/{iid}", people[who]

    answers = [
        api.post(f"/projects/{project.id}/issues/{iid}/time_estimate", caller, duration="1h"),
        api.post(f"/projects/{project.id}/issues/{iid}/reset_time_estimate", caller),
        api.post(f"/projects/{project.id}/issues/{iid}/add_spent_time", caller, duration="1h"),
        api.post(f"/projects/{project.id}/issues/{iid}/reset_spent_time", caller),
    ]

    assert [answer.status_code for answer in answers] == ([200, 200, 201, 200] if allowed else [403] * 4)
    assert api.get(f"{base}/time_stats", caller).status_code == 200
