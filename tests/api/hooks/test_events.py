"""Payloads of all project events, from every source, field by field."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from ingot.core.access.levels import Level
from ingot.webhooks.delivery.dispatcher import HookDispatcher
from tests.api.hooks.conftest import HookedProject
from tests.api.hooks.receiver import Receiver
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import add_members, make_group, make_project
from tests.transport.conftest import Tree, over_http, over_ssh, ssh_key

__all__ = ["ssh_key"]
ZERO = "0" * 40
PROJECT = {
    "name", "description", "web_url", "avatar_url", "git_ssh_url", "git_http_url", "namespace", "visibility_level",
    "path_with_namespace", "default_branch",
}  # fmt: skip
OLDER = PROJECT | {"homepage", "url", "ssh_url", "http_url"}
REPOSITORY = {"name", "url", "description", "homepage"}
PUSH = {
    "object_kind", "before", "after", "ref", "checkout_sha", "user_id", "user_name", "user_username", "user_email",
    "user_avatar", "project_id", "project", "repository", "commits", "total_commits_count",
}  # fmt: skip
COMMIT = {"id", "message", "timestamp", "url", "author"}
NOTE = {
    "id", "note", "noteable_type", "author_id", "created_at", "updated_at", "project_id", "attachment", "line_code",
    "commit_id", "noteable_id", "system", "st_diff", "url",
}  # fmt: skip
ISSUE = {
    "id", "title", "assignee_ids", "assignee_id", "author_id", "project_id", "created_at", "updated_at", "position",
    "branch_name", "description", "milestone_id", "state", "iid",
}  # fmt: skip


SNIPPET = {
    "id", "title", "content", "author_id", "project_id", "created_at", "updated_at", "file_name", "expires_at", "type",
    "visibility_level",
}  # fmt: skip
FILTERS: list[dict[str, str]] = [
    {"push_events_branch_filter": "rel*/x"},
    {"push_events_branch_filter": "none"},
    {"push_events_branch_filter": "none", "branch_filter_strategy": "all_branches"},
    {"push_events_branch_filter": r"^rel-\d+/", "branch_filter_strategy": "regex"},
]


def write_file(hooked: HookedProject, path: str, **more: Any) -> str:
    """Commit a file through the API and return the commit's id."""
    action = {"action": "create", "file_path": path, "content": "x"}
    sent = {"branch": "master", "commit_message": f"Write {path}", "actions": [action], **more}
    return str(hooked.post("/repository/commits", **sent)["id"])


def test_commit_through_the_api(hooked: HookedProject, instance: Instance) -> None:
    """Sends the documented push event."""
    before = hooked.post("/repository/branches", branch="dev", ref="master")["commit"]["id"]
    created = hooked.next("Push Hook")
    assert (created["ref"], created["before"], created["after"]) == ("refs/heads/dev", ZERO, before)
    assert (created["commits"], created["total_commits_count"]) == ([], 0)

    oid = write_file(hooked, "a/ä.txt")
    push = hooked.next("Push Hook")
    assert push.keys() >= PUSH
    assert push["project"].keys() >= OLDER
    assert push["repository"].keys() >= REPOSITORY | {"git_http_url", "git_ssh_url", "visibility_level"}
    assert (push["object_kind"], push["event_name"]) == ("push", "push")
    assert (push["ref"], push["before"], push["after"], push["checkout_sha"]) == ("refs/heads/master", before, oid, oid)
    assert (push["user_id"], push["user_username"], push["user_email"]) == (1, "root", "admin@example.com")
    assert (push["project_id"], push["total_commits_count"]) == (hooked.project.id, 1)
    (commit,) = push["commits"]
    assert commit.keys() >= COMMIT | {"added", "modified", "removed"}
    assert (commit["id"], commit["message"], commit["added"]) == (oid, "Write a/ä.txt", ["a/ä.txt"])
    assert commit["author"] == {"name": "Administrator", "email": "admin@example.com"}
    assert commit["url"] == f"{instance.url}/{hooked.project.path}/commit/{oid}"
    assert push["project"]["git_http_url"] == f"{instance.url}/{hooked.project.path}.git"

    hooked.delete("/repository/branches/dev")
    gone = hooked.next("Push Hook")
    assert (gone["before"], gone["after"], gone["checkout_sha"], gone["commits"]) == (before, ZERO, None, [])


