"""Injected faults and the log of requests."""

import subprocess
import time

import httpx
import pytest

from tests.testing.temporary_server import TemporaryServer


def test_a_fault_applies_to_the_next_calls_only(server: TemporaryServer) -> None:
    server.control("POST", "faults", json={"method": "get", "path": "/user$", "times": 2, "retry_after": 7})
    for _ in range(2):
        limited = server.api("GET", "/user")
        assert limited.status_code == 429 and limited.headers["retry-after"] == "7"
    assert server.api("GET", "/user").status_code == 200
    assert server.api("GET", "/version").status_code == 200


def test_a_fault_has_a_status_a_body_and_a_rate(server: TemporaryServer) -> None:
    rule = {"path": "/version", "status": 502, "body": "<h1>Bad gateway</h1>", "headers": {"Content-Type": "text/html"}}
    server.control("POST", "faults", json=rule | {"rate": 0.5})
    responses = [server.api("GET", "/version") for _ in range(40)]
    failed = [response for response in responses if response.status_code == 502]
    assert 5 < len(failed) < 35
    assert failed[0].text == "<h1>Bad gateway</h1>" and failed[0].headers["content-type"] == "text/html"
    assert server.control("DELETE", "faults").status_code == 204
    assert server.api("GET", "/version").status_code == 200
    server.control("POST", "faults", json={"path": "/version", "times": 1, "status": 500, "body": {"error": "sorry"}})
    assert server.api("GET", "/version").json() == {"error": "sorry"}
    server.control("POST", "faults", json={"path": "/version", "times": 1, "status": 204, "body": "ignored"})
    assert server.api("GET", "/version").content == b""


def test_connections_are_reset_before_or_after_the_commit(server: TemporaryServer) -> None:
    server.control("POST", "faults", json={"path": "/groups", "times": 1, "reset": "before"})
    with pytest.raises(httpx.TransportError):
        server.api("POST", "/groups", json={"name": "a", "path": "a"})
    assert server.api("GET", "/groups").json() == []
    server.control("POST", "faults", json={"path": "/groups", "times": 1, "reset": "after"})
    with pytest.raises(httpx.TransportError):
        server.api("POST", "/groups", json={"name": "a", "path": "a"})
    assert [group["path"] for group in server.api("GET", "/groups").json()] == ["a"]


def test_bodies_are_truncated_slow_or_late(server: TemporaryServer) -> None:
    server.control("POST", "faults", json={"path": "/version", "times": 1, "truncate": 5})
    with pytest.raises(httpx.RemoteProtocolError):
        server.api("GET", "/version")
    server.control("POST", "faults", json={"path": "/version", "times": 1, "slow": 20, "delay": 0.1})
    started = time.monotonic()
    assert server.api("GET", "/version").status_code == 200
    assert time.monotonic() - started > 0.2


def test_a_chosen_response_is_truncated_too(server: TemporaryServer) -> None:
    server.control("POST", "faults", json={"status": 500, "body": "far too long", "truncate": 3})
    with pytest.raises(httpx.TransportError):
        server.api("GET", "/version")


def test_a_reset_ends_delayed_requests(server: TemporaryServer) -> None:
    server.control("POST", "faults", json={"delay": 3600})
    with pytest.raises(httpx.ReadTimeout):
        server.client.get("/api/v4/version", timeout=0.2)
    assert server.control("POST", "reset").status_code == 204
    assert server.api("GET", "/version").status_code == 200


def test_faults_apply_to_git(server: TemporaryServer) -> None:
    server.api("POST", "/projects", json={"name": "code", "visibility": "public", "initialize_with_readme": True})
    server.control("POST", "faults", json={"path": "info/refs", "times": 1, "status": 503})
    command = ["git", "ls-remote", f"{server.url}/root/code.git"]
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0
    assert b"refs/heads/master" in subprocess.run(command, capture_output=True, check=True).stdout


