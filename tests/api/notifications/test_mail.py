"""Mail about issues and notes, through a real SMTP server: recipients and content."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from ingot.core.access.levels import Level
from ingot.core.markup.links import LinkContext
from ingot.core.markup.markdown import render
from ingot.notifications import emails
from tests.api.issues.factories import make_issue
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_group, make_project
from tests.smtp_server import Mailbox, mailbox, text_of


@pytest.fixture(scope="module")
def box(instance: Instance) -> Iterator[Mailbox]:
    """Yield the mailbox of the SMTP server."""
    with mailbox(instance) as arriving:
        yield arriving


def _recipients(box: Mailbox) -> set[str]:
    """Return the recipients, each once."""
    came = [address for address, _ in box.receive()]
    assert len(came) == len(set(came))
    return set(came)


def _issue(make: Make, box: Mailbox, project: Project, author: User, **attributes: Any) -> tuple[str, dict[str, Any]]:
    issue = make_issue(make, project, author, **attributes)
    box.receive()
    return f"/projects/{project.id}/issues/{issue['iid']}", issue


def test_a_thread_of_mails(api: Api, instance: Instance, make: Make, box: Mailbox) -> None:
    """Text and sanitized HTML; all mails of an issue form one thread."""
    author, assignee = make.user(name='Ädä \N{PILE OF POO} "Quote" <x>'), make.user()
    project = make_project(make, author, members={assignee: Level.DEVELOPER})
    text = "**Bold** <script>alert(1)</script> [x](javascript:alert(1))"
    title = "Ünï <b>\N{SNOWMAN}</b>"
    issue = make_issue(make, project, author, title=title, description=text, assignee_ids=[assignee.id])
    url = f"/projects/{project.id}/issues/{issue['iid']}"

    ((to, first),) = box.receive()

    assert to == first["To"] == assignee.email
    assert first["Subject"] == f"{project.name} | {title} (#{issue['iid']})"
    assert first["From"].addresses[0].addr_spec == "ingot@localhost"
    assert first["From"].addresses[0].display_name == "Ädä \N{PILE OF POO} Quote x"
    assert first["Message-ID"] == f"<issue_{issue['id']}@127.0.0.1>"
    assert first["List-Id"].startswith(f"<{project.path.split('/')[1]}.")
    assert first["Auto-Submitted"] == "auto-generated"
    page = f"{instance.settings.base_url}/{project.path}/issues/{issue['iid']}"
    assert page in text_of(first) and "Bold" in text_of(first)
    html = text_of(first, "html")
    assert "<strong>Bold</strong>" in html and page in html
    assert "<script" not in html and "<a" not in html.partition("<p style")[0]
    note = api.post(f"{url}/notes", assignee, body="I *see*").json()
    ((to, second),) = box.receive()
    assert (to, second["Subject"]) == (author.email, f"Re: {first['Subject']}")
    assert second["In-Reply-To"] == second["References"] == first["Message-ID"]
    assert second["Message-ID"] != first["Message-ID"]
    assert f"{page}#note_{note['id']}" in text_of(second)
    assert "I see" in text_of(second) and "<em>see</em>" in text_of(second, "html")


def test_a_text_is_rendered_once_without_blocking_writes(
    instance: Instance, make: Make, box: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For any number of recipients; other writes do not wait for the rendering."""
    author = make.user()
    readers = {make.user(): Level.DEVELOPER for _ in range(3)}
    project = make_project(make, author, members=readers)
    rendered: list[str] = []

    def render_during_a_write(text: str, place: LinkContext) -> str:
        with ThreadPoolExecutor(1) as somebody:
            somebody.submit(instance.app.database.write, lambda db: db.now).result(timeout=60)
        rendered.append(text)
        return render(text, place)

    monkeypatch.setattr(emails, "render", render_during_a_write)
    named = " ".join(f"@{reader.username}" for reader in readers)
    make_issue(make, project, author, description=f"*Look*, {named}")

    came = box.receive()

    assert {to for to, _ in came} == {reader.email for reader in readers}
    assert all("<em>Look</em>" in text_of(message, "html") for _, message in came)
    assert len(rendered) == 1