def test_push_of_many_branches_sends_no_events(
    hooked: HookedProject, instance: Instance, api: Api, make: Make, tmp_path: Path
) -> None:
    """Attack: each of 20,000 branches queued an event in one transaction; the limit is a setting of the instance."""
    tree = Tree(tmp_path / "tree")
    remote = over_http(instance, hooked.project, make.root)
    Tree(tmp_path).git("clone", "-q", remote, str(tree.folder))
    tip = tree.git("rev-parse", "HEAD")
    specs = [f"{tip}:refs/heads/{name}" for name in "abc"]
    assert api.put("/application/settings", make.root, push_event_hooks_limit=2).status_code == 200
    tree.git("push", "-q", remote, *specs)
    assert api.put("/application/settings", make.root, push_event_hooks_limit=3).status_code == 200
    tree.git("push", "-q", remote, *(f":refs/heads/{name}" for name in "abc"))
    events = [hooked.next("Push Hook") for _ in range(3)]
    assert {event["after"] for event in events} == {ZERO}
    assert api.put("/application/settings", make.root, push_event_hooks_limit=100).status_code == 200


def test_push_of_many_commits_over_http(hooked: HookedProject, instance: Instance, make: Make, tmp_path: Path) -> None:
    """At most the twenty newest commits, oldest first; one event for each branch and tag."""
    tree = Tree(tmp_path / "tree")
    url = over_http(instance, hooked.project, make.root)
    Tree(tmp_path).git("clone", "-q", url, str(tree.folder))
    for number in range(23):
        tree.commit("README.md", f"{number}\n", f"Change {number}")
    tree.git("tag", "-a", "-m", "The first one", "v1")
    tree.git("push", "-q", "--atomic", "origin", "master", "v1", "master:other")
    events = {told_one["ref"]: told_one for told_one in (got.body for got in hooked.receiver.some(3))}
    push = events["refs/heads/master"]
    assert push["total_commits_count"] == 23
    assert [commit["message"] for commit in push["commits"]] == [f"Change {number}\n" for number in range(3, 23)]
    assert push["commits"][0]["modified"] == ["README.md"]
    assert events["refs/heads/other"]["commits"] == []
    tag = events["refs/tags/v1"]
    head = tree.git("rev-parse", "HEAD")
    assert (tag["object_kind"], tag["before"], tag["after"]) == ("tag_push", ZERO, tree.git("rev-parse", "v1"))
    assert (tag["checkout_sha"], tag["message"]) == (head, "The first one")
    assert tag.keys() >= PUSH


def test_push_over_ssh(
    hooked: HookedProject, instance: Instance, make: Make, tmp_path: Path, ssh_key: Callable[[User], dict[str, str]]
) -> None:
    """Sends the same event as a push over HTTP."""
    person = make.user()
    hooked.post("/members", user_id=person.id, access_level=40)
    tree = Tree(tmp_path / "tree", ssh_key(person))
    Tree(tmp_path, tree.env).git("clone", "-q", over_ssh(instance, hooked.project), str(tree.folder))
    oid = tree.commit()
    tree.git("push", "-q", "origin", "master")
    push = hooked.next("Push Hook")
    assert (push["after"], push["user_id"], push["total_commits_count"]) == (oid, person.id, 1)


def test_tags_through_the_api(hooked: HookedProject) -> None:
    """Creation and deletion."""
    hooked.post("/repository/tags", tag_name="v1", ref="master")
    made = hooked.next("Tag Push Hook")
    assert (made["object_kind"], made["ref"], made["before"]) == ("tag_push", "refs/tags/v1", ZERO)
    assert made["checkout_sha"] == made["after"]
    hooked.delete("/repository/tags/v1")
    gone = hooked.next("Tag Push Hook")
    assert (gone["after"], gone["before"], gone["checkout_sha"]) == (ZERO, made["after"], None)


