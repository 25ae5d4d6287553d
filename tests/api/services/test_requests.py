"""Requests of services to other servers: the exact request for each, filters, failures and secrets."""

import base64
import json
import socket
import threading
from typing import Any
from urllib.parse import parse_qs

import pytest
from sqlalchemy import bindparam, func, select

from ingot.integrations import requests
from ingot.integrations.requests import REQUESTS
from ingot.webhooks.delivery.dispatcher import HookDispatcher
from ingot.webhooks.delivery.tables import hook_deliveries
from ingot.webhooks.tables import Hook, hook_attempts, hooks
from tests.api.hooks.conftest import Clock
from tests.api.hooks.receiver import Answer, Got, Receiver
from tests.client import Api, Make
from tests.factories import changed_settings, make_project

_HOOK = select(hooks).where(hooks.c.project_id == bindparam("id"))
_WAITING = (
    select(func.count())
    .select_from(hook_deliveries)
    .join(hooks, hooks.c.id == hook_deliveries.c.hook_id)
    .where(hooks.c.project_id == bindparam("id"), hook_deliveries.c.state == "waiting")
)
_ATTEMPTS = (
    select(hook_attempts)
    .join(hooks, hooks.c.id == hook_attempts.c.hook_id)
    .where(hooks.c.project_id == bindparam("id"))
)
TOKEN = "t0ken-of-the-service"
BASIC = "Basic " + base64.b64encode(b"bot:w0rd-of-the-bot").decode()


