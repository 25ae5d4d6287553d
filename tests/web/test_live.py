"""Live updates: who gets which events, and when a stream ends."""

import http.client
import re
from collections.abc import Callable
from contextlib import ExitStack
from html import unescape
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from ingot.web.live import streams
from ingot.webhooks.delivery.claims import hook_topic
from tests.api.merge_requests.factories import commit, filled_project, make_merge_request
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.event_stream import EventStream, stream_of
from tests.factories import make_group, make_project
from tests.second_instance import serving
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD


@pytest.fixture
def reader(open_browser: Callable[[], Browser], person: User) -> Browser:
    """Return a browser of a signed-in user."""
    return open_browser().signed_in_as(person)


@pytest.fixture
def issue(api: Api, person: User) -> dict[str, Any]:
    """Return an issue in a private project of the user."""
    project = api.post("/projects", person, name="live", visibility="private").json()
    issue: dict[str, Any] = api.post(f"/projects/{project['id']}/issues", person, title="Watched").json()
    return issue


def page_of(subject: dict[str, Any]) -> str:
    """Return the path of the page of a subject."""
    return urlsplit(str(subject["web_url"])).path


def comment(api: Api, issue: dict[str, Any], author: User) -> None:
    """Write a comment on an issue."""
    answer = api.post(f"/projects/{issue['project_id']}/issues/{issue['iid']}/notes", author, body="Hello")
    assert answer.status_code == 201, answer.text


def test_comment_reaches_only_users_who_see_the_issue(
    api: Api,
    make: Make,
    person: User,
    issue: dict[str, Any],
    reader: Browser,
    open_browser: Callable[[], Browser],
) -> None:
    path = stream_of(reader, page_of(issue))
    with EventStream(reader, path) as stream:
        assert stream.status == 200
        assert stream.response.headers["X-Accel-Buffering"] == "no"
        assert stream.response.headers["Content-Type"] == "text/event-stream"
        comment(api, issue, person)
        assert stream.next_event() == "change"
    stranger = open_browser().signed_in_as(make.user(password=PASSWORD))
    for other in (stranger, open_browser()):
        with EventStream(other, path) as stream:
            assert stream.status == 404
    for unknown in ("/-/live", "/-/live?kind=unknown", "/-/live?kind=issue&parent=x&number=%00"):
        with EventStream(reader, unknown) as stream:
            assert stream.status == 404


def test_reactions_through_the_api_are_announced(
    api: Api, person: User, issue: dict[str, Any], reader: Browser
) -> None:
    path = f"/projects/{issue['project_id']}/issues/{issue['iid']}"
    note = api.post(f"{path}/notes", person, body="A note").json()
    for awards in (f"{path}/award_emoji", f"{path}/notes/{note['id']}/award_emoji"):
        with EventStream(reader, stream_of(reader, page_of(issue))) as stream:
            award = api.post(awards, person, name="tada").json()
            assert stream.next_event() == "change"
            api.delete(f"{awards}/{award['id']}", person)
            assert stream.next_event() == "change"


def test_changes_page_updates_without_its_diff(make: Make, person: User, reader: Browser) -> None:
    project = filled_project(make, person, visibility="private")
    request = make_merge_request(make, project, person)
    page = f"/{project.path}/-/merge_requests/{request['iid']}"
    (source,) = re.findall(r'data-live-source="([^"]+)"', reader.get(f"{page}/diffs").text)
    fragment = {"HX-Request": "true"}
    same = reader.get(unescape(source), headers=fragment).text
    assert ("New commits" in same, "new comments" in same, 'class="diff' in same) == (False, False, False)
    make.api.post(f"{project.url}/merge_requests/{request['iid']}/notes", person, body="Look")
    assert "There are new comments." in reader.get(unescape(source), headers=fragment).text
    commit(make, project, request["source_branch"], {"more.txt": "more\n"}, person)
    assert "New commits were pushed." in reader.get(unescape(source), headers=fragment).text
    assert reader.get(f"{page}/live").headers["location"] == f"{page}/diffs"


def test_changes_since_the_page_was_rendered_are_reported_at_once(
    api: Api, person: User, issue: dict[str, Any], reader: Browser
) -> None:
    path = stream_of(reader, page_of(issue))
    with EventStream(reader, path):  # The worker listens from now on.
        comment(api, issue, person)
        with EventStream(reader, path) as later:
            assert later.next_event() == "change"
        with EventStream(reader, path.partition("&since=")[0]) as undated:
            assert undated.next_event() == "change"


def test_stream_ends_when_the_user_loses_access(
    api: Api, make: Make, person: User, issue: dict[str, Any], open_browser: Callable[[], Browser]
) -> None:
    member = make.user(password=PASSWORD)
    members = f"/projects/{issue['project_id']}/members"
    api.post(members, person, user_id=member.id, access_level=20)
    browser = open_browser().signed_in_as(member)
    with EventStream(browser, stream_of(browser, page_of(issue))) as stream:
        comment(api, issue, person)
        assert stream.next_event() == "change"
        api.delete(f"{members}/{member.id}", person)
        comment(api, issue, person)
        assert [stream.next_event(), stream.next_event()] == ["end", ""]