def test_issue_events(hooked: HookedProject, instance: Instance) -> None:
    """Opening, editing, closing and reopening, with previous and current values."""
    issue = hooked.post("/issues", title="One", description="Text", labels="a", assignee_ids=[1])
    opened = hooked.next("Issue Hook")
    attributes = opened["object_attributes"]
    assert attributes.keys() >= ISSUE | {"url", "action"}
    assert (attributes["id"], attributes["iid"], attributes["action"]) == (issue["id"], issue["iid"], "open")
    assert (attributes["state"], attributes["assignee_ids"], attributes["assignee_id"]) == ("opened", [1], 1)
    assert attributes["url"] == f"{instance.url}/{hooked.project.path}/issues/{issue['iid']}"
    assert attributes["created_at"] == issue["created_at"][:19] + "Z"
    assert opened["user"].keys() >= {"name", "username", "avatar_url"}
    assert opened["assignees"] == [opened["assignee"]] == [opened["user"]]
    assert opened["repository"].keys() == REPOSITORY
    assert opened["project"].keys() >= OLDER
    (label,) = opened["labels"]
    assert label.keys() >= {"id", "title", "color", "project_id", "created_at", "updated_at", "template", "description",
                            "type", "group_id"}  # fmt: skip
    assert (label["title"], label["type"], label["project_id"]) == ("a", "ProjectLabel", hooked.project.id)

    hooked.put(f"/issues/{issue['iid']}", title="Two", labels="b")
    changed = hooked.next("Issue Hook")
    assert changed["object_attributes"]["action"] == "update"
    assert changed["changes"]["title"] == {"previous": "One", "current": "Two"}
    titles = {when: [each["title"] for each in changed["changes"]["labels"][when]] for when in ("previous", "current")}
    assert titles == {"previous": ["a"], "current": ["b"]}
    for event, action in (("close", "close"), ("reopen", "reopen")):
        hooked.put(f"/issues/{issue['iid']}", state_event=event)
        assert hooked.next("Issue Hook")["object_attributes"]["action"] == action


def test_a_payload_shows_the_state_at_the_time_of_the_event(hooked: HookedProject, receiver: Receiver) -> None:
    """Independent of the delay of the delivery and of later changes."""
    issue = hooked.post("/issues", title="First title")
    hooked.put(f"/issues/{issue['iid']}", title="Second title")
    hooked.put(f"/issues/{issue['iid']}", title="Third title")
    titles = [got.body["object_attributes"]["title"] for got in receiver.some(3)]
    assert titles == ["First title", "Second title", "Third title"]


def test_moving_an_issue(hooked: HookedProject, api: Api, make: Make, receiver: Receiver) -> None:
    """Sends a close event in the old project and an open event in the new one."""
    there = HookedProject(api, make, receiver)
    issue = hooked.post("/issues", title="Goes")
    hooked.next("Issue Hook")
    moved = hooked.post(f"/issues/{issue['iid']}/move", to_project_id=there.project.id)["id"]
    attributes = {got.path: got.body["object_attributes"] for got in receiver.some(2)}
    assert {path: each["action"] for path, each in attributes.items()} == {hooked.path: "close", there.path: "open"}
    assert [attributes[each.path]["moved_to_id"] for each in (hooked, there)] == [moved, None]


