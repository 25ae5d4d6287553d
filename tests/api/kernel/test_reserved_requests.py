"""Requests that a process counts ahead of time for the rate limits."""

from collections.abc import Callable
from typing import Any

import pytest

from ingot.accounts.instance.limits import InstanceRateLimits
from ingot.accounts.instance.rate_limits import ActiveLimit, ActiveLimits
from ingot.core.access.actor import Actor
from ingot.core.api.cached_responses import cached_response
from ingot.core.api.rate_limits import LimitedRequest
from ingot.core.errors import Throttled
from ingot.core.http.transfer_slots import TransferCaller
from tests.client import Api, Make
from tests.conftest import Instance

LIMIT = 200


def _take(limits: InstanceRateLimits, name: str, seconds: int = 3600) -> bool:
    """Send a request of a user; return whether it is admitted."""
    request = LimitedRequest(Actor(), TransferCaller(name, "192.0.2.1"), "/user", {})
    active = ActiveLimits((ActiveLimit("reserved_requests", LIMIT, seconds),), ())
    try:
        return limits.take_reserved(active, request) is not None or bool(limits.take(active, request))
    except Throttled:
        return False


@pytest.fixture(autouse=True)
def time_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """All requests are sent at once, however long they take."""
    monkeypatch.setattr("ingot.accounts.instance.reserved_requests.monotonic", lambda: 1000.0)


def test_a_process_admits_exactly_the_limit(api: Api, make: Make, limit_rates: Callable[..., None]) -> None:
    user = make.user()
    limit_rates(
        throttle_authenticated_api_enabled=True,
        throttle_authenticated_api_requests_per_period=LIMIT,
        throttle_authenticated_api_period_in_seconds=3600,
    )
    answers = [api.get("/user", user) for _ in range(LIMIT + 3)]
    assert [answer.status_code for answer in answers] == [200] * LIMIT + [429] * 3
    seen = [int(answer.headers["ratelimit-observed"]) for answer in answers[:LIMIT]]
    assert seen == list(range(1, LIMIT + 1))


def test_frequent_requests_cost_few_writes(instance: Instance, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    database, writes = instance.app.database, list[Callable[..., Any]]()
    write: Callable[[Any], Any] = database.write

    def counted(work: Callable[..., Any]) -> Any:
        writes.append(work)
        return write(work)

    monkeypatch.setattr(database, "write", counted)
    limits, name = InstanceRateLimits(database), make.name("frequent")
    assert all(_take(limits, name) for _ in range(LIMIT))
    assert len(writes) < LIMIT * 3 / 4, "Those that are near the limit are counted one by one."
    assert not _take(limits, name)


@pytest.mark.parametrize("turns", [(1, 1), (5, 1), (30, 30), (LIMIT, 1)])
def test_processes_together_admit_no_more_than_the_limit(
    instance: Instance, make: Make, turns: tuple[int, int]
) -> None:
    processes, name = [InstanceRateLimits(instance.app.database) for _ in turns], make.name("shared")
    admitted = 0
    for _ in range(LIMIT):
        for process, number in zip(processes, turns, strict=True):
            admitted += sum(_take(process, name) for _ in range(number))
    assert LIMIT * 19 // 20 <= admitted <= LIMIT


def test_unused_requests_are_given_back(instance: Instance, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process whose requests are not frequent any more counts one by one."""
    first, second = InstanceRateLimits(instance.app.database), InstanceRateLimits(instance.app.database)
    name = make.name("returned")
    assert all(_take(first, name) for _ in range(8))
    monkeypatch.setattr("ingot.accounts.instance.reserved_requests.monotonic", lambda: 1100.0)
    assert _take(first, name)
    assert sum(_take(second, name) for _ in range(LIMIT)) == LIMIT - 9


def test_responses_to_reserved_requests_come_from_the_cache(
    api: Api, make: Make, limit_rates: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have the current quota nevertheless."""
    user = make.user()
    limit_rates(
        throttle_authenticated_api_enabled=True,
        throttle_authenticated_api_requests_per_period=10 * LIMIT,
        throttle_authenticated_api_period_in_seconds=3600,
    )
    for _ in range(40):
        api.get("/user", user)
    asked = list[Any]()

    def count(*arguments: Any) -> Any:
        asked.append(arguments)
        return cached_response(*arguments)

    monkeypatch.setattr("ingot.core.api.kernel.cached_response", count)
    answers = [api.get("/user", user) for _ in range(20)]
    left = [int(answer.headers["ratelimit-remaining"]) for answer in answers]
    assert left == list(range(left[0], left[0] - 20, -1))
    assert len(asked) >= 18
