"""Activity events: content and visibility."""

from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from ingot.core.access.levels import Level
from ingot.projects.members.service import delete_expired_memberships
from tests.api.issues.factories import make_issue
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, add_members, day, ids, make_group, make_project, statements_of


def _events(api: Api, project: Project, caller: User | None, **filters: Any) -> list[dict[str, Any]]:
    answer = api.get(f"/projects/{project.id}/events", caller, **filters)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


def _what(api: Api, project: Project, caller: User | None, **filters: Any) -> list[tuple[str, str | None]]:
    return [(event["action_name"], event["target_type"]) for event in _events(api, project, caller, **filters)]


def test_milestone_events(api: Api, make: Make) -> None:
    """Events of a deleted milestone omit its title; milestones of groups have no events."""
    owner, stranger = make.user(), make.user()
    group = make_group(make, owner, visibility="public")
    project = make_project(make, owner, group=group, visibility="public")
    milestone = api.post(f"{project.url}/milestones", owner, title="1.0").json()
    url = f"{project.url}/milestones/{milestone['id']}"
    for change in ("close", "close", "activate"):
        assert api.put(url, owner, state_event=change).status_code == 200
    assert api.put(url, owner, title="2.0").status_code == 200
    api.post(f"/groups/{group.id}/milestones", owner, title="of all")

    told = _events(api, project, stranger, target_type="milestone")

    assert [event["action_name"] for event in told] == ["opened", "closed", "opened"]
    shown = {(event["target_type"], event["target_id"], event["target_iid"], event["target_title"]) for event in told}
    assert shown == {("Milestone", milestone["id"], milestone["iid"], "2.0")}
    assert len(_events(api, project, stranger, action="closed")) == 1
    assert api.delete(url, owner).status_code == api.delete(url, owner).status_code == 200
    told = _events(api, project, stranger, target_type="milestone")
    assert [event["action_name"] for event in told] == ["destroyed", "opened", "closed", "opened"]
    assert {(event["target_id"], event["target_iid"], event["target_title"]) for event in told} == {(None, None, None)}


def test_milestones_of_a_project_without_issues_and_merge_requests(api: Api, make: Make) -> None:
    """No list names milestones where they are disabled, neither to strangers nor to the owner."""
    owner = make.user()
    project = make_project(make, owner, visibility="public")
    assert api.post(f"{project.url}/milestones", owner, title="A secret plan").status_code == 201

    def titles(caller: User | None) -> list[str | None]:
        paths = [f"{project.url}/events"] + ([f"/users/{owner.id}/events"] if caller else [])
        return [event["target_title"] for path in paths for event in api.get(path, caller).json()]

    for issues, merge_requests in ((True, False), (False, True), (True, True)):
        api.put(project.url, owner, issues_enabled=issues, merge_requests_enabled=merge_requests)
        assert "A secret plan" in titles(owner)
        assert "A secret plan" in titles(None)
    api.put(project.url, owner, issues_enabled=False, merge_requests_enabled=False)
    for caller in (owner, make.root, make.user(), None):
        assert "A secret plan" not in titles(caller)
        assert caller is None or api.get("/search", caller, scope="milestones", search="A secret plan").json() == []