def test_stream_ends_with_the_session(issue: dict[str, Any], reader: Browser) -> None:
    with EventStream(reader, stream_of(reader, page_of(issue))) as stream:
        reader.post("/users/sign_out", data={"authenticity_token": reader.token()})
        assert [event for event in iter(stream.next_event, "") if event != "change"] == ["end"]


def test_number_of_streams_is_limited(issue: dict[str, Any], reader: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MAX_STREAMS_OF_CALLER", 2)
    path = stream_of(reader, page_of(issue))
    with EventStream(reader, path), EventStream(reader, path) as second, EventStream(reader, path) as third:
        assert (second.status, third.status) == (200, 503)


def test_merge_request_follows_its_branches_and_statuses(make: Make, person: User, reader: Browser) -> None:
    project = filled_project(make, person, visibility="private")
    request = make_merge_request(make, project, person)
    page = f"/{project.path}/-/merge_requests/{request['iid']}"
    statuses = f"{project.url}/statuses/{request['sha']}"
    with EventStream(reader, stream_of(reader, page)) as stream:
        make.api.post(statuses, person, state="running", name="build", ref=request["source_branch"])
        assert stream.next_event() == "change"
        commit(make, project, "master", {"moved.txt": "moved\n"}, person)
        assert stream.next_event() == "change"


def test_delivery_reaches_the_page_of_its_webhook(
    make: Make, person: User, reader: Browser, instance: Instance, issue: dict[str, Any]
) -> None:
    hook = make.api.post(f"/projects/{issue['project_id']}/hooks", person, url="https://hooks.example.org").json()
    page = page_of(issue).replace(f"issues/{issue['iid']}", f"hooks/{hook['id']}/edit")
    with EventStream(reader, stream_of(reader, page)) as stream:
        instance.app.database.announce(hook_topic(hook["id"]))
        assert stream.next_event() == "change"


def test_streams_end_when_the_worker_stops(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as second:
        owner = second.make.user(password=PASSWORD)
        project = second.api.post("/projects", owner, name="stopping").json()
        issue = second.api.post(f"/projects/{project['id']}/issues", owner, title="Watched").json()
        with Browser(second.url) as browser:
            browser.signed_in_as(owner)
            path = stream_of(browser, page_of(issue))
            with EventStream(browser, path) as stream:
                second.app.drain()
                assert stream.next_event() == ""
            with EventStream(browser, path) as refused:
                assert refused.status == 503


def test_streams_without_a_session_are_limited_by_network(
    api: Api, make: Make, person: User, instance: Instance, reader: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Addresses of one IPv6 network of 64 bits count as one; another network has its own streams."""
    project = api.post("/projects", person, name="public", visibility="public").json()
    issue = api.post(f"/projects/{project['id']}/issues", person, title="Watched").json()
    path = stream_of(reader, page_of(issue))
    monkeypatch.setattr(streams, "MAX_STREAMS_OF_CALLER", 1)
    monkeypatch.setattr(instance.app.front._origins, "_proxies", [ip_network("127.0.0.0/8")])

    def status(address: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", urlsplit(instance.url).port, timeout=30)
        opened.callback(connection.close)
        connection.request("GET", path, headers={"X-Forwarded-For": address})
        return connection.getresponse().status

    with ExitStack() as opened:
        addresses = ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "192.0.2.1")
        assert [status(address) for address in addresses] == [200, 503, 200, 200]


def test_streams_end_when_the_group_is_closed_to_the_address(
    api: Api, make: Make, person: User, reader: Browser
) -> None:
    """An open stream ends with the next change, and no other is opened; tests come from 127.0.0.1."""
    owner = make.user()
    group = make_group(make, owner, visibility="public", members={person: 30})
    project = make_project(make, owner, group=group, visibility="public")
    issue = api.post(f"{project.url}/issues", person, title="Watched").json()
    path = stream_of(reader, page_of(issue))
    with EventStream(reader, path) as stream:
        comment(api, issue, person)
        assert stream.next_event() == "change"
        assert api.put(group.url, owner, ip_restriction_ranges="192.0.2.0/24").status_code == 200
        comment(api, issue, make.root)
        assert [event for event in iter(stream.next_event, "") if event != "change"] == ["end"]
    with EventStream(reader, path) as stream:
        assert stream.status == 404
    for ranges in ("127.0.0.0/8", ""):
        assert api.put(group.url, owner, ip_restriction_ranges=ranges).status_code == 200
        with EventStream(reader, path) as stream:
            assert stream.status == 200