def test_notes_on_issues_commits_and_snippets(hooked: HookedProject, instance: Instance) -> None:
    """Each payload contains the noteable."""
    issue = hooked.post("/issues", title="One")
    hooked.next("Issue Hook")
    note = hooked.post(f"/issues/{issue['iid']}/notes", body="Hello :+1:")
    on_issue = hooked.next("Note Hook")
    attributes = on_issue["object_attributes"]
    assert attributes.keys() >= NOTE
    assert (attributes["id"], attributes["note"], attributes["noteable_type"]) == (note["id"], "Hello :+1:", "Issue")
    assert (attributes["noteable_id"], attributes["commit_id"], attributes["system"]) == (issue["id"], "", False)
    assert attributes["url"] == f"{instance.url}/{hooked.project.path}/issues/{issue['iid']}#note_{note['id']}"
    assert attributes["created_at"] == note["created_at"][:19].replace("T", " ") + " UTC"
    assert on_issue["issue"].keys() >= ISSUE
    assert (on_issue["project_id"], on_issue["issue"]["iid"]) == (hooked.project.id, issue["iid"])
    assert on_issue.keys() >= {"object_kind", "user", "project_id", "project", "repository", "object_attributes"}

    oid = write_file(hooked, "a")
    hooked.next("Push Hook")
    hooked.post(f"/repository/commits/{oid}/comments", note="Nice", path="a", line=1, line_type="new")
    on_commit = hooked.next("Note Hook")
    assert (on_commit["object_attributes"]["commit_id"], on_commit["object_attributes"]["noteable_id"]) == (oid, None)
    assert on_commit["commit"].keys() >= COMMIT
    assert (on_commit["commit"]["id"], on_commit["object_attributes"]["noteable_type"]) == (oid, "Commit")
    name = hashlib.sha1(b"a", usedforsecurity=False).hexdigest()
    assert on_commit["object_attributes"]["line_code"] == f"{name}_0_1"
    assert on_commit["object_attributes"]["st_diff"] == {
        "diff": "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n", "new_path": "a",
        "old_path": "a", "a_mode": "0", "b_mode": "100644", "new_file": True, "renamed_file": False,
        "deleted_file": False,
    }  # fmt: skip

    sent = {"title": "S", "file_name": "a.rb", "content": "puts 1", "visibility": "private"}
    snippet = hooked.post("/snippets", **sent)
    hooked.post(f"/snippets/{snippet['id']}/notes", body="What?")
    on_snippet = hooked.next("Note Hook")
    assert on_snippet["snippet"].keys() >= SNIPPET
    assert (on_snippet["snippet"]["content"], on_snippet["snippet"]["file_name"]) == ("puts 1", "a.rb")
    assert on_snippet["object_attributes"]["noteable_type"] == "Snippet"

    hooked.post(f"/issues/{issue['iid']}/discussions", body="A discussion")
    assert hooked.next("Note Hook")["object_attributes"]["note"] == "A discussion"


def test_wiki_pages(hooked: HookedProject, instance: Instance, make: Make, tmp_path: Path) -> None:
    """Through the API and by a push to the wiki."""
    hooked.post("/wikis", title="My page", content="Hello")
    made = hooked.next("Wiki Page Hook")
    assert made.keys() >= {"object_kind", "user", "project", "wiki", "object_attributes"}
    assert made["wiki"].keys() == {"web_url", "git_ssh_url", "git_http_url", "path_with_namespace", "default_branch"}
    page = made["object_attributes"]
    assert page.keys() == {"title", "content", "format", "message", "slug", "url", "action"}
    assert (page["title"], page["content"], page["format"]) == ("My page", "Hello", "markdown")
    assert (page["slug"], page["action"], page["message"]) == ("My-page", "create", "Create My-page")
    assert page["url"] == f"{instance.url}/{hooked.project.path}/wikis/My-page"

    hooked.put("/wikis/My-page", title="Other page", content="Changed")
    changed = hooked.next("Wiki Page Hook")["object_attributes"]
    assert (changed["slug"], changed["content"], changed["action"]) == ("Other-page", "Changed", "update")
    hooked.delete("/wikis/Other-page")
    gone = hooked.next("Wiki Page Hook")["object_attributes"]
    assert (gone["slug"], gone["content"], gone["action"]) == ("Other-page", "Changed", "delete")

    tree = Tree(tmp_path / "wiki")
    url = over_http(instance, f"{hooked.project.path}.wiki", make.root)
    Tree(tmp_path).git("clone", "-q", url, str(tree.folder))
    tree.commit("home.md", "Pushed", "By a push")
    tree.commit("picture.png", "No page", "A picture")
    tree.git("push", "-q")
    pushed = hooked.next("Wiki Page Hook")["object_attributes"]
    assert (pushed["slug"], pushed["content"], pushed["action"]) == ("home", "Pushed", "create")


