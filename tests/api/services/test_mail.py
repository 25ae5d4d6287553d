"""Emails on push: recipients and content."""

import email
from email.policy import default
from typing import Any

import pytest

from ingot.integrations import jobs
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, make_project


class PushMailProject:
    """Project with the emails-on-push service, and its mailbox."""

    def __init__(self, api: Api, make: Make, instance: Instance) -> None:
        self.project: Project = make_project(make, initialize_with_readme=True)
        self.to = f"{make.name('reader')}@example.com"
        self._api, self._root, self._instance = api, make.root, instance
        self.set()

    def set(self, **more: Any) -> None:
        """Configure the service."""
        sent = {"recipients": self.to, **more}
        made = self._api.put(f"{self.project.url}/services/emails-on-push", self._root, **sent)
        assert made.status_code == 200, made.text

    def commit(self, message: str, *paths: str, branch: str = "master") -> str:
        """Commit files."""
        actions = [{"action": "create", "file_path": path, "content": f"in {path}\n"} for path in paths]
        made = self._api.post(
            f"{self.project.url}/repository/commits",
            self._root,
            branch=branch,
            commit_message=message,
            actions=actions,
        )
        assert made.status_code == 201, made.text
        return str(made.json()["id"])

    def call(self, method: str, path: str, /, **sent: Any) -> None:
        """Call another endpoint."""
        assert self._api.request(method, f"{self.project.url}{path}", self._root, json=sent).is_success

    def senders(self) -> list[str]:
        """Return the senders of all received mails."""
        parsed = [email.message_from_string(each, policy=default) for each in self._instance.mails()]
        return [str(each["From"]) for each in parsed if each["To"] == self.to]

    def mails(self, to: str = "") -> list[tuple[str, str]]:
        """Return subject and text of all received mails."""
        parsed = [email.message_from_string(each, policy=default) for each in self._instance.mails()]
        mine = [each for each in parsed if each["To"] == (to or self.to)]
        texts = [each.get_body(("plain",)) for each in mine]
        return [(str(each["Subject"]), text.get_content()) for each, text in zip(mine, texts, strict=True) if text]


@pytest.fixture
def inbox(api: Api, make: Make, instance: Instance) -> PushMailProject:
    """Return a project with a recipient."""
    return PushMailProject(api, make, instance)


def test_a_push_is_sent_with_commits_and_diff(inbox: PushMailProject, instance: Instance) -> None:
    inbox.set(recipients=f"{inbox.to}\nother-{inbox.to};{inbox.to}")
    oid = inbox.commit("Add ä\n\nand say why", "ä.txt", "b.txt")
    ((subject, text),) = inbox.mails()
    assert subject == f"[Git][{inbox.project.path}][master] Add ä"
    assert f"Administrator (@root) pushed to branch master at {inbox.project.path}" in text
    assert f"{instance.url}/{inbox.project.path}/commit/{oid}" in text
    assert "    and say why" in text
    assert "2 changed file(s):" in text
    assert "- ä.txt (new)" in text
    assert "+in b.txt" in text
    assert inbox.mails(f"other-{inbox.to}") == [(subject, text)]


def test_diffs_can_be_omitted_and_branches_selected(inbox: PushMailProject) -> None:
    inbox.set(disable_diffs=True, branches_to_be_notified="default")
    inbox.call("POST", "/repository/branches", branch="side", ref="master")
    inbox.commit("Not told", "x.txt", branch="side")
    inbox.commit("Told", "secret.txt")
    ((subject, text),) = inbox.mails()
    assert subject.endswith("[master] Told")
    assert "+in secret.txt" not in text


def test_new_and_deleted_branches_and_tags(inbox: PushMailProject) -> None:
    inbox.call("POST", "/repository/branches", branch="side", ref="master")
    inbox.call("DELETE", "/repository/branches/side")
    inbox.call("POST", "/repository/tags", tag_name="v1", ref="master")
    start = f"[Git][{inbox.project.path}]"
    assert sorted(subject for subject, _ in inbox.mails()) == [
        f"{start}[side] Deleted branch side",
        f"{start}[side] Pushed new branch side",
        f"{start}[v1] Pushed new tag v1",
    ]
    inbox.set(push_events=False, tag_push_events=False)
    inbox.commit("Unheard", "y.txt")
    inbox.call("POST", "/repository/tags", tag_name="v2", ref="master")
    assert len(inbox.mails()) == 3