def test_recipients(api: Api, make: Make, box: Mailbox) -> None:
    """Participants, subscribers and mentioned users; never the author, nor users who unsubscribed."""
    author, commenter, follower, named, refusing, aside = (make.user() for _ in range(6))
    members = {commenter: Level.DEVELOPER, follower: Level.GUEST, named: Level.GUEST, refusing: Level.GUEST}
    project = make_project(make, author, members={**members, aside: Level.DEVELOPER})
    url, _ = _issue(make, box, project, author)
    api.post(f"{url}/subscribe", follower)
    api.post(f"{url}/notes", refusing, body="Never again")
    api.post(f"{url}/unsubscribe", refusing)
    box.receive()

    api.post(f"{url}/notes", commenter, body=f"For @{named.username}")
    assert _recipients(box) == {author.email, follower.email, named.email}
    api.put(url, author, state_event="close")
    assert _recipients(box) == {commenter.email, follower.email, named.email}
    api.put(url, author, state_event="reopen", assignee_ids=[aside.id])
    assert _recipients(box) == {commenter.email, follower.email, named.email, aside.email}
    api.put(url, author, assignee_ids=[author.id])
    assert _recipients(box) == {commenter.email, follower.email, named.email, aside.email}
    api.put(url, author, title="Nobody is told of another title")
    assert _recipients(box) == set()


LEVELS = [
    ("disabled", set()),
    ("mention", {"named"}),
    ("participating", {"named", "own"}),
    ("watch", {"named", "own", "other"}),
    ("custom", {"named", "own", "other"}),
]


@pytest.mark.parametrize(("level", "hears_of"), LEVELS)
@pytest.mark.parametrize("place", ["everywhere", "group", "project"])
def test_notification_levels(api: Api, make: Make, box: Mailbox, place: str, level: str, hears_of: set[str]) -> None:
    """The setting of the nearest parent counts; custom levels select single events."""
    person, author = make.user(), make.user()
    group = make_group(make, members={person: Level.DEVELOPER, author: Level.DEVELOPER})
    project = make_project(make, group=group)
    outside = make_project(make, author, visibility="public")
    urls = {"everywhere": "", "group": group.url, "project": project.url}
    assert api.put(f"{urls[place]}/notification_settings", person, level=level, new_issue=True).status_code == 200
    own, _ = _issue(make, box, project, person)

    make_issue(make, project, author)
    make_issue(make, outside, author)
    assert _recipients(box) == ({person.email} if "other" in hears_of else set()), "notes of others"
    api.post(f"{own}/notes", author, body="Well")
    assert _recipients(box) == ({person.email} if "own" in hears_of else set()), "participating"
    other, _ = _issue(make, box, project, author)
    api.post(f"{other}/notes", author, body=f"cc @{person.username}")
    assert _recipients(box) == ({person.email} if "named" in hears_of else set()), "mentions"
    another, _ = _issue(make, box, project, author)
    api.put(another, author, state_event="close")
    assert _recipients(box) == ({person.email} if level == "watch" else set()), "events that are not selected"