def test_release_events(hooked: HookedProject) -> None:
    """With links, in the format of later GitLab versions."""
    links = {"links": [{"name": "Binary", "url": "https://example.com/x"}]}
    sent = {"tag_name": "v1", "ref": "master", "description": "First", "assets": links}
    hooked.post("/releases", **sent)
    hooked.next("Tag Push Hook")
    release = hooked.next("Release Hook")
    assert (release["object_kind"], release["action"], release["tag"]) == ("release", "create", "v1")
    assert [link["name"] for link in release["assets"]["links"]] == ["Binary"]
    archive = (
        f"{release['project']['web_url']}/-/archive/v1/{release['project']['path_with_namespace'].split('/')[-1]}-v1"
    )
    assert release["assets"]["sources"][0] == {"format": "zip", "url": f"{archive}.zip"}
    assert release["commit"]["id"]
    hooked.put("/releases/v1", description="Better")
    assert hooked.next("Release Hook")["description"] == "Better"
    hooked.delete("/releases/v1")
    assert hooked.next("Release Hook")["action"] == "delete"


def test_a_hook_outlives_its_author_and_keeps_secrets_from_other_servers(
    api: Api, make: Make, receiver: Receiver, dispatcher: HookDispatcher
) -> None:
    """A maintainer who changes its address does not learn its secrets."""
    author, maintainer, developer = make.user(), make.user(), make.user()
    project = make_project(make, members={author: Level.MASTER, maintainer: Level.MASTER, developer: Level.DEVELOPER})
    sent = {"url": receiver.url("/first"), "issues_events": True, "token": "secret-of-the-author"}
    hook = f"{project.url}/hooks/{api.post(f'{project.url}/hooks', author, **sent).json()['id']}"
    assert api.put(hook, developer, url=receiver.url("/second")).status_code == 403
    assert api.post(f"/users/{author.id}/block", make.root).status_code == 201
    api.post(f"{project.url}/issues", developer, title="One")
    got = receiver.next()
    assert (got.path, got.headers["x-gitlab-token"]) == ("/first", "secret-of-the-author")
    assert api.put(hook, maintainer, url=receiver.url("/second"), issues_events=True).status_code == 200
    api.post(f"{project.url}/issues", developer, title="Two")
    got = receiver.next()
    assert got.path == "/second" and "x-gitlab-token" not in got.headers


def test_sources_of_a_release_event_are_those_of_the_tag(hooked: HookedProject, make: Make) -> None:
    """A branch with the name of the tag does not replace it."""
    hooked.post("/repository/tags", tag_name="v/1", ref="master")
    hooked.next("Tag Push Hook")
    hooked.post("/repository/branches", branch="v/1", ref="master")
    hooked.next("Push Hook")
    hooked.post("/repository/files/evil", branch="v/1", content="evil", commit_message="x")
    hooked.next("Push Hook")
    hooked.post("/releases", tag_name="v/1", description="First")
    release = hooked.next("Release Hook")
    sources = {source["format"]: source["url"] for source in release["assets"]["sources"]}
    packed = httpx.get(sources["tar"], headers={"PRIVATE-TOKEN": make.root.token})
    assert packed.status_code == 200 and b"evil" not in packed.content
    assert packed.headers["content-disposition"].endswith('-v-1.tar"')


@pytest.mark.parametrize("path", ["", "/notes"])
def test_confidential_events_require_their_own_flag(
    hooked: HookedProject, api: Api, make: Make, receiver: Receiver, path: str
) -> None:
    """Attack: a hook for issues and notes does not receive confidential ones."""
    other = f"/other-{hooked.project.id}"
    flags = {"issues_events": True, "note_events": True, "push_events": False}
    assert api.post(f"{hooked.url}/hooks", make.root, url=receiver.url(other), **flags).status_code == 201
    issue = hooked.post("/issues", title="Secret", confidential=True)
    secret = hooked.next("Confidential Issue Hook")
    assert (secret["object_kind"], secret["object_attributes"]["confidential"]) == ("issue", True)
    if path:
        hooked.post(f"/issues/{issue['iid']}/notes", body="A secret note")
        assert hooked.next("Confidential Note Hook")["object_kind"] == "note"
    hooked.put(f"/issues/{issue['iid']}", confidential=False)
    # Visible now, so both hooks receive it; the other one received nothing before.
    got = {each.path: each for each in receiver.some(2)}
    assert got.keys() == {hooked.path, other}
    note = hooked.post(f"/issues/{issue['iid']}/notes", body="For us", internal=True)
    assert hooked.next("Confidential Note Hook")["object_attributes"]["id"] == note["id"]
    hooked.post("/issues", title="Open")
    assert {each.body["object_attributes"]["title"] for each in receiver.some(2)} == {"Open"}