def test_a_service_disabled_before_delivery_sends_nothing(inbox: PushMailProject) -> None:
    inbox.commit("Too late", "x.txt")
    inbox.set(active=False)
    assert inbox.mails() == []


def test_a_title_cannot_add_headers(inbox: PushMailProject) -> None:
    inbox.commit("Title\x0bBcc: victim@example.com\u2028X: y" + "z" * 500, "x.txt")
    ((subject, _),) = inbox.mails()
    assert subject.startswith(f"[Git][{inbox.project.path}][master] Title Bcc: victim")
    assert inbox.mails("victim@example.com") == []


def test_the_sender_is_the_user_who_pushed_if_the_domain_allows_it(
    inbox: PushMailProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox.set(send_from_committer_email=True)
    inbox.commit("One", "one.txt")
    assert "admin@example.com" not in inbox.senders()[0]
    monkeypatch.setattr(jobs, "is_sender_domain", lambda address, host: bool(address and host))
    inbox.commit("Two", "two.txt")
    assert inbox.senders()[1:] == ["Administrator <admin@example.com>"]
    inbox.set(send_from_committer_email=False)
    inbox.commit("Three", "three.txt")
    assert inbox.senders()[2] == inbox.senders()[0]


@pytest.mark.parametrize(
    ("address", "host", "allowed"),
    [
        ("ann@git.example.com", "git.example.com", True),
        ("ann@EXAMPLE.com", "git.example.com", True),
        ("ann@com", "git.example.com", False),
        ("ann@other.com", "git.example.com", False),
        ("ann@ple.com", "git.example.com", False),
        ("ann@sub.git.example.com", "git.example.com", False),
        ("ann@localhost", "localhost", False),
    ],
)
def test_domains_of_senders(address: str, host: str, allowed: bool) -> None:
    assert jobs.is_sender_domain(address, host) is allowed


class PipelineMailProject(PushMailProject):
    """Project with the pipelines-email service, and its mailbox."""

    def set(self, **more: Any) -> None:
        """Configure the service."""
        sent = {"recipients": self.to, **more}
        made = self._api.put(f"{self.project.url}/integrations/pipelines-email", self._root, **sent)
        assert made.status_code == 200, made.text

    def finish(self, state: str, name: str, branch: str = "master") -> None:
        """Report the status of a commit."""
        oid = self._api.get(f"{self.project.url}/repository/commits/{branch}", self._root).json()["id"]
        self.call("POST", f"/statuses/{oid}", state=state, ref=branch, name=name)


def test_results_of_pipelines(api: Api, make: Make, instance: Instance) -> None:
    inbox = PipelineMailProject(api, make, instance)
    inbox.call("POST", "/repository/branches", branch="side", ref="master")
    inbox.commit("On the side", "side.txt", branch="side")
    inbox.finish("success", "one")
    inbox.finish("failed", "one", "side")
    assert inbox.mails() == []
    inbox.finish("failed", "two")
    ((subject, text),) = inbox.mails()
    assert "has failed for master" in subject
    assert f"{instance.url}/{inbox.project.path}/pipelines/" in text

    pusher = "admin@example.com"
    before = len(inbox.mails(pusher))
    inbox.set(notify_only_broken_pipelines=False, branches_to_be_notified="all", add_pusher=True)
    inbox.finish("success", "one", "side")
    assert "has succeeded for side" in sorted(inbox.mails())[1][0]
    assert len(inbox.mails(pusher)) == before + 1
    for number, off in enumerate(({"pipeline_events": False}, {"active": False})):
        inbox.set(**off)
        inbox.commit("More", f"{number}.txt")
        inbox.finish("failed", "one")
    assert len(inbox.mails()) == 2