def test_custom_events(api: Api, make: Make, box: Mailbox) -> None:
    """A user with one custom event gets only that event, for issues and merge requests."""
    author = make.user()
    flags = ["new_note", "new_issue", "close_issue", "reopen_issue", "reassign_issue"]
    flags += [f"{what}_merge_request" for what in ("new", "close", "reopen", "reassign", "merge")]
    choosing = {flag: make.user() for flag in flags}
    members = dict.fromkeys(choosing.values(), Level.DEVELOPER)
    project = make_project(make, author, members=members, initialize_with_readme=True)
    base = f"/projects/{project.id}"
    for flag, person in choosing.items():
        assert api.put(f"{base}/notification_settings", person, level="custom", **{flag: True}).status_code == 200
    action = {"action": "create", "file_path": "new", "content": "x"}
    branch = {"branch": "work", "start_branch": "master", "commit_message": "More", "actions": [action]}
    assert api.post(f"{base}/repository/commits", author, **branch).status_code == 201
    offer = {"title": "mr", "source_branch": "work", "target_branch": "master"}
    acts: list[tuple[str, str, str, dict[str, Any]]] = [
        ("new_issue", "post", "issues", {"title": "issue"}),
        ("new_note", "post", "issues/1/notes", {"body": "x"}),
        ("close_issue", "put", "issues/1", {"state_event": "close"}),
        ("reopen_issue", "put", "issues/1", {"state_event": "reopen"}),
        ("reassign_issue", "put", "issues/1", {"assignee_ids": [author.id]}),
        ("new_merge_request", "post", "merge_requests", offer),
        ("new_note", "post", "merge_requests/1/notes", {"body": "x"}),
        ("close_merge_request", "put", "merge_requests/1", {"state_event": "close"}),
        ("reopen_merge_request", "put", "merge_requests/1", {"state_event": "reopen"}),
        ("reassign_merge_request", "put", "merge_requests/1", {"assignee_ids": [author.id]}),
        ("merge_merge_request", "put", "merge_requests/1/merge", {}),
    ]
    box.receive()
    for flag, verb, path, sent in acts:
        answer = getattr(api, verb)(f"{base}/{path}", author, **sent)
        assert answer.status_code in (200, 201), answer.text
        assert _recipients(box) == {choosing[flag].email}, flag


def test_notified_of_own_activity(api: Api, make: Make, box: Mailbox) -> None:
    """Only if enabled, and only for events that the user would get from others."""
    author = make.user()
    project = make_project(make, author)
    assert "notified_of_own_activity" not in api.get("/notification_settings", author).json()
    url, _ = _issue(make, box, project, author)
    said = api.put("/notification_settings", author, notified_of_own_activity=True).json()
    assert (said["notified_of_own_activity"], said["level"]) == (True, "participating")
    api.post(f"{url}/notes", author, body="to myself")
    assert _recipients(box) == {author.email}
    api.put("/notification_settings", author, level="disabled")
    api.post(f"{url}/notes", author, body="to nobody")
    assert _recipients(box) == set()
    api.put("/notification_settings", author, level="participating", notified_of_own_activity=False)
    api.post(f"{url}/notes", author, body="to nobody")
    assert _recipients(box) == set()


def test_reviewers_who_are_added_later(api: Api, make: Make, box: Mailbox) -> None:
    author, first, second = make.user(), make.user(), make.user()
    project = filled_project(make, author, members={first: Level.DEVELOPER, second: Level.DEVELOPER})
    request = make_merge_request(make, project, author)
    box.receive()
    url = f"{project.url}/merge_requests/{request['iid']}"
    api.put(url, author, reviewer_ids=[first.id])
    ((to, mail),) = box.receive()
    assert to == first.email
    assert "requested your review of merge request" in text_of(mail)
    api.put(url, author, reviewer_ids=[first.id, second.id, author.id])
    assert _recipients(box) == {second.email}
    api.put(url, author, reviewer_ids=[])
    assert _recipients(box) == set()


def test_authors_hear_of_requests_for_changes(api: Api, make: Make, box: Mailbox) -> None:
    author, reviewer = make.user(), make.user()
    project = filled_project(make, author, members={reviewer: Level.DEVELOPER})
    url = f"{project.url}/merge_requests/{make_merge_request(make, project, author)['iid']}"
    box.receive()
    sent = {"reviewer_state": "requested_changes"}
    assert api.post(f"{url}/draft_notes/bulk_publish", reviewer, **sent).status_code == 204
    ((to, mail),) = box.receive()
    assert to == author.email
    assert "requested changes to merge request" in text_of(mail)


