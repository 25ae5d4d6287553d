"""Slash commands of chats: tokens, links to accounts, and the commands."""

import re
from typing import Any

import pytest

from tests.ci.pipelines.files import commit_files
from tests.ci.runner_client import project_runner
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_group, make_project
from tests.web.browser import Browser

PASSWORD = "correct horse battery"
TOKEN = "t0ken-of-the-chat"
TEAM = {"team_id": "T1", "team_domain": "team", "command": "/ingot"}


class Chat:
    """Project with slash commands, and a person in its chat."""

    def __init__(self, api: Api, make: Make, instance: Instance) -> None:
        self.api, self.instance = api, instance
        self.person: User = make.user(password=PASSWORD)
        self.project: Project = make_project(make, self.person, visibility="private")
        self.set(make.root)

    def set(self, actor: User, **more: Any) -> None:
        """Set up the service."""
        made = self.api.put(f"{self.project.url}/services/slack-slash-commands", actor, token=TOKEN, **more)
        assert (made.status_code, TOKEN in made.text) == (200, False), made.text

    def send(self, text: str, user_id: str = "U1", status: int = 200, **more: Any) -> Any:
        """Send a command as the chat does."""
        sent = {**TEAM, "token": TOKEN, "user_id": user_id, "user_name": "ann", "text": text, **more}
        path = f"{self.project.url}/services/slack_slash_commands/trigger"
        answer = self.api.request("POST", path, None, data=sent)
        assert answer.status_code == status, answer.text
        return answer.json()

    def link(self, user_id: str = "U1") -> str:
        """Return the path of the page that a new chat user is sent to."""
        reply = self.send("help", user_id)
        assert reply["response_type"] == "ephemeral"
        found = re.search(r"<http://[^/]+(/profile/chat_names/new\?token=[^|]+)\|", reply["text"])
        assert found is not None
        return found[1]

    def connect(self, browser: Browser, user_id: str = "U1") -> None:
        """Connect the account of a browser to the chat user."""
        path = self.link(user_id)
        assert "ann" in browser.get(path).text
        sent = {"authenticity_token": browser.token(), "token": path.partition("=")[2]}
        assert browser.post("/profile/chat_names", data=sent).status_code == 302


@pytest.fixture
def chat(api: Api, make: Make, instance: Instance) -> Chat:
    """Return a project with slash commands."""
    return Chat(api, make, instance)


@pytest.fixture
def connected(chat: Chat, instance: Instance) -> Chat:
    """Return a project whose chat user is connected to its owner."""
    with Browser(instance.url) as browser:
        chat.connect(browser.signed_in_as(chat.person))
    return chat


def test_the_token_is_checked(chat: Chat, make: Make) -> None:
    missing = {"message": "404 Service Not Found"}
    for token in ("wrong", "", "t0ken-ä"):
        assert chat.send("help", status=404, token=token) == missing
    for path in (
        "/projects/987654321/services/slack_slash_commands/trigger",
        "/projects/no%2Fproject/integrations/slack_slash_commands/trigger",
        f"{chat.project.url}/services/mattermost_slash_commands/trigger",
        f"{chat.project.url}/integrations/mattermost_slash_commands/trigger",
    ):
        answer = chat.api.post(path, None, **TEAM, token=TOKEN, user_id="U1", text="help")
        assert (answer.status_code, answer.json()) == (404, missing)
    assert chat.api.post(f"{chat.project.url}/services/slack_slash_commands/trigger", None).status_code == 400
    chat.set(make.root, active=False)
    assert chat.send("help", status=404) == missing


def test_a_chat_user_is_connected_and_disconnected(chat: Chat, make: Make, instance: Instance) -> None:
    assert "did not say" in chat.send("help", user_id="")["text"]
    other = make.user(password=PASSWORD)
    with Browser(instance.url) as browser:
        assert browser.get(chat.link()).status_code == 302  # To the page for signing in.
        chat.connect(browser.signed_in_as(chat.person))
        assert chat.send("help")["text"].startswith("Available commands:\n- /ingot issue show &lt;id&gt;")
        assert chat.send("What?")["text"].startswith("Unknown command")
        page = browser.get("/profile/chat_names").text
        assert "ann" in page
        assert "Last used" in page
        for token in ("", "nonsense", "AAAA", "A" * 200):
            assert browser.get(f"/profile/chat_names/new?token={token}").status_code == 404
            sent = {"authenticity_token": browser.token(), "token": token}
            assert browser.post("/profile/chat_names", data=sent).status_code == 404
        (number,) = re.findall(r"/profile/chat_names/(\d+)", page)
        with Browser(instance.url) as stranger:
            stranger.signed_in_as(other).post(
                f"/profile/chat_names/{number}", data={"authenticity_token": stranger.token(), "_method": "delete"}
            )
        assert chat.send("help")["text"].startswith("Available")
        browser.post(f"/profile/chat_names/{number}", data={"authenticity_token": browser.token(), "_method": "delete"})
    assert "Connect your account" in chat.send("help")["text"]


