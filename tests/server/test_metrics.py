"""``/-/metrics``: labels from fixed sets, access by token or network, and rendering outside of the event loop."""

import asyncio
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ingot.core.cache import CacheRegistry, CacheStats
from ingot.core.http import metrics
from ingot.core.http.metrics import Metrics
from ingot.core.http.process_metrics import list_processes
from ingot.core.settings import Settings
from tests.conftest import Instance
from tests.server.in_process_server import InProcessServer, serve_in_process
from tests.server.process import PASSWORD, TOKEN, serving
from tests.web.browser import without_address

SECRET = "token-of-the-scraper"
ROUTE = re.compile(
    r'^ingot_http_request_seconds_count\{method="([^"]*)",route="([^"]*)",status="(\d+)"\}', re.MULTILINE
)


def _routes(text: str) -> set[str]:
    return {route for _, route, _ in ROUTE.findall(text)}


def test_paths_of_clients_are_no_labels(instance: Instance) -> None:
    """Neither below ``/-/`` nor anywhere else, with no method and no encoding."""
    paths = [
        f"{start}attack-{number}" for start in ("/-/", "/-/metrics/", "/", "/api/v4/", "/a/b/-/") for number in range(5)
    ]
    with httpx.Client(base_url=instance.url) as client:
        for path in [
            *paths,
            "/-/attack%22%0a",
            '/-/attack"',
            "/group/project.git/attack",
            "/a.git/info/lfs/objects/attack",
        ]:
            for method in ("GET", "POST", "PROPFIND"):
                assert client.request(method, path).status_code in (401, 403, 404, 405, 422, 501)
        scraped = client.get("/-/metrics").text
    assert "attack" not in scraped.lower()
    assert "unmatched" in _routes(scraped)
    assert "attack" not in "".join(line for line in instance.log.getvalue().splitlines() if '"request"' in line)