def test_a_delivery_that_fails_is_repeated_when_the_clock_advances(server: TemporaryServer) -> None:
    server.control("POST", "clock", json={"frozen": True})
    project = {"path": "code", "hooks": [{"events": ["issues_events"]}], "issues": []}
    seeded = server.control("POST", "seed", json={"projects": [project]}).json()
    server.control("POST", "faults", json={"path": "hooks/receive", "times": 1, "status": 500})
    server.api("POST", f"/projects/{seeded['projects'][0]['id']}/issues", json={"title": "Rust"})
    server.control("POST", "jobs/run")
    assert server.control("GET", "hooks").json()["deliveries"] == []
    server.control("POST", "clock", json={"advance": 3600})
    server.control("POST", "jobs/run")
    assert len(server.control("GET", "hooks").json()["deliveries"]) == 1


@pytest.mark.parametrize(
    "rule",
    [
        {"path": "("},
        {"reset": "sometimes"},
        {"status": 99},
        {"slow": 0},
        {"unknown": 1},
        {"delay": -1},
        {"rate": 2},
        {"times": 0},
        {},
        {"delay": 1e300},
        {"retry_after": -1},
        {"headers": {"X-Reason": "a test"}},
        {"body": "without a status"},
        {"status": 500, "reset": "after"},
        {"status": 500, "headers": {"X-Two": "a\r\nX-Lines: b"}},
        {"status": 500, "headers": {"Content-Length": "3"}},
    ],
)
def test_an_invalid_fault_is_refused(server: TemporaryServer, rule: dict[str, object]) -> None:
    assert server.control("POST", "faults", json=rule).status_code == 400
    assert server.control("GET", "faults").json() == []


def test_requests_are_logged_without_secrets(server: TemporaryServer) -> None:
    user = {"username": "ada", "name": "Ada", "email": "ada@example.com", "password": "a-password-of-ada"}
    server.api("POST", "/users?note_token=in-the-query", json=user)
    server.api("GET", "/version")
    first, second = server.control("GET", "requests").json()
    assert (first["id"], first["method"], first["path"], first["status"]) == (1, "POST", "/api/v4/users", 201)
    assert first["body"]["username"] == "ada" and first["response_body"]["username"] == "ada"
    assert second["response_body"]["version"]
    text = server.control("GET", "requests").text
    assert "a-password-of-ada" not in text and server.report["token"] not in text and "in-the-query" not in text
    assert server.control("GET", "requests", params={"path": "version"}).json() == [second]
    assert server.control("GET", "requests", params={"after": 2, "wait": 0.1}).json() == []
    assert server.control("GET", "requests", params={"path": "("}).status_code == 400
    server.control("DELETE", "requests")
    assert server.control("GET", "requests").json() == []


def test_secrets_are_redacted_in_every_form_of_a_body(server: TemporaryServer) -> None:
    secret = "very-hidden"
    fields = {"username": "ada", "password": secret}
    long = {"password": secret, "text": "x" * 100_000}
    server.api("POST", "/users", files={name: (None, value) for name, value in fields.items()})
    server.api("POST", "/users", data=fields)
    server.api("POST", "/users", json={"nested": [fields], "tokens": [secret]})
    server.api("POST", "/users", json=long)
    server.api("GET", "/projects?ids[]=1&ids[]=2", headers={"X-Ingot-Testing": secret, "Cookie": secret})
    logged = server.control("GET", "requests")
    assert len(logged.json()) == 5 and secret not in logged.text
    assert logged.json()[1]["body"]["username"] == "ada"
    assert logged.json()[4]["query"] == {"ids[]": ["1", "2"]}


def test_a_body_of_deeply_nested_json_is_recorded(server: TemporaryServer) -> None:
    headers = {"Content-Type": "application/json"}
    for body in (b"[" * 100_000, b"[" * 600 + b"]" * 600):
        assert server.api("POST", "/users", content=body, headers=headers).status_code == 400
    assert len(server.control("GET", "requests").json()) == 2
