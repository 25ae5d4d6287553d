"""Coarse guard of speed."""

import re

from bench.guard import MAX_RISE, fixed_work, guarded_calls, recorded_times, slow_calls, uncached
from bench.load import get, post


def test_each_guarded_call_is_recorded() -> None:
    assert {call.name for call in guarded_calls()} == recorded_times().keys()


def test_reads_of_the_api_have_urls_of_their_own() -> None:
    sent = [uncached(get(path, "token")) for path in ("/api/v4/user", "/api/v4/user", "/api/v4/users?page=2")]
    paths = [request.split()[1] for request in sent]
    assert len({*paths}) == 3
    assert re.fullmatch(rb"/api/v4/users\?page=2&unique=\d+", paths[2])
    assert all(b"PRIVATE-TOKEN: token\r\n" in request for request in sent)
    for unchanged in (get("/group/project"), post("/api/v4/projects", "token", name="x")):
        assert uncached(unchanged) == unchanged


def test_only_a_call_beyond_the_record_is_slow() -> None:
    calls = guarded_calls()
    record = dict.fromkeys((call.name for call in calls), 1.0)
    assert slow_calls(calls, record, record) == []
    raised = {**record, calls[0].name: MAX_RISE * 1.01, calls[1].name: MAX_RISE * 0.99}
    assert slow_calls(calls, raised, record) == calls[:1]
    assert slow_calls(calls, record, {}) == calls


def test_the_fixed_work_takes_processor_time() -> None:
    assert fixed_work() > 0
