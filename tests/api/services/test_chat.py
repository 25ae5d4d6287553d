"""Slack and Mattermost: one message per event, delivered like webhooks, without mentions."""

from typing import Any

import pytest
from sqlalchemy import bindparam, select

from ingot.webhooks.delivery.dispatcher import HookDispatcher
from ingot.webhooks.tables import hook_attempts, hooks
from tests.api.hooks.conftest import Clock
from tests.api.hooks.receiver import Answer, Receiver
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project

_ATTEMPTS = (
    select(hook_attempts)
    .join(hooks, hooks.c.id == hook_attempts.c.hook_id)
    .where(hooks.c.project_id == bindparam("id"))
)
WEBHOOK_PATH = "services-T0-w4y"


class ChatProject:
    """Project with a chat service."""

    def __init__(self, api: Api, make: Make, receiver: Receiver, instance: Instance, slug: str, **more: Any) -> None:
        self.project = make_project(make, initialize_with_readme=True)
        self.link = f"<{instance.url}/{self.project.path}|{self.project.path}>"
        self.url = f"{instance.url}/{self.project.path}"
        self.receiver = receiver
        self._api = api
        self._root = make.root
        self._slug = slug
        self.path = f"/{WEBHOOK_PATH}/{self.project.id}"
        self.set(**more)

    def set(self, **more: Any) -> None:
        """Configure the service."""
        sent = {"webhook": self.receiver.url(self.path), **more}
        made = self._api.put(f"{self.project.url}/services/{self._slug}", self._root, **sent)
        assert made.status_code == 200, made.text

    def call(self, method: str, path: str, /, **sent: Any) -> Any:
        """Call an endpoint of the project."""
        answer = self._api.request(method, f"{self.project.url}{path}", self._root, json=sent)
        assert answer.status_code in (200, 201, 204), answer.text
        return answer.json() if answer.content else None

    def commit(self, branch: str, message: str) -> str:
        """Commit a file."""
        action = {"action": "create", "file_path": message.split()[-1], "content": "x"}
        made = self.call("POST", "/repository/commits", branch=branch, commit_message=message, actions=[action])
        return str(made["id"])

    def next(self) -> Any:
        """Return the next message."""
        got = self.receiver.next()
        assert got.path == self.path
        return got.body

    def next_text(self) -> str:
        """Return the text of the next message."""
        return str(self.next()["text"])


@pytest.fixture
def slack(api: Api, make: Make, receiver: Receiver, dispatcher: HookDispatcher, instance: Instance) -> ChatProject:
    """Return a project with the Slack service."""
    return ChatProject(api, make, receiver, instance, "slack")


def test_pushes_and_tags(slack: ChatProject) -> None:
    first = slack.call("POST", "/repository/branches", branch="a&b", ref="master")["commit"]["id"]
    assert slack.next() == {
        "text": f"root pushed new branch <{slack.url}/commits/a%26b|a&amp;b> to {slack.link}",
        "attachments": [],
    }
    oid = slack.commit("a&b", "Call <!channel>\n\nto x.txt")
    message = slack.next()
    compare = f"<{slack.url}/compare/{first}...{oid}|Compare changes>"
    assert message["text"] == f"root pushed to branch <{slack.url}/commits/a%26b|a&amp;b> of {slack.link} ({compare})"
    (below,) = message["attachments"]
    line = f"<{slack.url}/commit/{oid}|{oid[:8]}>: Call &lt;!channel&gt; - Administrator"
    assert (below["text"], below["color"]) == (line, "#345")
    slack.call("DELETE", "/repository/branches/a&b")
    assert slack.next_text() == f"root removed branch a&amp;b from {slack.link}"
    slack.call("POST", "/repository/tags", tag_name="v1", ref="master")
    assert slack.next_text() == f"root pushed new tag <{slack.url}/commits/v1|v1> to {slack.link}"


def test_issues_and_notes_but_no_changes_and_no_system_notes(slack: ChatProject) -> None:
    issue = slack.call("POST", "/issues", title="A <b>", description="Details | more")
    message = slack.next()
    assert message["text"] == f"[{slack.link}] Issue opened by root"
    (below,) = message["attachments"]
    assert (below["title"], below["title_link"]) == ("#1 A &lt;b&gt;", f"{slack.url}/issues/1")
    assert (below["text"], below["color"]) == ("Details | more", "#C95823")

    slack.call("PUT", "/issues/1", title="B", add_labels="x")
    slack.call("PUT", "/issues/1", state_event="close")
    assert slack.next_text() == f"[{slack.link}] Issue <{slack.url}/issues/1|#1 B> closed by root"
    slack.call("PUT", "/issues/1", state_event="reopen")
    assert slack.next_text() == f"[{slack.link}] Issue <{slack.url}/issues/1|#1 B> reopened by root"
    note = slack.call("POST", f"/issues/{issue['iid']}/notes", body="Well <!here>")
    message = slack.next()
    there = f"<{slack.url}/issues/1#note_{note['id']}|commented on issue #1>"
    assert message["text"] == f"root {there} in {slack.link}: *B*"
    assert message["attachments"][0]["text"] == "Well &lt;!here&gt;"


def test_notes_on_commits_and_snippets(slack: ChatProject) -> None:
    oid = slack.call("GET", "/repository/commits/master")["id"]
    slack.call("POST", f"/repository/commits/{oid}/comments", note="Good")
    assert f"|commented on commit {oid[:8]}> in {slack.link}: *" in slack.next_text()
    snippet = slack.call(
        "POST", "/snippets", title="Piece", file_name="a", content="x", visibility="private", description=""
    )
    slack.call("POST", f"/snippets/{snippet['id']}/notes", body="Hm")
    assert f"|commented on snippet ${snippet['id']}> in {slack.link}: *Piece*" in slack.next_text()


