"""HTTP client of sources: retries, rate limits, redirects and secrets."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from ingot.core.outgoing.client import HttpResponse
from ingot.core.outgoing.guard import SsrfGuard
from ingot.import_export.source import SourceError
from ingot.import_export.sources import client as client_module
from ingot.import_export.sources.client import SourceClient, StatusError
from ingot.import_export.sources.limits import quota_delay, retry_delay
from tests.transfers.sources import forge_server
from tests.transfers.sources.forge_server import ForgeServer
from tests.transfers.sources.reading import GUARD

TOKEN = "token-of-the-source"


@pytest.fixture
def forge() -> Iterator[ForgeServer]:
    """Run a server with a list of 250 numbers."""
    with forge_server.serving() as server:
        server.documents = {"/list": list(range(250)), "/one": {"id": 1}}
        yield server


@pytest.fixture
def waits() -> list[float]:
    """Return the list of delays, which are not waited for."""
    return []


@pytest.fixture
def client(forge: ForgeServer, waits: list[float]) -> Iterator[SourceClient]:
    """Return a client that records its delays."""

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    opened = SourceClient(GUARD, forge.url, {"Authorization": f"Bearer {TOKEN}"}, secrets=[TOKEN], sleep=sleep)
    yield opened
    opened.close()


def test_pages_and_parallel_lists_use_few_requests(forge: ForgeServer, client: SourceClient) -> None:
    assert client.entries("/list", int, {"per_page": 100}) == list(range(250))
    assert client.requests == len(forge.requests) == 3
    assert client.total("/list") == 250
    targets = [client.target("/list", {"per_page": 50})] * 9
    assert client.lists([*targets, client.target("/missing")], int) == [list(range(250))] * 9 + [[]]
    assert client.requests == 3 + 1 + 45 + 1


def test_lists_are_bounded(client: SourceClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source cannot fill the memory of a worker with further and further pages."""
    monkeypatch.setattr(client_module, "MAX_PAGES", 4)
    monkeypatch.setattr(client_module, "MAX_DOCUMENT_BYTES", 800)
    with pytest.raises(SourceError, match="too long"):
        client.entries("/list", int, {"per_page": 50})
    client.lists([client.target("/list", {"per_page": 50})], int)
    (problem,) = client.take_problems()
    assert "too long" in problem


def test_temporary_failures_are_retried(forge: ForgeServer, client: SourceClient, waits: list[float]) -> None:
    forge.failures = [(429, {"Retry-After": "7"}), (502, {}), (503, {}), (0, {}), (0, {})]
    assert client.get("/one", dict[str, Any]) == {"id": 1}
    # The first of the cut connections was in use already, so that it is replaced at once.
    assert waits == [7.0, 1.0, 2.0, 4.0]


def test_retries_and_delays_are_bounded(forge: ForgeServer, client: SourceClient, waits: list[float]) -> None:
    forge.failures = [(502, {})] * 20
    with pytest.raises(SourceError, match="status 502") as error:
        client.get("/one", dict[str, Any])
    assert error.value.retry_after == 60.0 and client.requests == 5
    forge.failures = [(429, {"Retry-After": "900"})]
    with pytest.raises(SourceError) as error:
        client.lists([client.target("/list")] * 3, int)
    assert error.value.retry_after == 900.0
    assert max(waits) < 30


def test_a_quota_that_is_used_up_interrupts_the_run(forge: ForgeServer, client: SourceClient) -> None:
    reset = str(int(time.time()) + 600)
    forge.failures = [(403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset})]
    with pytest.raises(SourceError) as error:
        client.get("/one", dict[str, Any])
    assert error.value.retry_after is not None and 500 < error.value.retry_after <= 600
    before = client.requests
    with pytest.raises(SourceError, match="quota") as error:
        client.get("/one", dict[str, Any])
    assert error.value.retry_after is not None and client.requests == before


def test_delays_follow_the_headers() -> None:
    def response(status: int, **headers: str) -> HttpResponse:
        return HttpResponse(status, [(name.replace("_", "-"), value) for name, value in headers.items()], b"", False)

    def now() -> float:
        return 1_700_000_000.0

    assert retry_delay(response(200), 0, now) is None
    assert retry_delay(response(403), 0, now) is None
    assert retry_delay(response(403, retry_after="30"), 0, now) == 30
    assert retry_delay(response(429, ratelimit_reset="1700000012"), 0, now) == 12
    assert retry_delay(response(503), 2, now) == 2.0
    assert retry_delay(response(429, retry_after="Tue, 14 Nov 2023 22:13:40 GMT"), 0, now) == 20
    assert retry_delay(response(429, retry_after="9" * 30), 0, now) == 3600
    assert quota_delay(response(200, ratelimit_remaining="2", ratelimit_reset="1700000005"), 4, now) == 5
    assert quota_delay(response(200, x_ratelimit_remaining="50", x_ratelimit_reset="1700000005"), 4, now) == 0


def test_another_origin_gets_no_token(forge: ForgeServer, client: SourceClient) -> None:
    with forge_server.serving() as other:
        other.documents["/there"] = {"id": 2}
        forge.redirects["/moved"] = f"{other.url}/there"
        assert client.get("/moved", dict[str, Any]) == {"id": 2}
        assert "authorization" not in other.requests[0][1]
        other.files["/file"] = b"content"
        forge.redirects["/file"] = f"{other.url}/file"
        with client.download(client.url("/file"), {"Authorization": "Bearer explicit"}) as file:
            assert file.read() == b"content"
        assert "authorization" not in other.requests[1][1]
    assert forge.requests[0][1]["authorization"] == f"Bearer {TOKEN}"


def test_refusals_name_no_secret(forge: ForgeServer, client: SourceClient) -> None:
    guarded = SourceClient(SsrfGuard(), forge.url, {"Authorization": f"Bearer {TOKEN}"}, secrets=[TOKEN])
    with pytest.raises(SourceError, match="local network") as error:
        guarded.get("/one", dict[str, Any])
    assert TOKEN not in str(error.value) and forge.requests == []
    guarded.close()
    forge.redirects["/loop"] = "/loop"
    with pytest.raises(SourceError, match="too often"):
        client.get("/loop", dict[str, Any])
    forge.failures = [(418, {})]
    with pytest.raises(StatusError, match="status 418"):
        client.get("/one", dict[str, Any])
    with pytest.raises(SourceError, match="unexpected document"):
        client.get("/one", list[int])
    with pytest.raises(SourceError, match="Only http"):
        SourceClient(GUARD, "file:///etc/passwd", {})
