"""Subscriptions, participants and links of issues."""

import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue
from tests.client import Api, Make
from tests.factories import ids, make_project


def test_subscribe_and_unsubscribe(api: Api, make: Make) -> None:
    """Both are idempotent."""
    owner, other = make.user(), make.user()
    project = make_project(make, owner, visibility="public")
    iid = make_issue(make, project, owner)["iid"]
    base = f"/projects/{project.id}/issues/{iid}"

    assert api.get(base, owner).json()["subscribed"] is True
    assert api.get(base, other).json()["subscribed"] is False
    assert api.post(f"{base}/unsubscribe", other).status_code == 304
    followed = api.post(f"/projects/{project.id}/issues/{iid}/subscribe", other)
    assert (followed.status_code, followed.json()["subscribed"]) == (201, True)
    again = api.post(f"{base}/subscribe", other)
    assert (again.status_code, again.content) == (304, b"")
    assert api.get(base, other).json()["subscribed"] is True
    left = api.post(f"/projects/{project.id}/issues/{iid}/unsubscribe", owner)
    assert (left.status_code, left.json()["subscribed"]) == (201, False)
    assert api.post(f"{base}/unsubscribe", owner).status_code == 304
    assert api.get(base, owner).json()["subscribed"] is False
    assert api.post(f"/projects/{project.id}/issues/999/subscribe", other).status_code == 404


def test_participants(api: Api, make: Make) -> None:
    """Author, assignee and authors of notes, each once."""
    author, assignee, commenter = make.user(), make.user(), make.user()
    project = make_project(make, author, visibility="public", members={assignee: Level.GUEST})
    iid = make_issue(make, project, author, assignee_ids=[assignee.id])["iid"]
    base = f"/projects/{project.id}/issues/{iid}"
    for person in (commenter, author, commenter):
        assert api.post(f"{base}/notes", person, body="me too").status_code == 201

    found = api.get(f"/projects/{project.id}/issues/{iid}/participants", author)

    assert ids(found) == [author.id, assignee.id, commenter.id]
    assert found.json()[0].keys() >= {"id", "username", "name", "state", "avatar_url", "web_url"}
    assert ids(api.get(f"{base}/participants", author, per_page=1, page=2)) == [assignee.id]


def test_mentioned_users_participate(api: Api, make: Make) -> None:
    """By a mention in the description or a visible note, while it exists and they may see the issue."""
    author, named, in_note, in_secret, outsider = (make.user() for _ in range(5))
    members = {named: Level.GUEST, in_note: Level.GUEST, in_secret: Level.REPORTER}
    project = make_project(make, author, members=members)
    iid = make_issue(make, project, author, description=f"for @{named.username} and @{outsider.username}")["iid"]
    base = f"/projects/{project.id}/issues/{iid}"
    note = api.post(f"{base}/notes", author, body=f"and @{in_note.username}").json()["id"]
    api.post(f"{base}/notes", author, body=f"and @{in_secret.username}", internal=True)

    assert ids(api.get(f"{base}/participants", author)) == [author.id, named.id, in_note.id]
    api.delete(f"{base}/notes/{note}", author)
    api.delete(f"/projects/{project.id}/members/{named.id}", make.root)
    assert ids(api.get(f"{base}/participants", author)) == [author.id]
    api.put(base, author, description="for nobody")
    api.post(f"/projects/{project.id}/members", make.root, user_id=named.id, access_level=10)
    assert ids(api.get(f"{base}/participants", author)) == [author.id]