def test_issue_events(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    issue = make_issue(make, project, owner, title="first words")
    url = f"/projects/{project.id}/issues/{issue['iid']}"
    note = api.post(f"{url}/notes", owner, body="indeed").json()
    api.put(url, owner, state_event="close")
    api.put(url, owner, state_event="reopen")
    api.put(url, owner, title="other words")

    reopened, closed, commented, opened, created = _events(api, project, owner)

    assert (created["action_name"], created["target_type"], created["target_id"]) == ("created", None, None)
    assert opened == {
        "id": opened["id"],
        "title": None,
        "project_id": project.id,
        "action_name": "opened",
        "target_id": issue["id"],
        "target_iid": issue["iid"],
        "target_type": "Issue",
        "author_id": owner.id,
        "data": None,
        "target_title": "other words",
        "created_at": opened["created_at"],
        "author": issue["author"],
        "author_username": owner.username,
    }
    assert (commented["action_name"], commented["target_type"], commented["target_id"]) == (
        "commented on",
        "Note",
        note["id"],
    )
    assert (commented["note"], commented["target_title"]) == (note, "other words")
    assert (closed["action_name"], reopened["action_name"]) == ("closed", "opened")
    assert _what(api, project, owner, action="reopened") == [("opened", "Issue")]
    api.delete(f"{url}/notes/{note['id']}", owner)
    assert _what(api, project, owner, target_type="note") == []
    api.delete(url, owner)
    assert _what(api, project, owner) == [("created", None)]


def test_push_events(api: Api, make: Make) -> None:
    """Creating, moving and deleting a branch and a tag; events include the pushed commits."""
    owner = make.user()
    project = make_project(make, owner, initialize_with_readme=True)
    base = f"/projects/{project.id}/repository"
    (first,) = _events(api, project, owner, action="pushed")
    assert first["push_data"]["commit_title"] == "Initial commit"
    assert (first["push_data"]["commit_count"], first["push_data"]["ref"]) == (1, "master")
    start = first["push_data"]["commit_to"]
    for number in range(2):
        action = {"file_path": f"file-{number}", "action": "create", "content": "x"}
        sent = {"branch": "work", "start_branch": "master" if not number else None, "actions": [action]}
        message = f"{'long ' * 20}\n\nbody" if number else "One\n\nmore"
        made = api.post(f"{base}/commits", owner, commit_message=message, **{k: v for k, v in sent.items() if v})
        assert made.status_code == 201, made.text
    tip = made.json()["id"]
    assert api.post(f"{base}/tags", owner, tag_name="v1", ref="work").status_code == 201
    assert api.delete(f"{base}/branches/work", owner).status_code < 300

    removed, tagged, moved, made_one, _ = _events(api, project, owner, action="pushed")

    assert [event["action_name"] for event in (removed, tagged, moved, made_one)] == [
        "deleted",
        "pushed new",
        "pushed to",
        "pushed new",
    ]
    assert made_one["push_data"] == {
        "commit_count": 1,
        "action": "created",
        "ref_type": "branch",
        "commit_from": None,
        "commit_to": moved["push_data"]["commit_from"],
        "ref": "work",
        "commit_title": "One",
        "ref_count": None,
    }
    assert (moved["push_data"]["commit_to"], moved["push_data"]["commit_count"]) == (tip, 1)
    assert len(moved["push_data"]["commit_title"]) == 70
    assert (tagged["push_data"]["ref_type"], tagged["push_data"]["ref"]) == ("tag", "v1")
    assert (removed["push_data"]["commit_from"], removed["push_data"]["commit_to"]) == (tip, None)
    assert (removed["push_data"]["commit_count"], removed["push_data"]["commit_title"]) == (0, None)
    assert start != tip
    assert "note" not in removed
    told = {"before": start, "after": tip, "ref": "refs/heads/work", "user_id": owner.id}
    assert {name: moved["data"][name] for name in told} == {**told, "before": moved["push_data"]["commit_from"]}
    assert moved["data"]["user_name"] == moved["author"]["name"]
    shown = api.get(f"/projects/{project.id}", owner).json()
    assert moved["data"]["repository"] == {
        "name": shown["name"],
        "url": shown["ssh_url_to_repo"],
        "description": shown["description"],
        "homepage": shown["web_url"],
    }
    (commit,) = moved["data"]["commits"]
    assert (commit["id"], commit["url"]) == (tip, f"{shown['web_url']}/commit/{tip}")
    assert (commit["message"], commit["author"]["name"]) == (message, moved["author"]["name"])
    assert datetime.fromisoformat(commit["timestamp"]).utcoffset() == timedelta(0)
    assert moved["data"]["total_commits_count"] == 1
    assert (removed["data"]["after"], removed["data"]["commits"]) == ("0" * 40, [])
    assert made_one["data"]["before"] == "0" * 40
    assert (tagged["data"]["ref"], first["data"]["commits"][0]["message"]) == ("refs/tags/v1", "Initial commit")


def test_membership_events(api: Api, instance: Instance, make: Make) -> None:
    owner, person, guest = make.user(), make.user(), make.user()
    project = make_project(make, owner, members={person: Level.GUEST})
    api.delete(f"/projects/{project.id}/members/{person.id}", owner)
    sent = {"user_id": guest.id, "access_level": 10, "expires_at": "2050-01-01"}
    assert api.post(f"/projects/{project.id}/members", owner, **sent).status_code == 201

    seen = [(event["author_id"], event["action_name"]) for event in _events(api, project, owner)]
    assert seen == [(guest.id, "joined"), (person.id, "left"), (person.id, "joined"), (owner.id, "created")]
    with day(instance, "2050-01-02"):
        instance.app.database.write(delete_expired_memberships)
    assert _events(api, project, owner)[0]["action_name"] == "removed due to membership expiration from"


def test_filters(api: Api, instance: Instance, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    with day(instance, "2040-05-05"):
        issue = make_issue(make, project, owner)
    with day(instance, "2040-05-06"):
        api.put(f"/projects/{project.id}/issues/{issue['iid']}", owner, state_event="close")

    for filters, names in [
        ({"after": "2040-05-05"}, ["closed"]),
        ({"before": "2040-05-06", "after": "2040-05-04"}, ["opened"]),
        ({"after": "2040-05-06"}, []),
        ({"target_type": "issue", "sort": "asc"}, ["opened", "closed"]),
        ({"action": "closed"}, ["closed"]),
        ({"action": "merged"}, []),
        ({"target_type": "merge_request"}, []),
    ]:
        assert [name for name, _ in _what(api, project, owner, **filters)] == names, filters
    for wrong in ({"action": "eaten"}, {"target_type": "Issue"}, {"before": "never"}, {"sort": "up"}):
        assert api.get(f"/projects/{project.id}/events", owner, **wrong).status_code == 400, wrong
    page = api.get(f"/projects/{project.id}/events", owner, per_page=1, page=2)
    assert (page.headers["x-total"], len(page.json())) == ("3", 1)
    by_key = api.get(f"/projects/{project.id}/events", owner, per_page=2, pagination="keyset")
    assert 'rel="next"' in by_key.headers["link"]


def test_event_lists_by_scope(api: Api, make: Make) -> None:
    """A user's own visible events, visible events of others, and events of all their projects."""
    owner, member, stranger = make.user(), make.user(), make.user()
    private = make_project(make, owner, visibility="private", members={member: Level.DEVELOPER})
    public = make_project(make, owner, visibility="public")
    make_issue(make, private, member)
    make_issue(make, public, member)

    def places(path: str, caller: User, **filters: Any) -> list[int]:
        answer = api.get(path, caller, **filters)
        assert answer.status_code == 200, answer.text
        return [event["project_id"] for event in answer.json()]

    assert places("/events", member) == [public.id, private.id, private.id]
    assert places(f"/users/{member.id}/events", member) == places("/events", member)
    assert places(f"/users/{member.username}/events", stranger) == [public.id]
    assert places(f"/users/{owner.id}/events", stranger) == [public.id]
    assert places("/events", member, scope="all") == [private.id] * 3
    assert places("/events", stranger, scope="all") == places("/events", stranger) == []
    assert places(f"/users/{member.id}/events", make.root, target_type="issue") == [public.id, private.id]
    api.delete(f"/projects/{private.id}/members/{member.id}", owner)
    assert places("/events", member) == [public.id]
    assert api.get(f"/users/{member.id}/events").status_code == 401
    assert api.get("/events", member, scope="some").status_code == 400
    assert api.get("/users/nobody-at-all/events", member).status_code == 404


@pytest.fixture(scope="module")
def told(make: Make) -> tuple[Project, dict[str, User | None]]:
    """Return a public project with a confidential issue, notes on it, an internal note, and code."""
    owner, author = make.user(), make.user()
    people: dict[str, User | None] = {
        "guest": make.user(),
        "reporter": make.user(),
        "external": make.user(external=True),
        "stranger": make.user(),
        "author": author,
        "administrator": make.root,
        "nobody": None,
    }
    project = make_project(make, owner, visibility="public", initialize_with_readme=True)
    for name, level in (("guest", 10), ("reporter", 20)):
        person = people[name]
        assert person is not None
        sent = {"user_id": person.id, "access_level": level}
        assert make.api.post(f"/projects/{project.id}/members", owner, **sent).status_code == 201
    plain = make_issue(make, project, owner, title="plain")
    url = f"/projects/{project.id}/issues/{plain['iid']}/notes"
    assert make.api.post(url, owner, body="unspeakable among us", internal=True).status_code == 201
    secret = make_issue(make, project, author, title="unspeakable", confidential=True)
    url = f"/projects/{project.id}/issues/{secret['iid']}"
    assert make.api.post(f"{url}/notes", author, body="unspeakable").status_code == 201
    return project, people


@pytest.mark.parametrize("who", ["guest", "external", "stranger", "nobody", "reporter", "author", "administrator"])
def test_events_contain_no_secrets(api: Api, told: tuple[Project, dict[str, User | None]], who: str) -> None:
    """Confidential issues and the notes on them are shown to those who see them, in no list to others."""
    project, people = told
    caller = people[who]
    paths = [f"/projects/{project.id}/events"]
    if caller is not None:
        author = people["author"]
        assert author is not None
        paths += [f"/users/{author.id}/events", "/events?scope=all"]
    sees = who in ("reporter", "author", "administrator")

    texts = [api.get(path, caller).text for path in paths]

    assert ("unspeakable" in texts[0]) is sees
    assert sees or not any("unspeakable" in text for text in texts)
    assert not any("among us" in text for text in texts)
    total = api.get(f"/projects/{project.id}/events", caller, target_type="note").headers["x-total"]
    assert total == ("1" if sees else "0")
    assert "pushed new" in texts[0]


def test_push_events_require_read_access_to_code(api: Api, make: Make) -> None:
    """A guest of a private project sees its issues and not its code; a hidden project has no events."""
    guest, reporter, stranger = make.user(), make.user(), make.user()
    members = {guest: Level.GUEST, reporter: Level.REPORTER}
    project = make_project(make, make.user(), visibility="private", initialize_with_readme=True, members=members)
    tip = api.get(f"/projects/{project.id}/repository/commits", reporter).json()[0]["id"]
    url = f"/projects/{project.id}/repository/commits/{tip}/comments"
    assert api.post(url, reporter, note="on code").status_code == 201

    assert _what(api, project, reporter, action="pushed") == [("pushed new", None)]
    assert _what(api, project, reporter, action="commented") == [("commented on", "Note")]
    assert _what(api, project, guest, action="pushed") == _what(api, project, guest, action="commented") == []
    assert ("created", None) in _what(api, project, guest)
    for caller in (stranger, None):
        assert api.get(f"/projects/{project.id}/events", caller).status_code == 404
    api.put(f"/projects/{project.id}", make.root, issues_enabled=False)
    assert _what(api, project, reporter, target_type="issue") == []


def test_events_of_deleted_projects_and_users_are_removed(api: Api, make: Make) -> None:
    """Events of a deleted project, and of a deleted user, appear in no list."""
    owner, leaving = make.user(), make.user()
    gone = make_project(make, owner, visibility="public")
    stays = make_project(make, group=make_group(make, members={owner: Level.OWNER, leaving: Level.DEVELOPER}))
    make_issue(make, stays, leaving)
    assert len(_events(api, stays, owner)) == 2

    api.delete(f"/projects/{gone.id}", owner)
    api.delete(f"/users/{leaving.id}", make.root)

    assert api.get("/events", owner).json() == []
    assert api.get(f"/users/{owner.id}/events", make.root).json() == []
    assert [event["author_username"] for event in _events(api, stays, owner)] == ["root"]


def test_statements_do_not_grow_with_the_page(api: Api, make: Make) -> None:
    owner, other = make.user(), make.user()
    project = make_project(make, owner, members={other: Level.DEVELOPER}, initialize_with_readme=True)
    for person in (owner, other) * 3:
        issue = make_issue(make, project, person)
        api.post(f"/projects/{project.id}/issues/{issue['iid']}/notes", person, body="x")
        branch = {"branch": f"of-{person.username}-{issue['iid']}", "ref": "master"}
        api.post(f"/projects/{project.id}/repository/branches", person, **branch)

    for path in (f"/projects/{project.id}/events", "/events", f"/users/{other.id}/events"):
        few, many = (statements_of(make, partial(api.get, path, owner, per_page=size)) for size in (3, 100))
        assert many <= few, path


def test_a_long_list_has_pages_and_no_total(api: Api, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting a million rows for a page of twenty would be slow; the next page is linked without a total."""
    owner = make.user()
    project = make_project(make, owner)
    for _ in range(4):
        make_issue(make, project, owner)
    monkeypatch.setattr("ingot.activity.queries.MAX_COUNTED", 3)

    seen, url = [], f"/projects/{project.id}/events?per_page=2"
    while url:
        answer = api.get(url, owner)
        assert "x-total" not in answer.headers
        seen += [event["id"] for event in answer.json()]
        url = answer.links.get("next", {}).get("url", "").partition("/api/v4")[2]

    assert len(seen) == len(set(seen)) == 5


def test_contributed_projects_are_those_with_visible_contributions(api: Api, make: Make) -> None:
    author, viewer = make.user(), make.user()
    public, private, untouched = (
        make_project(make, visibility=visibility) for visibility in ("public", "private", "public")
    )
    confidential = make_project(make, visibility="public")
    add_members(make, private, {author: Level.DEVELOPER})
    add_members(make, untouched, {author: Level.DEVELOPER})
    for project, hidden in ((public, False), (private, False), (confidential, True)):
        assert api.post(f"{project.url}/issues", author, title="Found", confidential=hidden).status_code == 201

    path = f"/users/{author.id}/contributed_projects"
    assert set(ids(api.get(path, author))) == {public.id, private.id, confidential.id}
    assert ids(api.get(path, viewer)) == [public.id]
    assert ids(api.get(f"/users/{author.username}/contributed_projects", viewer)) == [public.id]
    assert api.get("/users/0/contributed_projects", viewer).status_code == 404