def test_changes_do_not_reveal_confidential_values(hooked: HookedProject, api: Api, make: Make) -> None:
    """When an edit makes an issue visible and changes its text, the payload omits the previous text."""
    reader, reporter = make.user(), make.user()
    add_members(make, hooked.project, {reader: Level.GUEST, reporter: Level.REPORTER})
    secret = {"title": "Hidden name", "description": "Hidden words", "labels": "hidden-label"}
    issue = hooked.post("/issues", **secret, confidential=True)
    hooked.next("Confidential Issue Hook")

    clean = {"title": "Clean name", "description": "Clean words", "labels": ""}
    hooked.put(f"/issues/{issue['iid']}", **clean, confidential=False)

    heard = hooked.next("Issue Hook")
    assert "idden" not in json.dumps(heard)
    assert heard["changes"]["confidential"] == {"previous": True, "current": False}
    assert heard["changes"]["title"] == {"previous": None, "current": "Clean name"}
    assert heard["changes"]["labels"] == {"previous": [], "current": []}
    notes = f"{hooked.url}/issues/{issue['iid']}/notes"
    assert "Hidde" not in api.get(notes, reader).text
    assert "made the issue visible" in api.get(notes, reader).text
    assert "{-Hidde-}" in api.get(notes, reporter).text
    hooked.put(f"/issues/{issue['iid']}", title="Other name")
    assert hooked.next("Issue Hook")["changes"]["title"] == {"previous": "Clean name", "current": "Other name"}


def test_branch_filters(api: Api, make: Make, hooked: HookedProject, receiver: Receiver) -> None:
    """Branches excluded by a wildcard, or all of them."""
    for number, wanted in enumerate(FILTERS):
        url = receiver.url(f"/filtered-{number}")
        assert api.post(f"{hooked.url}/hooks", make.root, url=url, **wanted).status_code == 201
    hooked.post("/repository/branches", branch="rel-1/x", ref="master")
    assert {got.path for got in receiver.some(4)} == {hooked.path, "/filtered-0", "/filtered-2", "/filtered-3"}
    hooked.post("/repository/branches", branch="other", ref="master")
    assert {got.path for got in receiver.some(2)} == {hooked.path, "/filtered-2"}


def test_hooks_of_parent_groups(api: Api, make: Make, receiver: Receiver, hooked: HookedProject) -> None:
    """A hook of a group receives the events of all projects below it, and of no other."""
    outer = make_group(make)
    inner = make_group(make, parent=outer)
    project = make_project(make, group=inner, initialize_with_readme=True)
    hook = api.post(f"/groups/{outer.id}/hooks", make.root, url=receiver.url("/group"), issues_events=True)
    assert hook.status_code == 201, hook.text
    hooked.post("/issues", title="Elsewhere")
    assert hooked.next("Issue Hook")
    api.post(f"{project.url}/issues", make.root, title="Inside")
    got = receiver.next()
    assert (got.path, got.body["project"]["path_with_namespace"]) == ("/group", project.path)
    tested = api.post(f"/groups/{outer.id}/hooks/{hook.json()['id']}/test/issues_events", make.root)
    assert (tested.status_code, tested.json()) == (201, {"message": "201 Created"})
    assert receiver.next().body["object_attributes"]["title"] == "Inside"