def test_distinct_labels_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if a label should contain what clients choose, memory and scrapes stay bounded."""
    monkeypatch.setattr(metrics, "MAX_SERIES", 10)
    figures = Metrics(None)
    for number in range(1000):
        figures.observe("GET", f"/route-{number}", 200, 0.001)
    text = figures.render().decode()
    assert len(ROUTE.findall(text)) == 11
    assert len(re.findall(r"^ingot_http_response_seconds_bucket", text, re.MULTILINE)) == 2 * 14
    assert re.search(r'_count\{method="OTHER",route="overflow",status="0"\} 990\.0', text)


def test_a_full_scrape_is_small() -> None:
    """The buckets are not repeated for every route; with all combinations of labels a scrape had 6 MB."""
    figures = Metrics(None)
    for number in range(metrics.MAX_SERIES):
        figures.observe("DELETE", f"/projects/:id/merge_requests/:merge_request_iid/notes/{number:04}", 404, 0.003)
    text = figures.render().decode()
    assert len(ROUTE.findall(text)) == metrics.MAX_SERIES
    assert len(text) < 1_500_000
    assert 'ingot_http_response_seconds_bucket{le="0.005",method="DELETE",status="4xx"} 5000.0' in text


def test_scrapes_and_writes_leave_the_event_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "WRITE_SECONDS", 0.0)
    threads = []

    def recorded(registry: CacheRegistry) -> list[CacheStats]:
        threads.append(threading.current_thread().name)
        return []

    monkeypatch.setattr(CacheRegistry, "stats", recorded)

    async def run() -> bytes:
        figures = Metrics(tmp_path, caches=CacheRegistry())
        figures.observe("GET", "/version", 200, 0.001)
        text = await figures.scrape()
        await asyncio.sleep(0)
        figures.close()
        return text

    assert b'route="/version"' in asyncio.run(run())
    assert threads and all(name.startswith("metrics") for name in threads)


def test_each_process_of_the_server_is_measured(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "", "--workers", "2") as server:
        text = httpx.get(f"{server.url}/-/metrics").text
    measured = {
        family: {
            name: float(value) for name, value in re.findall(rf'^{family}{{process="(.*)"}} (.*)$', text, re.MULTILINE)
        }
        for family in ("ingot_process_cpu_seconds_total", "ingot_process_memory_bytes", "ingot_process_open_files")
    }
    for figures in measured.values():
        assert set(figures) == {"supervisor", "ssh+jobs", "web-0", "web-1"} and min(figures.values()) >= 0
    assert measured["ingot_process_cpu_seconds_total"]["supervisor"] > 0.1
    assert measured["ingot_process_memory_bytes"]["web-0"] > 1_000_000
    assert measured["ingot_process_open_files"]["web-0"] > 3


def test_a_process_that_has_ended_is_left_out(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    list_processes(tmp_path / metrics.PROCESSES, {"web-0": os.getpid(), "web-1": ended.pid})
    text = Metrics(tmp_path).render().decode()
    assert 'ingot_process_open_files{process="web-0"}' in text and "web-1" not in text


@pytest.fixture
def guarded(tmp_path: Path, empty_database: str) -> Iterator[InProcessServer]:
    """Server whose metrics are open to one address and with a token; another address is a trusted proxy."""
    settings = Settings(
        data=tmp_path / "data",
        database_url=empty_database,
        root_token=TOKEN,
        root_password=PASSWORD,
        metrics_token=SECRET,
        metrics_networks="127.0.0.2",
        trusted_proxies="127.0.0.3",
    )
    with serve_in_process(settings) as server:
        yield server


ALLOWED: list[tuple[str, str, dict[str, str], bool]] = [
    ("127.0.0.2", "", {}, True),
    ("127.0.0.1", "", {}, False),
    ("127.0.0.3", "", {}, False),
    # A stranger who claims to be forwarded by a proxy, or sends the header through one that is not trusted.
    ("127.0.0.1", "", {"X-Forwarded-For": "127.0.0.2"}, False),
    ("127.0.0.2", "", {"X-Forwarded-For": "127.0.0.2"}, False),
    ("127.0.0.2", "", {"X-Forwarded-For": "192.0.2.1"}, False),
    ("127.0.0.2", "", {"Forwarded": "for=192.0.2.1"}, False),
    ("127.0.0.2", "", {"X-Forwarded-Proto": "https"}, False),
    ("127.0.0.2", "", {"CF-Connecting-IP": "192.0.2.1"}, False),
    # The address that a trusted proxy has appended counts, and not one before it.
    ("127.0.0.3", "", {"X-Forwarded-For": "127.0.0.2"}, True),
    ("127.0.0.3", "", {"X-Forwarded-For": "192.0.2.1, 127.0.0.2"}, True),
    ("127.0.0.3", "", {"X-Forwarded-For": "127.0.0.2, 192.0.2.1"}, False),
    ("127.0.0.3", "", {"X-Forwarded-For": "127.0.0.2:4711"}, False),
    ("127.0.0.1", "", {"Authorization": f"Bearer {SECRET}"}, True),
    ("127.0.0.1", "", {"Authorization": f"bearer {SECRET}"}, True),
    ("127.0.0.1", f"?token={SECRET}", {}, True),
    ("127.0.0.1", f"?token={SECRET}x", {}, False),
    ("127.0.0.1", "?token=", {}, False),
    ("127.0.0.1", "?token=%FF&token=%00&&=", {}, False),
    ("127.0.0.1", "", {"Authorization": f"Basic {SECRET}"}, False),
    ("127.0.0.1", "", {"PRIVATE-TOKEN": TOKEN}, False),
]


def test_access_to_metrics(guarded: InProcessServer) -> None:
    """Callers without access see what they see at any path that does not exist."""
    for address, query, headers, allowed in ALLOWED:
        with httpx.Client(transport=httpx.HTTPTransport(local_address=address)) as client:
            response = client.get(f"{guarded.client.base_url}/-/metrics{query}", headers=headers)
            missing = client.get(f"{guarded.client.base_url}/-/nothing{query}", headers=headers)
        expected = 200 if allowed else 404
        assert response.status_code == expected, (address, query, headers)
        assert allowed or without_address(response.text) == without_address(missing.text)
        assert allowed == ("ingot_http_request_seconds" in response.text)


def test_metrics_are_open_to_loopback_by_default(instance: Instance) -> None:
    response = httpx.get(f"{instance.url}/-/metrics")
    assert response.status_code == 200
    assert re.search(r'^ingot_disk_free_bytes\{directory="data"\} \d', response.text, re.MULTILINE)
    assert httpx.get(f"{instance.url}/-/metrics", headers={"X-Forwarded-For": "127.0.0.1"}).status_code == 404
    assert httpx.get(f"{instance.url}/-/metrics?token=").status_code == 200


def test_a_proxy_on_the_same_machine_does_not_open_the_metrics(tmp_path: Path, instance: Instance) -> None:
    """Requests through it come from loopback; it shows by the host, or by the public URL of the server."""
    for host, status in (
        ("git.example.org", 404),
        ("localhost", 200),
        ("[::1]:8080", 200),
        ("127.0.0.1.example.org", 404),
    ):
        assert httpx.get(f"{instance.url}/-/metrics", headers={"Host": host}).status_code == status, host
    for url, open_to_loopback in (("", True), ("http://localhost:8080", True), ("https://git.example.org", False)):
        networks = Settings(data=tmp_path, external_url=url).metrics_allowed_networks
        assert bool(networks) is open_to_loopback, url
    chosen = Settings(data=tmp_path, external_url="https://git.example.org", metrics_networks="127.0.0.1")
    assert [str(network) for network in chosen.metrics_allowed_networks] == ["127.0.0.1/32"]


@pytest.mark.parametrize("path", ["metrics", "health", "liveness", "readiness"])
def test_health_and_metrics_are_only_read(instance: Instance, path: str) -> None:
    refused = httpx.post(f"{instance.url}/-/{path}")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
    assert httpx.head(f"{instance.url}/-/{path}").status_code == 200