def test_confidential_events_require_their_own_flag(slack: ChatProject) -> None:
    slack.call("POST", "/issues", title="Hidden", confidential=True)
    slack.call("POST", "/issues/1/notes", body="Hidden too")
    slack.call("POST", "/issues", title="Open")
    assert slack.next()["attachments"][0]["title"] == "#2 Open"
    slack.set(
        channel="#all", confidential_issue_channel="#few", confidential_issues_events=True,
        confidential_note_events=True, username="Bot",
    )  # fmt: skip
    slack.call("POST", "/issues", title="Now told", confidential=True)
    told = slack.next()
    assert (told["channel"], told["username"], told["attachments"][0]["title"]) == ("#few", "Bot", "#3 Now told")
    slack.call("POST", "/issues/3/notes", body="Also")
    told = slack.next()
    assert (told["channel"], told["attachments"][0]["text"]) == ("#all", "Also")


def test_wiki_page_events(slack: ChatProject) -> None:
    slack.call("POST", "/wikis", title="A page", content="Some *words*")
    message = slack.next()
    assert message["text"] == f"root created <{slack.url}/wikis/A-page|wiki page> in {slack.link}: *A page*"
    assert message["attachments"][0]["text"] == "Some *words*"
    slack.call("PUT", "/wikis/A-page", title="A page", content="Others")
    assert slack.next_text().startswith("root edited ")


def test_failed_pipelines_of_the_default_branch_by_default(slack: ChatProject) -> None:
    def finish(branch: str, name: str, state: str) -> None:
        oid = slack.call("GET", f"/repository/commits/{branch}")["id"]
        slack.call("POST", f"/statuses/{oid}", state=state, ref=branch, name=name)

    slack.set(push_events=False)
    slack.call("POST", "/repository/branches", branch="side", ref="master")
    finish("side", "one", "failed")
    finish("master", "one", "success")
    finish("master", "two", "failed")
    message = slack.next()
    (below,) = message["attachments"]
    assert (message["text"], below["color"]) == ("", "danger")
    assert f" of branch <{slack.url}/commits/master|master> by Administrator failed in 00:" in below["text"]
    slack.commit("side", "Write y.txt")
    slack.set(notify_only_broken_pipelines=False, branches_to_be_notified="all")
    finish("side", "two", "success")
    (below,) = slack.next()["attachments"]
    assert "|side> by Administrator passed in " in below["text"]
    assert below["color"] == "good"


def test_pushes_to_the_default_branch_only(slack: ChatProject) -> None:
    slack.set(branches_to_be_notified="default", push_channel="#pushes")
    slack.call("POST", "/repository/branches", branch="side", ref="master")
    slack.commit("master", "Write z.txt")
    told = slack.next()
    assert (told["channel"], "|master> of " in told["text"]) == ("#pushes", True)


def test_failed_messages_are_retried_and_the_url_is_not_logged(
    slack: ChatProject, make: Make, clock: Clock, dispatcher: HookDispatcher
) -> None:
    slack.receiver.answers[slack.path] = [Answer(503, f"no {slack.path}".encode()), Answer()]
    slack.call("POST", "/issues", title="Twice")
    first = slack.next()
    slack.call("POST", "/issues", title="Another")
    assert slack.next()["attachments"][0]["title"] == "#2 Another"
    clock.seconds += 60
    dispatcher.wake()
    assert slack.next() == first
    attempts = make.database.read(lambda db: db.rows(_ATTEMPTS, id=slack.project.id))
    assert attempts
    assert WEBHOOK_PATH not in str(attempts)


def test_disabled_and_deleted_services_send_nothing(slack: ChatProject, api: Api, make: Make) -> None:
    slack.set(active=False)
    slack.call("POST", "/issues", title="Unheard")
    slack.set(issues_events=False)
    slack.call("POST", "/issues", title="Unheard")
    slack.call("POST", "/issues/2/notes", body="Heard")
    assert slack.next()["attachments"][0]["text"] == "Heard"
    assert api.delete(f"{slack.project.url}/services/slack", make.root).status_code == 200
    slack.call("POST", "/issues", title="Unheard")
    slack.set()
    slack.call("POST", "/issues", title="Heard")
    assert slack.next()["attachments"][0]["title"] == "#4 Heard"


def test_services_are_not_listed_as_hooks(slack: ChatProject, api: Api, make: Make) -> None:
    found = make.database.read(
        lambda db: db.value(select(hooks.c.id).where(hooks.c.project_id == bindparam("id")), id=slack.project.id)
    )
    assert api.get(f"{slack.project.url}/hooks", make.root).json() == []
    for rest in ("", "/events"):
        assert api.get(f"{slack.project.url}/hooks/{found}{rest}", make.root).status_code == 404
    assert api.delete(f"{slack.project.url}/hooks/{found}", make.root).content == b""
    slack.call("POST", "/issues", title="Still heard")
    assert slack.next()["attachments"][0]["title"] == "#1 Still heard"


def test_mattermost_gets_the_same_messages(
    api: Api, make: Make, receiver: Receiver, dispatcher: HookDispatcher, instance: Instance
) -> None:
    chat = ChatProject(api, make, receiver, instance, "mattermost", channel="town-square", username="Ingot")
    chat.call("POST", "/issues", title="Here")
    told = chat.next()
    assert (told["channel"], told["username"]) == ("town-square", "Ingot")
    assert told["text"] == f"[{chat.link}] Issue opened by root"
