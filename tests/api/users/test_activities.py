"""Last activity dates of users."""

import pytest

from ingot.accounts.users.tables import users
from ingot.core.db.times import Date, add_duration, day_of
from tests.client import Api, Make, User
from tests.conftest import Instance


def _set(instance: Instance, user: User, day: str) -> None:
    instance.app.database.write(lambda db: db.update(users, user.id, last_activity_on=Date(day)))


def _listed(api: Api, make: Make, **params: str) -> list[dict[str, str]]:
    answer = api.get("/user/activities", make.root, per_page=100, **params)
    assert answer.status_code == 200
    activities: list[dict[str, str]] = answer.json()
    return activities


@pytest.mark.parametrize(("who", "status"), [("nobody", 401), ("user", 403), ("admin", 200)])
def test_activities_are_for_administrators(api: Api, make: Make, who: str, status: int) -> None:
    caller = {"nobody": None, "user": make.user(), "admin": make.root}[who]

    assert api.get("/user/activities", caller).status_code == status


def test_oldest_first_from_the_given_date(instance: Instance, api: Api, make: Make) -> None:
    days = ["2012-03-04", "2012-03-06", "2012-03-05"]
    people = {day: make.user() for day in days}
    for day, user in people.items():
        _set(instance, user, day)

    listed = [each for each in _listed(api, make, **{"from": "2012-03-05"}) if each["last_activity_on"] < "2012-04"]

    assert listed == [
        {"username": people[day].username, "last_activity_on": day, "last_activity_at": day}
        for day in ("2012-03-05", "2012-03-06")
    ]


def test_six_months_by_default(instance: Instance, api: Api, make: Make) -> None:
    now = instance.app.database.clock()
    recent, older, never = make.user(), make.user(), make.user()
    _set(instance, recent, day_of(add_duration(now, days=-150)))
    _set(instance, older, day_of(add_duration(now, days=-200)))

    names = {each["username"] for each in _listed(api, make)}

    assert recent.username in names
    assert not names & {older.username, never.username}


@pytest.mark.parametrize("day", ["yesterday", "2012-13-01", "2012", "20120101"])
def test_invalid_dates_are_rejected(api: Api, make: Make, day: str) -> None:
    answer = api.get("/user/activities", make.root, **{"from": day})

    assert (answer.status_code, answer.json()) == (400, {"message": {"from": ["is invalid"]}})