def test_related_merge_requests(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    iid = make_issue(make, project, owner)["iid"]

    assert ids(api.get(f"/projects/{project.id}/issues/{iid}/closed_by", owner)) == []
    assert ids(api.get(f"/projects/{project.id}/issues/{iid}/related_merge_requests", owner)) == []
    assert api.get(f"/projects/{project.id}/issues/999/closed_by", owner).status_code == 404


def test_links(api: Api, make: Make) -> None:
    """A link has two ends, is created once, and can be deleted from either."""
    owner = make.user()
    here, there = make_project(make, owner), make_project(make, owner)
    one, other = make_issue(make, here, owner), make_issue(make, there, owner)
    base = f"/projects/{here.id}/issues/{one['iid']}/links"

    made = api.post(
        f"/projects/{here.id}/issues/{one['iid']}/links",
        owner,
        target_project_id=there.id,
        target_issue_iid=other["iid"],
    )
    assert made.status_code == 201, made.text
    ends = made.json()["source_issue"]["id"], made.json()["target_issue"]["id"]
    assert (*ends, made.json()["link_type"]) == (one["id"], other["id"], "relates_to")
    again = api.post(base, owner, target_project_id=there.path, target_issue_iid=other["iid"])
    assert (again.status_code, again.json()) == (409, {"message": "Issue(s) already assigned"})
    back = f"/projects/{there.id}/issues/{other['iid']}/links"
    backwards = api.post(back, owner, target_project_id=here.id, target_issue_iid=one["iid"])
    assert backwards.status_code == 409
    found = api.get(f"/projects/{here.id}/issues/{one['iid']}/links", owner)
    assert ids(found) == [other["id"]]
    assert ids(api.get(back, owner)) == [one["id"]]
    link_id = found.json()[0]["issue_link_id"]
    one_link = api.get(f"/projects/{here.id}/issues/{one['iid']}/links/{link_id}", owner)
    assert (one_link.status_code, one_link.json()) == (200, made.json())
    assert api.get(f"/projects/{here.id}/issues/{one['iid']}/links/{link_id}", make.user()).status_code == 404
    taken = api.delete(f"/projects/{there.id}/issues/{other['iid']}/links/{link_id}", owner)
    assert (taken.status_code, taken.json()["target_issue"]["id"]) == (200, other["id"])
    gone = api.delete(f"{base}/{link_id}", owner)
    assert (gone.status_code, gone.content) == (200, b"")
    assert api.get(f"{base}/{link_id}", owner).status_code == 404
    assert ids(api.get(base, owner)) == ids(api.get(back, owner)) == []


def test_link_types(api: Api, make: Make) -> None:
    """An issue that blocks another one is named from the view of each; the page has a heading for each type."""
    owner = make.user()
    project = make_project(make, owner)
    one, two, three = (make_issue(make, project, owner) for _ in range(3))
    base = f"/projects/{project.id}/issues"
    for target, link_type, source_id in ((two, "blocks", one["id"]), (three, "is_blocked_by", three["id"])):
        sent = {"target_project_id": project.id, "target_issue_iid": target["iid"], "link_type": link_type}
        made = api.post(f"{base}/{one['iid']}/links", owner, **sent)
        assert (made.status_code, made.json()["link_type"], made.json()["source_issue"]["id"]) == (
            201,
            "blocks",
            source_id,
        )
        (back,) = api.get(f"{base}/{target['iid']}/links", owner).json()
        assert (back["iid"], {back["link_type"], link_type}) == (one["iid"], {"blocks", "is_blocked_by"})
    listed = api.get(f"{base}/{one['iid']}/links", owner).json()
    assert [(each["iid"], each["link_type"]) for each in listed] == [
        (two["iid"], "blocks"),
        (three["iid"], "is_blocked_by"),
    ]


def test_rejected_links(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    one, other = make_issue(make, project, owner), make_issue(make, project, owner)
    base = f"/projects/{project.id}/issues/{one['iid']}/links"
    for sent, status in [
        ({}, 400),
        ({"target_project_id": project.id}, 400),
        ({"target_project_id": project.id, "target_issue_iid": one["iid"]}, 400),
        ({"target_project_id": project.id, "target_issue_iid": "x"}, 400),
        ({"target_project_id": project.id, "target_issue_iid": -1}, 400),
        ({"target_project_id": project.id, "target_issue_iid": other["iid"], "link_type": "eats"}, 400),
        ({"target_project_id": project.id, "target_issue_iid": 999}, 404),
        ({"target_project_id": 2**60, "target_issue_iid": 1}, 404),
        ({"target_project_id": ["a"], "target_issue_iid": 1}, 400),
    ]:
        assert api.post(base, owner, **sent).status_code == status, sent
    assert api.delete(f"{base}/x", owner).status_code == 400
    assert ids(api.get(base, owner)) == []


@pytest.mark.parametrize(
    ("here", "there", "status"),
    [
        (Level.REPORTER, Level.REPORTER, 201),
        (Level.GUEST, Level.REPORTER, 403),
        (Level.REPORTER, Level.GUEST, 403),
        (Level.REPORTER, Level.NONE, 404),
        (Level.NONE, Level.REPORTER, 404),
    ],
)
def test_permission_to_link(api: Api, make: Make, here: Level, there: Level, status: int) -> None:
    caller = make.user()
    source, target = (make_project(make, members={caller: level}, visibility="private") for level in (here, there))
    one, other = make_issue(make, source, make.root), make_issue(make, target, make.root)

    answer = api.post(
        f"/projects/{source.id}/issues/{one['iid']}/links",
        caller,
        target_project_id=target.id,
        target_issue_iid=other["iid"],
    )

    assert answer.status_code == status, answer.text
    links = api.get(f"/projects/{source.id}/issues/{one['iid']}/links", make.root)
    assert ids(links) == ([other["id"]] if status == 201 else [])


def test_links_to_invisible_issues_are_hidden(api: Api, make: Make) -> None:
    """Attack: hidden projects and confidential issues are not shown as links and cannot be unlinked."""
    owner, reporter = make.user(), make.user()
    public = make_project(make, owner, visibility="public", members={reporter: Level.REPORTER})
    open_one = make_project(make, owner, visibility="public")
    private = make_project(make, owner, visibility="private")
    one = make_issue(make, public, owner)
    base = f"/projects/{public.id}/issues/{one['iid']}/links"
    hidden = make_issue(make, private, owner, title="hidden one")
    secret = make_issue(make, open_one, owner, title="secret one", confidential=True)
    for project, issue in ((private, hidden), (open_one, secret)):
        made = api.post(base, owner, target_project_id=project.id, target_issue_iid=issue["iid"])
        assert made.status_code == 201
    links = api.get(base, owner).json()
    assert [link["id"] for link in links] == [hidden["id"], secret["id"]]

    for caller in (reporter, make.user()):
        assert api.get(base, caller).json() == []
    for link in links:
        assert api.delete(f"{base}/{link['issue_link_id']}", reporter).content == b""
    assert len(api.get(base, make.root).json()) == 2
    api.delete(f"/projects/{private.id}/issues/{hidden['iid']}", owner)
    assert ids(api.get(base, owner)) == [secret["id"]]
