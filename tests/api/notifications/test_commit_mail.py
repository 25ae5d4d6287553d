"""Mail about comments on commits, through a real SMTP server: to mentioned users who can read the code."""

from collections.abc import Iterator

import pytest

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import filled_project
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project
from tests.smtp_server import Mailbox, mailbox, text_of


@pytest.fixture(scope="module")
def box(instance: Instance) -> Iterator[Mailbox]:
    """Yield the mailbox of the SMTP server."""
    with mailbox(instance) as arriving:
        yield arriving


def _commit(api: Api, project: Project, reader: User) -> str:
    oid: str = api.get(f"{project.url}/repository/commits/master", reader).json()["id"]
    return oid


def _recipients(box: Mailbox) -> set[str]:
    return {to for to, _ in box.receive()}


@pytest.mark.parametrize(
    ("attributes", "hears"),
    [
        ({"visibility": "private"}, {"reporter"}),
        ({"visibility": "public"}, {"reporter", "guest", "stranger"}),
        ({"visibility": "public", "repository_access_level": "private"}, {"reporter"}),
    ],
)
def test_mentioned_users_with_code_access_are_notified(
    api: Api, make: Make, box: Mailbox, attributes: dict[str, str], hears: set[str]
) -> None:
    owner = make.user()
    people = {name: make.user() for name in ("reporter", "guest", "stranger", "unnamed")}
    members = {people["reporter"]: Level.REPORTER, people["guest"]: Level.GUEST, people["unnamed"]: Level.DEVELOPER}
    project = filled_project(make, owner, members=members, visibility=attributes["visibility"])
    api.put(project.url, owner, **attributes)
    oid = _commit(api, project, owner)
    named = " ".join(f"@{people[name].username}" for name in ("reporter", "guest", "stranger"))
    box.receive()

    said = api.post(
        f"{project.url}/repository/commits/{oid}/comments", owner, note=f"Look, {named} and @{owner.username}"
    )

    assert said.status_code == 201, said.text
    assert _recipients(box) == {people[name].email for name in hears}, "Authors are not notified of their own comments."


def test_content_and_edits(api: Api, instance: Instance, make: Make, box: Mailbox) -> None:
    """Text and sanitized HTML; an edit notifies only newly mentioned users."""
    owner, named, later, silent = (make.user() for _ in range(4))
    members = dict.fromkeys((named, later, silent), Level.DEVELOPER)
    project = filled_project(make, owner, members=members)
    oid = _commit(api, project, owner)
    url = f"{project.url}/repository/commits/{oid}/discussions"
    assert api.put("/notification_settings", silent, level="disabled").status_code == 200
    box.receive()

    body = f"*Look*, @{named.username} @{silent.username} <script>alert(1)</script>"
    made = api.post(url, owner, body=body).json()
    ((to, message),) = box.receive()
    note = made["notes"][0]["id"]
    assert api.put(f"{url}/{made['id']}/notes/{note}", owner, body=f"{body} @{later.username}").status_code == 200
    assert _recipients(box) == {later.email}
    assert api.post(url, owner, body=f"Once more, @{named.username}").status_code == 201
    assert _recipients(box) == {named.email}, "An open todo does not prevent the mail."

    assert to == named.email
    assert message["Subject"].startswith(f"Re: {project.name} | ") and message["Subject"].endswith(f"({oid[:8]})")
    page = f"{instance.settings.base_url}/{project.path}/commit/{oid}#note_{note}"
    assert page in text_of(message) and page in text_of(message, "html")
    assert f"mentioned you in commit {oid[:8]}" in text_of(message)
    assert "<em>Look</em>" in text_of(message, "html")
    assert "<script>" not in text_of(message, "html")


def test_deleted_comments_and_removed_members(api: Api, make: Make, box: Mailbox) -> None:
    """A deleted comment is not sent, nor is a mail to a user removed before it was written."""
    owner, named = make.user(), make.user()
    project = filled_project(make, owner, members={named: Level.REPORTER})
    url = f"{project.url}/repository/commits/{_commit(api, project, owner)}/discussions"
    box.receive()

    made = api.post(url, owner, body=f"@{named.username}").json()
    assert api.delete(f"{url}/{made['id']}/notes/{made['notes'][0]['id']}", owner).status_code == 200
    assert _recipients(box) == set()
    assert api.post(url, owner, body=f"@{named.username}").status_code == 201
    api.delete(f"{project.url}/members/{named.id}", owner)
    assert _recipients(box) == set()


def test_a_commit_title_cannot_inject_a_header(api: Api, make: Make, box: Mailbox) -> None:
    owner, named = make.user(), make.user()
    project = filled_project(make, owner, members={named: Level.REPORTER})
    action = {"action": "create", "file_path": "odd", "content": "x"}
    sent = {"branch": "master", "commit_message": "a\rBcc: victim@example.org\x0b\u2028b", "actions": [action]}
    oid = api.post(f"{project.url}/repository/commits", owner, **sent).json()["id"]
    box.receive()

    api.post(f"{project.url}/repository/commits/{oid}/comments", owner, note=f"@{named.username}")

    ((to, message),) = box.receive()
    assert (to, message["Bcc"]) == (named.email, None)