def test_label_subscribers(api: Api, make: Make, box: Mailbox) -> None:
    author, follower = make.user(), make.user()
    project = make_project(make, author, visibility="public")
    label = api.post(f"{project.url}/labels", author, name="loud", color="#ff0000").json()
    api.post(f"{project.url}/labels/{label['id']}/subscribe", follower)
    make_issue(make, project, author, labels="loud")
    assert _recipients(box) == {follower.email}
    url, _ = _issue(make, box, project, author)
    api.put(url, author, add_labels="loud")
    assert _recipients(box) == {follower.email}
    api.put(url, author, add_labels="quiet")
    assert _recipients(box) == set()


def test_users_without_access_are_not_notified(api: Api, make: Make, box: Mailbox) -> None:
    """Attack: mail about confidential issues, internal notes, to removed or blocked users, or about deleted objects."""
    guest, reporter, leaving, blocked = (make.user() for _ in range(4))
    members = {guest: Level.GUEST, reporter: Level.REPORTER, leaving: Level.REPORTER, blocked: Level.REPORTER}
    project = make_project(make, visibility="private", members=members)
    people = list(members)
    url, _ = _issue(make, box, project, make.root)
    for person in people:
        api.post(f"{url}/notes", person, body="I take part")
    for person in people:
        api.put("/notification_settings", person, level="watch")
    box.receive()
    api.delete(f"{project.url}/members/{leaving.id}", make.root)
    api.post(f"/users/{blocked.id}/block", make.root)

    api.post(f"{url}/notes", make.root, body="Among us", internal=True)
    assert _recipients(box) == {reporter.email}
    api.put(url, make.root, state_event="close")
    assert _recipients(box) == {guest.email, reporter.email}
    api.post(f"{url}/notes", make.root, body="Before it becomes secret")
    api.put(url, make.root, confidential=True)
    assert _recipients(box) == {reporter.email}, "Issues made confidential before the mail was sent are not sent."
    note = api.post(f"{url}/notes", make.root, body="Taken back").json()["id"]
    api.delete(f"{url}/notes/{note}", make.root)
    assert _recipients(box) == set()
    make_issue(make, project, make.root, title="secret", confidential=True, description=f"@{guest.username}")
    assert _recipients(box) == {reporter.email}


def test_mentions_added_by_an_edit(api: Api, make: Make, box: Mailbox) -> None:
    """Only newly mentioned users are notified."""
    author, other, named = make.user(), make.user(), make.user()
    project = make_project(make, author, visibility="public")
    url, _ = _issue(make, box, project, author, description=f"@{other.username}")
    note = api.post(f"{url}/notes", author, body="well").json()["id"]
    box.receive()

    api.put(url, author, description=f"@{other.username} and @{named.username}")
    ((to, message),) = box.receive()
    assert to == named.email and "mentioned you" in text_of(message)
    api.put(f"{url}/notes/{note}", author, body=f"well, @{other.username}")
    assert _recipients(box) == {other.email}


def test_a_title_cannot_inject_a_header(api: Api, make: Make, box: Mailbox) -> None:
    """Line breaks and control characters in titles and names stay within their header."""
    author, person = make.user(), make.user()
    project = make_project(make, author, members={person: Level.DEVELOPER})
    hostile = "a\r\nBcc: victim@example.org\r\n\r\nbody\u2028\x07"
    sent = {"title": hostile, "assignee_ids": [person.id]}
    made = api.post(f"{project.url}/issues", author, **sent)
    assert made.status_code in (201, 400)
    came = box.receive()
    assert [to for to, _ in came] == ([person.email] if made.status_code == 201 else [])
    for _, message in came:
        assert message["Bcc"] is None
        assert "\n" not in message["Subject"]