class Sender:
    """Project whose services send to a receiver."""

    def __init__(self, api: Api, make: Make, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
        self.project = make_project(make, initialize_with_readme=True)
        self.receiver = receiver
        self._api, self._root = api, make.root
        for slug, entry in REQUESTS.items():
            if entry.address.startswith("https:"):
                path = entry.address.removeprefix("https://").partition("/")[2]
                monkeypatch.setitem(REQUESTS, slug, entry._replace(address=receiver.url(f"/{path}").rstrip("/")))

    def set(self, slug: str, status: int = 200, /, **sent: Any) -> Any:
        """Set up a service."""
        made = self._api.put(f"{self.project.url}/integrations/{slug}", self._root, **sent)
        assert made.status_code == status, made.text
        return made.json()

    def call(self, method: str, path: str, /, **sent: Any) -> Any:
        """Call an endpoint of the project."""
        answer = self._api.request(method, f"{self.project.url}{path}", self._root, json=sent)
        assert answer.status_code in (200, 201, 204), answer.text
        return answer.json() if answer.content else None

    def commit(self, message: str, branch: str = "master") -> Any:
        """Commit a file; the name of a new branch makes it start at the default one."""
        action = {"action": "create", "file_path": f"{abs(hash(message))}", "content": "x"}
        more = {} if branch == "master" else {"start_branch": "master"}
        return self.call("POST", "/repository/commits", branch=branch, commit_message=message, actions=[action], **more)

    def next(self, method: str, path: str) -> Got:
        """Return the next request."""
        got = self.receiver.next()
        assert (got.method, got.path) == (method, path)
        return got


@pytest.fixture
def sender(
    api: Api, make: Make, receiver: Receiver, dispatcher: HookDispatcher, monkeypatch: pytest.MonkeyPatch
) -> Sender:
    """Return a project without services."""
    return Sender(api, make, receiver, monkeypatch)


def form(got: Got) -> dict[str, str]:
    """Return the fields of a form."""
    assert got.headers["content-type"] == "application/x-www-form-urlencoded"
    return {name: values[0] for name, values in parse_qs(got.raw.decode()).items()}


def test_teams_gets_cards(sender: Sender) -> None:
    webhook = sender.receiver.url("/teams")
    sender.set("microsoft-teams", webhook=webhook)
    sender.call("POST", "/issues", title="A [link](x) & <b>", description="Why")
    (attachment,) = sender.next("POST", "/teams").body["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    texts = [block["text"] for block in attachment["content"]["body"]]
    url = sender.call("GET", "")["web_url"]
    path = sender.project.path
    assert texts == [path, f"\\[[{path}]({url})\\] Issue opened by root", "Why"]
    sender.call("PUT", "/issues/1", state_event="close")
    (attachment,) = sender.next("POST", "/teams").body["attachments"]
    link = f"[#1 A \\[link\\](x) & <b>]({url}/issues/1)"
    assert attachment["content"]["body"][1]["text"] == f"\\[[{path}]({url})\\] Issue {link} closed by root"
    sender.set("microsoft-teams", webhook=webhook, issues_events=False, branches_to_be_notified="default")
    sender.call("POST", "/issues", title="Not sent")
    sender.commit("Not sent either", "side")
    sender.commit("Sent")
    (attachment,) = sender.next("POST", "/teams").body["attachments"]
    assert "Sent" in attachment["content"]["body"][2]["text"]


def test_asana_gets_comments_and_completions(sender: Sender) -> None:
    assert TOKEN not in json.dumps(sender.set("asana", api_key=TOKEN, restrict_to_branch="master, stable"))
    sender.receiver.answers["/api/1.0/tasks/404/stories"] = [Answer(404)]
    sender.commit("Unheard #1", "side")
    commit = sender.commit("See #404, fixes #12 and https://app.asana.com/0/77/987654")
    text = (
        f"Administrator pushed to branch master of {sender.project.path} ( {commit['web_url'].replace('/-/', '/')} ): "
        "See #404, fixes #12 and https://app.asana.com/0/77/987654"
    )
    for method, task, data in [
        ("POST", "404/stories", {"text": text}),
        ("POST", "12/stories", {"text": text}),
        ("PUT", "12", {"completed": True}),
        ("POST", "987654/stories", {"text": text}),
    ]:
        got = sender.next(method, f"/api/1.0/tasks/{task}")
        assert (got.headers["authorization"], got.body) == (f"Bearer {TOKEN}", {"data": data})


def test_pivotal_tracker_gets_commits(sender: Sender) -> None:
    sender.set("pivotaltracker", token=TOKEN, restrict_to_branch="master")
    sender.commit("Unheard", "side")
    commit = sender.commit("[#5] Write")
    got = sender.next("POST", "/services/v5/source_commits")
    assert got.headers["x-trackertoken"] == TOKEN
    source = got.body["source_commit"]
    assert (source["commit_id"], source["author"], source["message"]) == (commit["id"], "Administrator", "[#5] Write")


def test_assembla_gets_pushes(sender: Sender) -> None:
    sender.set("assembla", token=TOKEN, subdomain="space")
    commit = sender.commit("Write")
    got = sender.next("POST", f"/spaces/space/github_tool?secret_key={TOKEN}")
    assert got.body["payload"]["after"] == commit["id"]


def test_pushover_gets_a_form(sender: Sender) -> None:
    sender.set("pushover", api_key=TOKEN, user_key="the-user", priority="0", sound="bike")
    sender.commit("Write")
    assert form(sender.next("POST", "/1/messages.json")) == {
        "token": TOKEN,
        "user": "the-user",
        "priority": "0",
        "sound": "bike",
        "title": sender.project.path,
        "message": 'Administrator pushed to branch "master".\nTotal commits count: 1',
        "url": sender.call("GET", "")["web_url"],
        "url_title": f"See project {sender.project.path}",
    }


def test_buildkite_gets_webhooks(sender: Sender) -> None:
    address = sender.receiver.url("/team/pipeline")
    sender.set("buildkite", token=f"{TOKEN}:status", project_url=address)
    commit = sender.commit("Write")
    got = sender.next("POST", f"/deliver/{TOKEN}")
    assert (got.headers["x-gitlab-event"], got.body["after"]) == ("Push Hook", commit["id"])


def test_build_servers_prefer_merge_requests_to_pushes(sender: Sender) -> None:
    sender.set("drone-ci", token=TOKEN, drone_url=sender.receiver.url("/drone/"))
    owner, _, name = sender.project.path.rpartition("/")
    path = f"/drone/hook?owner={owner}&name={name}&access_token={TOKEN}"
    commit = sender.commit("Write", "side")
    assert sender.next("POST", path).body["after"] == commit["id"]
    sender.call("POST", "/merge_requests", source_branch="side", target_branch="master", title="Do")
    assert sender.next("POST", path).body["object_kind"] == "merge_request"
    sender.call("PUT", "/merge_requests/1", title="Do it")
    action = {"action": "create", "file_path": "more", "content": "x"}
    sender.call("POST", "/repository/commits", branch="side", commit_message="More", actions=[action])
    body = sender.next("POST", path).body
    assert (body["object_kind"], "oldrev" in body["object_attributes"]) == ("merge_request", True)
    sender.call("PUT", "/merge_requests/1", state_event="close")
    sender.call("DELETE", "/repository/branches/side")
    sender.call("POST", "/repository/tags", tag_name="v1", ref="master")
    assert sender.next("POST", path).body["object_kind"] == "tag_push"


def test_teamcity_gets_a_build(sender: Sender) -> None:
    address = sender.receiver.url("/tc")
    sender.set("teamcity", teamcity_url=address, build_type='a"b', username="bot", password="w0rd-of-the-bot")
    sender.commit("Write", 'side-"&"')
    got = sender.next("POST", "/tc/httpAuth/app/rest/buildQueue")
    assert (got.headers["content-type"], got.headers["authorization"]) == ("application/xml", BASIC)
    assert got.raw.decode() == "<build branchName='side-\"&amp;\"'><buildType id='a\"b'/></build>"


def test_bamboo_is_asked_to_build(sender: Sender) -> None:
    address = sender.receiver.url("/bamboo/")
    sender.set("bamboo", bamboo_url=address, build_key="KEY", username="bot", password="w0rd-of-the-bot")
    sender.commit("Write")
    got = sender.next("GET", "/bamboo/updateAndBuild.action?buildKey=KEY&os_authType=basic")
    assert (got.headers["authorization"], got.raw) == (BASIC, b"")


def test_campfire_looks_for_the_room(sender: Sender) -> None:
    sender.set("campfire", token=TOKEN, subdomain="team", room="Lobby")
    rooms = {"rooms": [{"id": 1, "name": "Other"}, {"id": 22, "name": "Lobby"}]}
    sender.receiver.answers["/rooms.json"] = [Answer(200, json.dumps(rooms).encode()), Answer(200, b"<html>")]
    sender.commit("Write")
    login = "Basic " + base64.b64encode(f"{TOKEN}:X".encode()).decode()
    assert sender.next("GET", "/rooms.json").headers["authorization"] == login
    message = sender.next("POST", "/room/22/speak.json").body["message"]
    assert message["type"] == "TextMessage"
    assert message["body"].startswith(f"[{sender.project.path}] Administrator pushed 1 commits to master. http")
    for title in ("Nothing to speak to", "Again"):
        sender.commit(title)
        sender.next("GET", "/rooms.json")


def test_hipchat_gets_html(sender: Sender) -> None:
    server = sender.receiver.url()
    sender.set("hipchat", token=TOKEN, room="A room", server=server, notify=True, color="purple")
    sender.call("POST", "/issues", title="<b>", description="& more")
    got = sender.next("POST", "/v2/room/A%20room/notification")
    url, path = sender.call("GET", "")["web_url"], sender.project.path
    assert got.headers["authorization"] == f"Bearer {TOKEN}"
    assert got.body == {
        "from": "Ingot",
        "message": f'[<a href="{url}">{path}</a>] Issue opened by root<pre>&amp; more</pre>',
        "message_format": "html",
        "color": "purple",
        "notify": True,
    }
    sender.set("hipchat", token=TOKEN, room="7", server=server, api_version="v1", issues_events=False)
    oid = sender.call("GET", "/repository/commits/master")["id"]
    sender.call("POST", f"/statuses/{oid}", state="failed", ref="master", name="one")
    fields = form(sender.next("POST", f"/v1/rooms/message?auth_token={TOKEN}"))
    assert (fields["room_id"], fields["color"], fields["notify"]) == ("7", "red", "1")


def test_irker_gets_lines(sender: Sender) -> None:
    lines: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def receive() -> None:
            connection, _ = server.accept()
            with connection, connection.makefile() as file:
                lines.extend(file)

        thread = threading.Thread(target=receive)
        thread.start()
        sender.set(
            "irker",
            recipients="irc://irc.example.com/#one two",
            default_irc_uri="irc://other.example.com",
            server_host="127.0.0.1",
            server_port=server.getsockname()[1],
            colorize_messages=True,
        )
        commit = sender.commit("Write")
        thread.join(60)
    pushed, detail = [json.loads(line) for line in lines]
    assert pushed["to"] == detail["to"] == ["irc://irc.example.com/#one", "irc://other.example.com/two"]
    name = sender.project.path.rpartition("/")[2]
    assert pushed["privmsg"].startswith(f"[\x0304{name}\x0f] Administrator pushed \x021\x0f new commit to ")
    assert detail["privmsg"].endswith(f"\x0314{commit['id'][:8]}\x0f Administrator (\x03121 file\x0f): Write")


def test_failures_are_retried_and_secrets_are_not_logged(
    sender: Sender, make: Make, clock: Clock, dispatcher: HookDispatcher
) -> None:
    address = sender.receiver.url()
    sender.set("bamboo", bamboo_url=address, build_key="K", username="bot", password="w0rd-of-the-bot")
    sender.set("drone-ci", token=TOKEN, drone_url=address)
    path = "/updateAndBuild.action?buildKey=K&os_authType=basic"
    sender.receiver.answers[path] = [Answer(503, b"no bot:w0rd-of-the-bot"), Answer()]
    sender.commit("Write")
    assert sorted(got.method for got in sender.receiver.some(2)) == ["GET", "POST"]
    clock.seconds += 60
    dispatcher.wake()
    sender.next("GET", path)
    sender.set("bamboo", bamboo_url=address, build_key="K", username="bot", password="other", push_events=False)
    sender.set("drone-ci", token=TOKEN, drone_url=address, active=False)
    sender.commit("Unheard")
    stored = make.database.read(lambda db: [*db.rows(_ATTEMPTS, id=sender.project.id)])
    assert stored
    for secret in (TOKEN, "w0rd-of-the-bot", BASIC):
        assert secret not in str(stored)


def test_verification_of_certificates_and_changed_addresses(sender: Sender, make: Make) -> None:
    def hook() -> Hook:
        found = make.database.read(lambda db: db.first(Hook, _HOOK, id=sender.project.id))
        assert found is not None
        return found

    sender.set("buildkite", token=TOKEN, project_url="https://buildkite.example.com/a")
    assert hook().enable_ssl_verification is True
    sender.set("buildkite", token=TOKEN, project_url="https://buildkite.example.com/a", enable_ssl_verification=False)
    assert hook().enable_ssl_verification is False
    assert TOKEN not in str(hook())


def test_a_silent_server_sends_nothing(sender: Sender, make: Make, dispatcher: HookDispatcher) -> None:
    sender.set("pushover", api_key=TOKEN, user_key="u", priority="0")
    with changed_settings(make, silent_mode_enabled=True):
        sender.commit("Unheard")
        while make.database.read(lambda db: db.value(_WAITING, id=sender.project.id)):
            dispatcher.wake()
    sender.commit("Write\nmore")
    assert sender.receiver.next().raw
    assert sender.receiver.got.empty()


def test_unset_addresses_have_defaults() -> None:
    assert requests.service_address("hipchat", {}) == "https://api.hipchat.com"
    assert requests.service_address("hipchat", {"server": "chat.example.com"}) == "https://chat.example.com"
    assert requests.service_address("irker", {}) == "http://localhost:6659"
    assert requests.service_address("campfire", {"subdomain": "team"}) == "https://team.campfirenow.com"
