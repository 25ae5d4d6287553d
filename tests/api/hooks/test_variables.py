"""URL variables of webhooks, whose values only the receiver gets; and custom headers."""

from typing import Any

import pytest

from tests.api.hooks.conftest import HookedProject
from tests.api.hooks.receiver import Answer, Receiver
from tests.client import Api, Make
from tests.factories import make_group, make_project

SECRET = "hidden-way"


def hooks_path(make: Make, owner: str) -> str:
    """Return the path of the hooks of a new project or group, or of the instance."""
    if owner == "system":
        return "/hooks"
    return f"{make_project(make).url if owner == 'projects' else make_group(make).url}/hooks"


@pytest.mark.parametrize("owner", ["projects", "groups", "system"])
def test_values_of_variables_are_never_shown(api: Api, make: Make, owner: str) -> None:
    """Neither on creation nor later; each can be set and, if the URL does not use it, deleted."""
    place = hooks_path(make, owner)
    variables = [{"key": "way", "value": SECRET}, {"key": "spare", "value": "unused"}]
    url = "https://example.com/{way}/x"
    made = api.post(place, make.root, url=url, url_variables=variables)
    assert (made.status_code, made.json()["url"]) == (201, url), made.text
    assert made.json()["url_variables"] == [{"key": "way"}, {"key": "spare"}]
    hook = f"{place}/{made.json()['id']}"
    texts = [made.text, api.get(hook, make.root).text, api.get(place, make.root).text]
    assert api.put(f"{hook}/url_variables/way", make.root, value="another").status_code == 204
    assert api.put(f"{hook}/url_variables/a.b-c", make.root, value="third").status_code == 204
    for _ in range(2):
        assert api.delete(f"{hook}/url_variables/spare", make.root).status_code == 200
    needed = api.delete(f"{hook}/url_variables/way", make.root)
    assert needed.status_code == (400 if owner == "system" else 422), needed.text
    edited = api.put(hook, make.root, url=url, push_events=False)
    assert edited.json()["url_variables"] == [{"key": "way"}, {"key": "a.b-c"}]
    replaced = api.put(hook, make.root, url=url, url_variables=[{"key": "way", "value": "fourth"}])
    assert replaced.json()["url_variables"] == [{"key": "way"}]
    gone = api.delete(hook, make.root)
    assert gone.status_code == 200
    assert not any(value in text for value in (SECRET, "another", "third") for text in (*texts, edited.text, gone.text))


def _pair(key: str, value: str) -> dict[str, str]:
    return {"key": key, "value": value}


@pytest.mark.parametrize(
    ("status", "sent"),
    [
        (422, {"url": "http://example.com/{way}"}),
        (422, {"url": "http://example.com/{way}", "url_variables": [_pair("other", "x")]}),
        (422, {"url": "http://{host}/", "url_variables": [_pair("host", "127.0.0.1")]}),
        (422, {"url": "http://{host}/", "url_variables": [_pair("host", "localhost")]}),
        (422, {"url": "{scheme}://example.com/", "url_variables": [_pair("scheme", "file")]}),
        (422, {"url": "http://{a}@example.com/", "url_variables": [_pair("a", "elsewhere.example/")]}),
        (422, {"url": "http://example.com/{a}", "url_variables": [_pair("a", "x y")]}),
        (422, {"url": "http://example.com/{a}", "url_variables": [_pair("a", "x\r\nHost: y")]}),
        (400, {"url": "http://example.com/{a}", "url_variables": [_pair("a", "")]}),
        (400, {"url": "http://example.com/{a}", "url_variables": [_pair("a", "x"), _pair("a", "y")]}),
        (400, {"url": "http://example.com/", "url_variables": [_pair("1", "x")]}),
        (400, {"url": "http://example.com/", "url_variables": [_pair("a b", "x")]}),
        (400, {"url": "http://example.com/", "url_variables": [_pair(f"a{each}", "x") for each in range(21)]}),
        (400, {"url": "http://example.com/", "url_variables": [{"key": "a"}]}),
        (400, {"url": "http://example.com/", "url_variables": "a"}),
    ],
)
def test_invalid_variables_are_rejected(api: Api, make: Make, status: int, sent: dict[str, Any]) -> None:
    """Attack: a variable contains a URL that the address check would reject, or changes the structure of the URL."""
    place = hooks_path(make, "projects")
    refused = api.post(place, make.root, **sent)
    assert refused.status_code == status, refused.text
    assert api.get(place, make.root).json() == []


