"""Limits of calls: off unless configured, and then told in headers that clients pace themselves by."""

from collections.abc import Callable, Iterator

import pytest

from ingot.core.http.request import OriginResolver
from ingot.settings import Settings
from tests.client import Api, Make, Person

MOST = 5
PERIOD = 3600
ON = {
    "throttle_authenticated_api_enabled": True,
    "throttle_authenticated_api_requests_per_period": MOST,
    "throttle_authenticated_api_period_in_seconds": PERIOD,
}
ANONYMOUS_ON = {
    "throttle_unauthenticated_enabled": True,
    "throttle_unauthenticated_requests_per_period": MOST,
    "throttle_unauthenticated_period_in_seconds": PERIOD,
}
Configure = Callable[..., None]
TRIES = 100_000


def _until(settled: Callable[[], bool]) -> None:
    """Workers look at the settings once a second; ask until this one has."""
    assert any(settled() for _ in range(TRIES))


@pytest.fixture
def configure(api: Api, make: Make) -> Iterator[Configure]:
    """Set limits; afterwards all is as it was. Each write has an administrator whose count is fresh."""
    administrators = [make.user(admin=True) for _ in range(2)]
    scout = make.user()
    held = api.get("/application/settings", make.root).json()
    before = {name: held[name] for name in {**ON, **ANONYMOUS_ON}}

    def write(settings: dict[str, object]) -> None:
        changed = api.put("/application/settings", administrators.pop(), **settings)
        assert changed.status_code == 200, changed.text

    def set_limits(settings: dict[str, object], limited: Callable[[], bool]) -> None:
        write(settings)
        _until(limited)

    yield set_limits
    write(before)
    for caller in (scout, None):
        _until(lambda caller=caller: _unlimited(api, caller))  # type: ignore[misc] # It is called here and now.


def _limited(api: Api, caller: Person | None) -> Callable[[], bool]:
    """Whether the limits are in force, seen by somebody whose count does not matter."""
    return lambda: api.get("/templates/licenses/mit", caller).status_code == 429


def _unlimited(api: Api, caller: Person | None) -> bool:
    answer = api.get("/templates/licenses/mit", caller)
    return answer.status_code == 200 and "ratelimit-limit" not in answer.headers


def test_there_is_no_limit_unless_one_is_configured(api: Api, make: Make) -> None:
    answer = api.get("/user", make.user())

    assert not [name for name in answer.headers if name.startswith("ratelimit-")]


def test_a_user_is_told_what_is_left_and_then_to_wait(api: Api, make: Make, configure: Configure) -> None:
    user, other, scout = make.user(), make.user(), make.user()
    configure(ON, _limited(api, scout))

    for used in range(1, MOST + 1):
        answer = api.get("/user", user)
        assert answer.status_code == 200
        assert answer.headers["ratelimit-observed"] == str(used)
        assert answer.headers["ratelimit-remaining"] == str(MOST - used)
        assert int(answer.headers["ratelimit-limit"]) >= 1
        assert int(answer.headers["ratelimit-reset"]) > 1_700_000_000
    for refused in (api.get("/user", user), api.put("/user/status", user, message="x")):
        assert refused.status_code == 429
        assert "Retry later" in refused.text
        assert 0 < int(refused.headers["retry-after"]) <= PERIOD
    assert api.get("/user", other).status_code == 200, "Everybody has a count of their own."
    assert "ratelimit-limit" not in api.get("/templates/licenses/mit").headers, "The other limit is not on."


def test_a_refused_write_changes_nothing(api: Api, make: Make, configure: Configure) -> None:
    user, other, scout = make.user(), make.user(), make.user()
    configure(ON, _limited(api, scout))
    statuses = [api.put("/user/status", user, message=f"number {number}").status_code for number in range(MOST + 2)]

    assert statuses == [200] * MOST + [429] * 2
    assert api.get(f"/users/{user.id}/status", other).json()["message"] == f"number {MOST - 1}"


def test_all_tokens_of_a_user_share_one_count(api: Api, make: Make, configure: Configure) -> None:
    user, scout = make.user(), make.user()
    second = user.with_token(make.token(user.id))
    configure(ON, _limited(api, scout))

    statuses = [api.get("/user", caller).status_code for caller in [user, second] * MOST]

    assert statuses == [200] * MOST + [429] * MOST


def test_anonymous_callers_are_counted_by_address(api: Api, make: Make, configure: Configure) -> None:
    user = make.user()
    configure(ANONYMOUS_ON, _limited(api, None))

    assert api.get("/templates/licenses").status_code == 429
    assert api.get("/user", user).status_code == 200


@pytest.mark.parametrize(
    ("proxies", "sent", "ip"),
    [
        ("", "203.0.113.7", "192.0.2.1"),
        ("198.51.100.0/24", "203.0.113.7", "192.0.2.1"),
        ("192.0.2.0/24", "203.0.113.7", "203.0.113.7"),
        ("192.0.2.0/24", "127.0.0.1, 203.0.113.7, 192.0.2.9", "203.0.113.7"),
        ("192.0.2.0/24", "nonsense", "192.0.2.1"),
        ("192.0.2.0/24", "", "192.0.2.1"),
    ],
)
def test_an_address_that_the_caller_made_up_has_no_count_of_its_own(proxies: str, sent: str, ip: str) -> None:
    """Only proxies that are trusted say where a call came from, and only the nearest stranger is believed."""
    headers = {b"x-forwarded-for": sent.encode()}
    scope = {"client": ("192.0.2.1", 1234), "scheme": "http", "headers": list(headers.items())}

    origin = OriginResolver(Settings(trusted_proxies=proxies)).resolve(scope, headers)

    assert origin.ip == ip
