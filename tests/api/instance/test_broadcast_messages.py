"""Broadcast messages."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from ingot.accounts.instance.queries import current_broadcasts
from tests.client import Api, Make


@pytest.fixture(autouse=True)
def _no_messages_remain(api: Api, make: Make) -> Iterator[None]:
    yield
    for message in api.get("/broadcast_messages", as_user=make.root, per_page=100).json():
        api.delete(f"/broadcast_messages/{message['id']}", as_user=make.root)


def _create(api: Api, make: Make, **params: Any) -> dict[str, Any]:
    answer = api.post("/broadcast_messages", as_user=make.root, **{"message": "Hello", **params})
    assert answer.status_code == 201, answer.text
    created: dict[str, Any] = answer.json()
    return created


def test_only_administrators(api: Api, make: Make) -> None:
    for caller, refusal in ((None, 401), (make.user(), 403), (make.root, None)):
        message = _create(api, make)
        assert api.get("/broadcast_messages", as_user=caller).status_code == (refusal or 200)
        assert api.get(f"/broadcast_messages/{message['id']}", as_user=caller).status_code == (refusal or 200)
        assert api.post("/broadcast_messages", as_user=caller, message="Hi").status_code == (refusal or 201)
        assert api.put(f"/broadcast_messages/{message['id']}", as_user=caller, message="Hi").status_code == (
            refusal or 200
        )
        assert api.delete(f"/broadcast_messages/{message['id']}", as_user=caller).status_code == (refusal or 200)
        # The permission is checked before the parameters.
        assert api.post("/broadcast_messages", as_user=caller).status_code == (refusal or 400)
        assert api.get("/broadcast_messages/999999", as_user=caller).status_code == (refusal or 404)


def test_defaults(api: Api, make: Make) -> None:
    created = _create(api, make, message="Wartung um 8 🛠")

    assert created.keys() == {"id", "message", "starts_at", "ends_at", "color", "font", "active"}
    assert created["message"] == "Wartung um 8 🛠"
    assert (created["color"], created["font"], created["active"]) == ("#E75E40", "#FFFFFF", True)
    begin, end = (datetime.fromisoformat(created[name]) for name in ("starts_at", "ends_at"))
    assert end - begin == timedelta(hours=1)
    assert api.get(f"/broadcast_messages/{created['id']}", as_user=make.root).json() == created


def test_lists_in_pages(api: Api, make: Make) -> None:
    for left in api.get("/broadcast_messages", as_user=make.root, per_page=100).json():
        api.delete(f"/broadcast_messages/{left['id']}", make.root)
    made = [_create(api, make, message=f"Number {number}")["id"] for number in range(3)]

    answer = api.get("/broadcast_messages", as_user=make.root, per_page=2)

    assert [message["id"] for message in answer.json()] == made[:2]
    assert answer.headers["x-total"] == "3"
    rest = api.get("/broadcast_messages", as_user=make.root, per_page=2, page=2).json()
    assert [message["id"] for message in rest] == made[2:]
    keyset = api.get("/broadcast_messages", as_user=make.root, pagination="keyset", per_page=2, sort="asc")
    assert [message["id"] for message in keyset.json()] == made[:2]


WHEN = [
    ({"starts_at": "2020-01-01", "ends_at": "2020-01-02"}, False),
    ({"starts_at": "2020-01-01T10:00:00+02:00", "ends_at": "2999-01-01T00:00:00Z"}, True),
    ({"starts_at": "2998-01-01", "ends_at": "2999-01-01"}, False),
    ({"starts_at": "2998-01-01"}, False),
    ({"starts_at": "2020-01-01"}, True),
    ({"starts_at": "2999-01-01", "ends_at": "2020-01-01"}, False),
]


@pytest.mark.parametrize(("times", "active"), WHEN)
def test_a_message_is_active_between_its_times(api: Api, make: Make, times: dict[str, str], active: bool) -> None:
    created = _create(api, make, **times)

    assert created["active"] is active
    shown = make.database.read(current_broadcasts)
    assert [message.id for message in shown] == ([created["id"]] if active else [])


def test_a_future_message_lasts_an_hour(api: Api, make: Make) -> None:
    created = _create(api, make, starts_at="2998-01-01T00:00:00Z")

    assert created["ends_at"] == "2998-01-01T01:00:00.000Z"


def test_update_changes_sent_parameters(api: Api, make: Make) -> None:
    created = _create(api, make)

    changed = api.put(
        f"/broadcast_messages/{created['id']}", as_user=make.root, color="#000", font="#cecece", ends_at=None
    )
    assert changed.status_code == 200
    assert changed.json() == {**created, "color": "#000", "font": "#cecece"}

    ended = api.put(
        f"/broadcast_messages/{created['id']}", as_user=make.root, message="Bye", ends_at="2020-01-01 10:00"
    ).json()
    assert (ended["message"], ended["ends_at"], ended["active"]) == ("Bye", "2020-01-01T10:00:00.000Z", False)

    usual = api.put(f"/broadcast_messages/{created['id']}", as_user=make.root, color="", font=None).json()
    assert (usual["color"], usual["font"]) == ("#E75E40", "#FFFFFF")
    assert api.put(f"/broadcast_messages/{created['id']}", as_user=make.root).json() == usual


INVALID = [
    ("color", "red", "must be a valid color code"),
    ("color", "#12", "must be a valid color code"),
    ("color", "#12345g", "must be a valid color code"),
    ("color", "#123456\n", "must be a valid color code"),
    ("font", "#1234567", "must be a valid color code"),
    ("message", "", "can't be blank"),
    ("message", " \n ", "can't be blank"),
    ("message", ["a"], "is invalid"),
    ("message", "a\0b", "is invalid"),
    ("message", "x" * 1_000_001, "is too long (maximum is 1000000 characters)"),
    ("starts_at", "tomorrow", "is invalid"),
    ("ends_at", 12, "is invalid"),
    ("ends_at", "2020-02-30", "is invalid"),
]


@pytest.mark.parametrize(("name", "value", "reason"), INVALID)
def test_invalid_values_are_rejected(api: Api, make: Make, name: str, value: Any, reason: str) -> None:
    created = _create(api, make)

    made = api.post("/broadcast_messages", as_user=make.root, **{"message": "Hello", name: value})
    changed = api.put(f"/broadcast_messages/{created['id']}", as_user=make.root, **{name: value})

    for refused in (made, changed):
        assert refused.status_code == 400
        assert refused.json() == {"message": {name: [reason]}}
    assert api.get("/broadcast_messages", as_user=make.root).json() == [created]


def test_a_message_requires_a_text(api: Api, make: Make) -> None:
    refused = api.post("/broadcast_messages", as_user=make.root, color="#000")

    assert refused.status_code == 400
    assert refused.json() == {"message": '400 (Bad request) "message" not given'}


@pytest.mark.parametrize("starts_at", ["9999-12-31T23:30:00Z", "0999-01-01", "0001-01-01"])
def test_extreme_dates_cause_no_error(api: Api, make: Make, starts_at: str) -> None:
    created = api.post("/broadcast_messages", as_user=make.root, message="Hello", starts_at=starts_at)

    assert created.status_code in (201, 400)


def test_delete_is_idempotent(api: Api, make: Make) -> None:
    created = _create(api, make)

    first = api.delete(f"/broadcast_messages/{created['id']}", as_user=make.root)
    second = api.delete(f"/broadcast_messages/{created['id']}", as_user=make.root)

    assert (first.status_code, first.json()["id"]) == (200, created["id"])
    assert (second.status_code, second.content) == (200, b"")
    assert api.get(f"/broadcast_messages/{created['id']}", as_user=make.root).status_code == 404


@pytest.mark.parametrize("number", ["999999", str(2**63 - 1)])
def test_missing_messages(api: Api, make: Make, number: str) -> None:
    gone = api.get(f"/broadcast_messages/{number}", as_user=make.root)
    assert (gone.status_code, gone.json()) == (404, {"message": "404 Broadcast Message Not Found"})
    assert api.put(f"/broadcast_messages/{number}", as_user=make.root, message="Hi").status_code == 404
    assert api.delete(f"/broadcast_messages/{number}", as_user=make.root).status_code == 200


@pytest.mark.parametrize("number", ["one", "-1", "1.5", "%20", "9" * 30])
def test_invalid_ids(api: Api, make: Make, number: str) -> None:
    for method in ("GET", "DELETE"):
        assert api.request(method, f"/broadcast_messages/{number}", as_user=make.root).status_code == 400
    assert api.put(f"/broadcast_messages/{number}", as_user=make.root, message="Hi").status_code == 400