def test_events_of_a_group(api: Api, make: Make, receiver: Receiver, dispatcher: HookDispatcher) -> None:
    """Members, subgroups and projects at any depth; a hook without the flags receives none of them."""
    outer = make_group(make)
    flags = dict.fromkeys(("member_events", "subgroup_events", "project_events"), True)
    for path, sent in (("/quiet", {}), ("/group", flags)):
        made = api.post(f"{outer.url}/hooks", make.root, url=receiver.url(path), push_events=False, **sent)
        assert {name: made.json()[name] for name in flags} == dict.fromkeys(flags, bool(sent))

    def expect(header: str, name: str) -> Any:
        got = receiver.next()
        assert (got.path, got.headers["x-gitlab-event"], got.body["event_name"]) == ("/group", header, name)
        return got.body

    inner = make_group(make, parent=outer)
    assert expect("Subgroup Hook", "subgroup_create")["parent_group_id"] == outer.id
    expect("Member Hook", "user_add_to_group")
    member = make.user()
    api.post(f"{inner.url}/members", make.root, user_id=member.id, access_level=30)
    added = expect("Member Hook", "user_add_to_group")
    assert (added["group_id"], added["user_id"], added["group_access"]) == (inner.id, member.id, "Developer")
    api.delete(f"{inner.url}/members/{member.id}", make.root)
    expect("Member Hook", "user_remove_from_group")
    project = make_project(make, group=inner)
    assert expect("Project Hook", "project_create")["project_id"] == project.id
    api.delete(project.url, make.root)
    expect("Project Hook", "project_destroy")
    api.delete(inner.url, make.root)
    assert expect("Subgroup Hook", "subgroup_destroy")["group_id"] == inner.id


def test_milestone_events(hooked: HookedProject) -> None:
    milestone = hooked.post("/milestones", title="First")
    made = hooked.next("Milestone Hook")
    assert (made["object_kind"], made["action"], made["object_attributes"]["title"]) == ("milestone", "create", "First")
    hooked.put(f"/milestones/{milestone['id']}", state_event="close")
    assert hooked.next("Milestone Hook")["object_attributes"]["state"] == "closed"


def test_custom_templates(hooked: HookedProject, api: Api, make: Make) -> None:
    """Texts are escaped, other values are JSON, and a template that is no JSON is refused."""
    url = hooked.receiver.url(hooked.path)
    template = (
        '{"what": "{{object_kind}}: {{ object_attributes.title }}", "iid": {{object_attributes.iid}}, "no": "{{x.y}}"}'
    )
    saved = api.put(hooked.hook, make.root, url=url, custom_webhook_template=template)
    assert (saved.status_code, saved.json()["custom_webhook_template"]) == (200, template)
    hooked.post("/issues", title='One "two"')
    assert hooked.next("Issue Hook") == {"what": 'issue: One "two"', "iid": 1, "no": ""}
    refused = api.put(hooked.hook, make.root, url=url, custom_webhook_template="{{object_kind}")
    assert (refused.status_code, list(refused.json()["message"])) == (400, ["custom_webhook_template"])


def test_rejected_calls_send_no_events(hooked: HookedProject, api: Api, make: Make) -> None:
    """Changes without effect send none either."""
    assert api.post(f"{hooked.url}/issues", make.root, title="").status_code == 400
    issue = hooked.post("/issues", title="One")
    assert hooked.next("Issue Hook")["object_attributes"]["action"] == "open"
    hooked.put(f"/issues/{issue['iid']}", title="One")
    hooked.put(f"/issues/{issue['iid']}", title="Two")
    assert hooked.next("Issue Hook")["object_attributes"]["title"] == "Two"


def test_effects_of_a_push_are_sent_after_it(hooked: HookedProject) -> None:
    """New commits of a merge request, its merge, and the issues closed by either."""
    issues = [hooked.post("/issues", title=str(number))["iid"] for number in range(2)]
    hooked.receiver.some(2)
    write_file(hooked, "a", branch="work", start_branch="master")
    hooked.next("Push Hook")
    made = hooked.post(
        "/merge_requests",
        source_branch="work",
        target_branch="master",
        title="Work",
        description=f"Closes #{issues[0]}",
    )
    hooked.next("Merge Request Hook")
    write_file(hooked, "b", branch="work")
    hooked.next("Push Hook")
    assert hooked.next("Merge Request Hook")["object_attributes"]["action"] == "update"
    hooked.put(f"/merge_requests/{made['iid']}/merge", should_remove_source_branch=True)
    assert hooked.next("Push Hook")["ref"] == "refs/heads/master"
    assert hooked.next("Merge Request Hook")["object_attributes"]["action"] == "merge"
    assert hooked.next("Issue Hook")["object_attributes"]["action"] == "close"
    assert hooked.next("Push Hook")["ref"] == "refs/heads/work"
    write_file(hooked, "c", commit_message=f"Fixes #{issues[1]}")
    hooked.next("Push Hook")
    assert hooked.next("Issue Hook")["object_attributes"]["action"] == "close"
