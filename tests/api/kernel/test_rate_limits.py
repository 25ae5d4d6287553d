"""Rate limits: off by default, and reported in headers."""

from collections.abc import Callable, Iterator

import pytest

from ingot.core.http.request import OriginResolver
from ingot.core.settings import Settings
from tests.client import Api, Make, User

MAX_REQUESTS = 5
PERIOD = 3600
ON = {
    "throttle_authenticated_api_enabled": True,
    "throttle_authenticated_api_requests_per_period": MAX_REQUESTS,
    "throttle_authenticated_api_period_in_seconds": PERIOD,
}
ANONYMOUS_ON = {
    "throttle_unauthenticated_enabled": True,
    "throttle_unauthenticated_requests_per_period": MAX_REQUESTS,
    "throttle_unauthenticated_period_in_seconds": PERIOD,
}
Configure = Callable[..., None]
TRIES = 100_000


def _until(settled: Callable[[], bool]) -> None:
    """Wait until this worker has read the settings, which it does once a second."""
    assert any(settled() for _ in range(TRIES))


@pytest.fixture
def configure(api: Api, make: Make) -> Iterator[Configure]:
    """Yield a function that sets limits, which are reset after the test. Each write uses a new administrator."""
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


def _limited(api: Api, caller: User | None) -> Callable[[], bool]:
    """Return whether the limits are in force, as seen by a user whose limit does not matter."""
    return lambda: api.get("/templates/licenses/mit", caller).status_code == 429


def _unlimited(api: Api, caller: User | None) -> bool:
    answer = api.get("/templates/licenses/mit", caller)
    return answer.status_code == 200 and "ratelimit-limit" not in answer.headers


def test_requests_are_unlimited_by_default(api: Api, make: Make) -> None:
    answer = api.get("/user", make.user())

    assert not [name for name in answer.headers if name.startswith("ratelimit-")]


def test_a_user_sees_remaining_requests_and_then_retry_after(api: Api, make: Make, configure: Configure) -> None:
    user, other, scout = make.user(), make.user(), make.user()
    configure(ON, _limited(api, scout))

    for used in range(1, MAX_REQUESTS + 1):
        answer = api.get("/user", user)
        assert answer.status_code == 200
        assert answer.headers["ratelimit-observed"] == str(used)
        assert answer.headers["ratelimit-remaining"] == str(MAX_REQUESTS - used)
        assert int(answer.headers["ratelimit-limit"]) >= 1
        assert int(answer.headers["ratelimit-reset"]) > 1_700_000_000
    for refused in (api.get("/user", user), api.put("/user/status", user, message="x")):
        assert refused.status_code == 429
        assert "Retry later" in refused.text
        assert 0 < int(refused.headers["retry-after"]) <= PERIOD
    assert api.get("/user", other).status_code == 200, "Each user has a separate limit."
    assert "ratelimit-limit" not in api.get("/templates/licenses/mit").headers, "The other limit is not on."


def test_a_limited_write_changes_nothing(api: Api, make: Make, configure: Configure) -> None:
    user, other, scout = make.user(), make.user(), make.user()
    configure(ON, _limited(api, scout))
    statuses = [
        api.put("/user/status", user, message=f"number {number}").status_code for number in range(MAX_REQUESTS + 2)
    ]

    assert statuses == [200] * MAX_REQUESTS + [429] * 2
    assert api.get(f"/users/{user.id}/status", other).json()["message"] == f"number {MAX_REQUESTS - 1}"


def test_all_tokens_of_a_user_share_one_limit(api: Api, make: Make, configure: Configure) -> None:
    user, scout = make.user(), make.user()
    second = user.with_token(make.token(user.id))
    configure(ON, _limited(api, scout))

    statuses = [api.get("/user", caller).status_code for caller in [user, second] * MAX_REQUESTS]

    assert statuses == [200] * MAX_REQUESTS + [429] * MAX_REQUESTS


def test_anonymous_requests_are_limited_by_address(api: Api, make: Make, configure: Configure) -> None:
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
def test_a_forged_address_has_no_limit_of_its_own(proxies: str, sent: str, ip: str) -> None:
    """Forwarded addresses are accepted from trusted proxies only, up to the nearest untrusted one."""
    headers = {b"x-forwarded-for": sent.encode()}
    scope = {"client": ("192.0.2.1", 1234), "scheme": "http", "headers": list(headers.items())}

    origin = OriginResolver(Settings(trusted_proxies=proxies)).resolve(scope, headers)

    assert origin.ip == ip