def test_unsubscribe_link(api: Api, instance: Instance, make: Make, box: Mailbox) -> None:
    """Without signing in: GET changes nothing; the form and the one-click header unsubscribe."""
    author, one, other = make.user(), make.user(), make.user()
    project = make_project(make, author, visibility="public")
    url, issue = _issue(make, box, project, author)
    for person in (one, other):
        api.post(f"{url}/subscribe", person)
    api.post(f"{url}/notes", author, body="hello")
    mails = dict(box.receive())
    links = {}
    for person in (one, other):
        found = re.fullmatch(r"<(http[^>]+)>", mails[person.email]["List-Unsubscribe"])
        assert found and found[1] in text_of(mails[person.email])
        assert mails[person.email]["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        links[person] = found[1].removeprefix(instance.settings.base_url)

    with httpx.Client(base_url=instance.url) as browser:
        page = browser.get(links[one])
        assert page.status_code == 200 and issue["title"] not in page.text
        assert api.get(url, one).json()["subscribed"] is True
        assert browser.post(links[one]).status_code == 200
        assert browser.post(links[one]).status_code == 200
        assert api.get(url, one).json()["subscribed"] is False
        assert api.get(url, other).json()["subscribed"] is True
        forged = links[one].replace(f"/{one.id}-", f"/{other.id}-", 1)
        for wrong in (forged, links[other][:-15] + "0/unsubscribe", "/sent_notifications/x/unsubscribe"):
            assert browser.get(wrong).status_code == browser.post(wrong).status_code == 404, wrong
        assert api.get(url, other).json()["subscribed"] is True
        quick = browser.post(links[other], data={"List-Unsubscribe": "One-Click"})
        assert quick.status_code == 200
    api.post(f"{url}/notes", author, body="still there?")
    assert _recipients(box) == set()


def test_ids_and_urls_are_no_encoded_words(instance: Instance, make: Make) -> None:
    """RFC 2047 forbids encoded words in these headers, which mail programs then cannot read; long ones stay whole."""
    author, person = make.user(), make.user()
    name = make.name("long" * 30)
    project = make_project(make, author, path=name, name=name, members={person: Level.DEVELOPER})
    issue = make.api.post(f"{project.url}/issues", author, title="ü" * 90, assignee_ids=[person.id]).json()
    make.api.post(f"{project.url}/issues/{issue['iid']}/notes", author, body="hello")
    mails = [mail for mail in instance.mails() if f"List-Id: <{name}." in mail]
    assert len(mails) == 2
    for mail in mails:
        head = mail.partition("\n\n")[0]
        assert "=?utf-8?" in head, "The subject is encoded."
        found = dict(
            re.findall(r"^(List-Id|List-Unsubscribe|Message-ID|In-Reply-To|References): (.*)$", head, re.MULTILINE)
        )
        assert {"List-Id", "List-Unsubscribe", "Message-ID"} <= found.keys()
        assert all(re.fullmatch(r"<[^<>\s]+>", value) for value in found.values()), found
        assert len(found["List-Unsubscribe"]) > 78


def test_notification_address_and_format(api: Api, make: Make, box: Mailbox) -> None:
    """The chosen address, while it belongs to the user; plain text if preferred."""
    author, person = make.user(), make.user()
    project = make_project(make, author, visibility="public", members={person: Level.DEVELOPER})
    sent = {"email": f"{make.name()}@example.org", "skip_confirmation": True}
    further = api.post(f"/users/{person.id}/emails", make.root, **sent).json()
    api.put("/notification_settings", person, notification_email=further["email"])
    make_issue(make, project, author, assignee_ids=[person.id])
    assert _recipients(box) == {further["email"]}
    api.delete(f"/users/{person.id}/emails/{further['id']}", make.root)
    api.put("/application/settings", make.root, html_emails_enabled=False)
    try:
        make_issue(make, project, author, assignee_ids=[person.id])
        ((to, message),) = box.receive()
    finally:
        api.put("/application/settings", make.root, html_emails_enabled=True)
    assert (to, message.get_content_type()) == (person.email, "text/plain")