def test_issues(connected: Chat, make: Make) -> None:
    reply = connected.send("issue new A <title>\nWith text\n/label ~bug")
    assert reply["response_type"] == "in_channel"
    (shown,) = reply["attachments"]
    assert (shown["title"], shown["author_name"]) == ("A &lt;title&gt; · #1", connected.person.username)
    issue = connected.api.get(f"{connected.project.url}/issues/1", connected.person).json()
    assert (issue["title"], issue["description"]) == ("A <title>", "With text")
    assert issue["author"]["username"] == connected.person.username

    (shown,) = connected.send("issue show #1")["attachments"]
    assert (shown["title_link"], shown["text"]) == (issue["web_url"], "*Open*\nWith text")
    assert [field["value"] for field in shown["fields"]] == ["_None_"] * 3
    assert connected.send("issue show 99")["text"] == "Nothing was found."
    made = connected.api.post(f"{connected.project.url}/issues", connected.person, title="Hidden", confidential=True)
    assert made.status_code == 201
    assert connected.send("issue show 2")["response_type"] == "ephemeral"
    for number in range(5):
        connected.send(f"issue create Find {number}")
    reply = connected.send("issue search find")
    assert (reply["text"], len(reply["attachments"])) == ("The first 5 issues:", 5)
    assert connected.send("issue search hidden")["text"] == "Issues found: 1"
    assert connected.send("issue search nowhere")["text"] == "Nothing was found."
    assert "longer" in connected.send(f"issue new {'x' * 256}")["text"]


def test_commands_run_with_the_rights_of_the_account(connected: Chat, make: Make, instance: Instance) -> None:
    stranger, guest = make.user(password=PASSWORD), make.user(password=PASSWORD)
    connected.api.post(f"{connected.project.url}/members", make.root, user_id=guest.id, access_level=10)
    connected.send("issue new Open")
    connected.api.post(f"{connected.project.url}/issues", make.root, title="Hidden", confidential=True)
    for user_id, person in (("U2", stranger), ("U3", guest)):
        with Browser(instance.url) as browser:
            connected.connect(browser.signed_in_as(person), user_id)
    refused = "You are not allowed to do this."
    for text in ("help", "issue show 1", "issue new X", "issue search Open", "deploy a to b"):
        assert connected.send(text, "U2")["text"] == refused
    assert connected.send("issue show 1", "U3")["attachments"]
    assert connected.send("issue show 2", "U3")["text"] == "Nothing was found."
    assert connected.send("deploy a to b", "U3")["text"] == "There is no manual job for this deployment."
    assert connected.api.post(f"/users/{guest.id}/block", make.root).status_code == 201
    assert connected.send("issue show 1", "U3")["text"] == refused
    assert connected.api.put(connected.project.url, make.root, issues_access_level="disabled").status_code == 200
    for text in ("issue show 1", "issue new X", "issue search Open"):
        assert connected.send(text)["text"] == refused


def test_links_of_one_service_are_not_those_of_another(connected: Chat, make: Make) -> None:
    """A maintainer of another project could otherwise act as its users, by their ids in the chat."""
    other = Chat(connected.api, make, connected.instance)
    assert "Connect your account" in other.send("issue new X")["text"]


def test_services_of_groups_take_commands_too(api: Api, make: Make) -> None:
    group = make_group(make)
    project = make_project(make, group=group)
    made = api.put(f"{group.url}/integrations/mattermost-slash-commands", make.root, token=TOKEN, username="ingot")
    assert made.status_code == 200
    path = f"{project.url}/integrations/mattermost_slash_commands/trigger"
    answer = api.post(path, None, **TEAM, token=TOKEN, user_id="U1", user_name="ann", text="help")
    assert (answer.json()["username"], "Connect your account" in answer.json()["text"]) == ("ingot", True)


FILE = """
stages: [first, second]
deploy:
  stage: first
  script: deploy
  environment: staging
promote:
  stage: second
  script: promote
  when: manual
  environment: production
"""


def test_deployments(connected: Chat, make: Make) -> None:
    project = connected.project
    missing = "There is no manual job for this deployment."
    assert connected.send("deploy staging to production")["text"] == missing
    commit_files(make, project, {".gitlab-ci.yml": FILE})
    assert project_runner(make, project.id).must_take().finish().status_code == 200
    for text in ("deploy staging to elsewhere", "deploy elsewhere to production", "deploy production to staging"):
        assert connected.send(text)["text"] == missing
    protected = {"name": "production", "deploy_access_levels": [{"access_level": 60}]}
    rule = f"{project.url}/protected_environments"
    assert connected.api.post(rule, make.root, **protected).status_code == 201
    assert connected.send("deploy staging to production")["text"] == "You are not allowed to do this."
    assert connected.api.delete(f"{rule}/production", make.root).status_code == 204
    reply = connected.send("deploy staging to production")
    assert (reply["response_type"], "username" in reply) == ("in_channel", False)
    assert reply["text"].startswith("Deployment started from staging to production. <http")
    (pipeline,) = connected.api.get(f"{project.url}/pipelines", make.root).json()
    jobs = connected.api.get(f"{project.url}/pipelines/{pipeline['id']}/jobs", make.root).json()
    (promoted,) = [job for job in jobs if job["name"] == "promote"]
    assert (promoted["status"], promoted["user"]["username"]) == ("pending", connected.person.username)
    assert connected.send("deploy staging to production")["text"] == missing