def test_only_the_receiver_gets_the_values(hooked: HookedProject, receiver: Receiver, api: Api, make: Make) -> None:
    """Attack: the log shows variable names, also where the receiver echoes a value, a token or a user."""
    where = receiver.url("/{way}?token=asked-for").replace("://", "://{user}:{word}@")
    variables = [_pair("way", SECRET), _pair("user", "me"), _pair("word", "pass-word")]
    hooked.put(f"/hooks/{hooked.hook.rpartition('/')[2]}", url=where, url_variables=variables)
    echoed = f"{SECRET} asked-for bWU6cGFzcy13b3Jk me:pass-word"
    receiver.answers[f"/{SECRET}?token=asked-for"] = [Answer(200, echoed.encode())]
    hooked.post("/issues", title="One")
    got = receiver.next()
    assert (got.path, got.headers["authorization"]) == (f"/{SECRET}?token=asked-for", "Basic bWU6cGFzcy13b3Jk")
    hooked.post("/issues", title="Two")  # The first delivery is logged by now.
    receiver.next()
    (event, *_) = api.get(f"{hooked.hook}/events", make.root).json()
    assert event["url"] == receiver.url("/{way}?token=*****").replace("://", "://*****:*****@")
    assert set(event["response_body"].split()) == {"*****"}


def test_another_server_gets_no_secrets(hooked: HookedProject, receiver: Receiver, api: Api, make: Make) -> None:
    """Attack: a master who does not know the token points a variable at another server."""
    hook = f"/projects/{hooked.project.id}/hooks/{hooked.hook.rpartition('/')[2]}"
    url = f"http://{{host}}:{receiver.port}/{{way}}"
    sent = {"url": url, "url_variables": [_pair("host", "127.0.0.1"), _pair("way", "one")], "token": "the token"}
    assert api.put(hook, make.root, **sent).status_code == 200

    def received() -> tuple[str, str | None, str | None]:
        hooked.post("/issues", title="One")
        got = receiver.next()
        return got.path, got.headers.get("x-gitlab-token"), got.headers.get("x-mine")

    assert api.put(f"{hook}/custom_headers/X-Mine", make.root, value="first").status_code == 204
    assert api.put(f"{hook}/custom_headers/x-mine", make.root, value="mine").status_code == 204
    assert api.get(hook, make.root).json()["custom_headers"] == [{"key": "x-mine"}]
    assert received() == ("/one", "the token", "mine")
    assert api.put(f"{hook}/url_variables/way", make.root, value="two").status_code == 204
    hooked.delete(f"{hook.removeprefix(hooked.url)}/custom_headers/X-Mine")
    assert received() == ("/two", "the token", None)
    assert api.put(f"{hook}/url_variables/host", make.root, value="localhost").status_code == 204
    assert received() == ("/two", None, None)
    for name in ("Host", "a b", "x-gitlab-token"):
        assert api.put(f"{hook}/custom_headers/{name}", make.root, value="x").status_code == 400


def test_custom_headers_of_a_group_hook(api: Api, make: Make) -> None:
    """As for a project; values are hidden."""
    group = make_group(make)
    hook = api.post(f"{group.url}/hooks", make.root, url="https://example.com/").json()
    assert (
        api.put(f"/groups/{group.id}/hooks/{hook['id']}/custom_headers/X-A", make.root, value=SECRET).status_code == 204
    )
    shown = api.get(f"/groups/{group.id}/hooks/{hook['id']}", make.root)
    assert (shown.json()["custom_headers"], SECRET in shown.text) == ([{"key": "X-A"}], False)
    assert api.delete(f"/groups/{group.id}/hooks/{hook['id']}/custom_headers/X-A", make.root).status_code == 200
    assert api.get(f"/groups/{group.id}/hooks/{hook['id']}", make.root).json()["custom_headers"] == []


def test_url_variables_of_a_system_hook(api: Api, make: Make) -> None:
    """Only administrators set them."""
    hook = api.post("/hooks", make.root, url="https://example.com/").json()
    assert api.put(f"/hooks/{hook['id']}/url_variables/way", make.user(), value="x").status_code == 403
    assert api.put(f"/hooks/{hook['id']}/url_variables/way", make.root, value="x").status_code == 204
    assert api.get(f"/hooks/{hook['id']}", make.root).json()["url_variables"] == [{"key": "way"}]
    assert api.delete(f"/hooks/{hook['id']}/url_variables/way", make.root).status_code == 200
    assert api.delete(f"/hooks/{hook['id']}", make.root).json()["url_variables"] == []
