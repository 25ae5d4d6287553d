"""Request log: one line per request, without secrets."""

import json

from tests.client import Api, Make
from tests.conftest import Instance


def _lines(instance: Instance, since: int) -> list[dict[str, object]]:
    return [json.loads(line) for line in instance.log.getvalue()[since:].splitlines()]


def test_a_request_logs_one_line_with_user_route_and_status(instance: Instance, api: Api, make: Make) -> None:
    user = make.user()
    since = len(instance.log.getvalue())

    api.request("GET", f"/users/{user.id}", user, headers={"X-Request-Id": "look-for-me"}, params={"search": "hidden"})
    api.get("/user", user)  # A line is written after its response and before the response of the next request.

    (line,) = [line for line in _lines(instance, since) if line.get("request_id") == "look-for-me"]
    assert (line["event"], line["method"], line["route"], line["status"]) == ("request", "GET", "/users/:id", 200)
    assert line["user"] == user.username
    assert set(line) == {"time", "event", "request_id", "method", "route", "status", "ms", "user"}


def test_secrets_are_never_logged(instance: Instance, api: Api, make: Make) -> None:
    """Attack: secrets in every part of a request; none appears in the log."""
    since = len(instance.log.getvalue())
    user = make.user(password="a-password-of-the-log")
    private = api.get("/user", make.root, sudo=user.username).json()["private_token"]
    made = api.post(f"/users/{user.id}/impersonation_tokens", make.root, name="x", scopes=["api"]).json()["token"]
    secrets = [user.token, user.password, private, made, "a-wrong-password", "a-wrong-token", "a-new-password"]

    api.get("/user", private_token=private)
    api.get("/user", access_token=made)
    api.get("/nothing", private_token=private)
    api.get("/user", private_token="a-wrong-token")
    api.request("GET", "/user", headers={"Authorization": f"Bearer {made}"})
    api.request("PUT", "/user/status", data={"private_token": private})
    api.request("PUT", "/user/status", headers={"Cookie": f"_service_session={private}"})
    api.post("/session", login=user.username, password=user.password)
    api.post("/session", login=user.username, password="a-wrong-password")
    api.put(f"/users/{user.id}", make.root, password="a-new-password")
    api.request("PUT", f"/users/{user.id}?password=a-new-password", make.root, content=b"{", headers={"a": private})
    api.get("/user", user)

    written = instance.log.getvalue()[since:]
    assert len(written.splitlines()) >= 10
    assert [secret for secret in secrets if secret in written] == []


def test_request_data_cannot_break_out_of_a_log_line(instance: Instance, api: Api) -> None:
    """Every line is JSON."""
    since = len(instance.log.getvalue())
    api.request("GET", "/users/%22%7D%0A", headers={"User-Agent": '"}\\n{', "X-Request-Id": '"}'})
    api.request("GET", '/nothing/"}')
    api.get("/version")
    assert {line["event"] for line in _lines(instance, since)} == {"request"}
    _lines(instance, 0)
