"""Moving issues to other projects."""

from functools import partial

import httpx
import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue, make_milestone
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import make_group, make_project, statements_of

CALLERS = [
    (Level.REPORTER, Level.REPORTER, 201),
    (Level.REPORTER, Level.GUEST, 400),
    (Level.GUEST, Level.REPORTER, 400),
    (Level.NONE, Level.REPORTER, 404),
    (Level.REPORTER, Level.NONE, 404),
]


@pytest.mark.parametrize(("here", "there", "status"), CALLERS)
def test_moving_requires_a_reporter_in_both_projects(
    api: Api, make: Make, here: Level, there: Level, status: int
) -> None:
    caller = make.user()
    source, target = (make_project(make, members={caller: level}, visibility="private") for level in (here, there))
    issue = make_issue(make, source, make.root, title="wanders")

    answer = api.post(f"/projects/{source.id}/issues/{issue['iid']}/move", caller, to_project_id=target.id)

    assert answer.status_code == status, answer.text
    now = api.get(f"/projects/{source.id}/issues/{issue['iid']}", make.root).json()
    assert now["state"] == ("closed" if status == 201 else "opened")
    if status == 201:
        assert (answer.json()["project_id"], answer.json()["title"]) == (target.id, "wanders")
        assert now["moved_to_id"] == answer.json()["id"]
    elif status == 400:
        assert "reporter" in answer.json()["message"]
    else:
        assert answer.json() == {"message": "404 Project Not Found"}
        assert (
            answer.json()
            == api.post(f"/projects/{source.id}/issues/{issue['iid']}/move", caller, to_project_id=2**60).json()
        )


def test_moved_attributes(api: Api, make: Make) -> None:
    """Text, author, date and notes, and labels and milestones that the target also has."""
    author, mover, helper = make.user(), make.user(), make.user()
    source, target = (
        make_project(make, members={author: Level.GUEST, mover: Level.REPORTER, helper: Level.GUEST}) for _ in range(2)
    )
    issue = make_issue(
        make, source, make.root, title="t", description="see #1 and @x", due_date="2030-01-01", labels="both,here"
    )
    base = f"/projects/{source.id}/issues/{issue['iid']}"
    milestone = make_milestone(make, source, title="1.0")
    same = make_milestone(make, target, title="1.0")
    api.put(base, mover, milestone_id=milestone["id"], assignee_ids=[helper.id], confidential=True)
    api.post(f"{base}/time_estimate", mover, duration="1h")
    api.post(f"{base}/notes", author, body="hidden from me")
    note = api.post(f"{base}/notes", helper, body="I shall do it").json()
    assert api.post(f"{base}/award_emoji", helper, name="thumbsup").status_code == 201
    make_issue(make, target, mover, labels="both")

    answer = api.post(f"/projects/{source.id}/issues/{issue['iid']}/move", mover, to_project_id=target.id)

    assert answer.status_code == 201, answer.text
    moved = answer.json()
    assert (moved["iid"], moved["author"]["id"], moved["created_at"]) == (2, make.root.id, issue["created_at"])
    text = f"see {source.path}#1 and @x"
    assert (moved["description"], moved["due_date"], moved["confidential"]) == (text, "2030-01-01", True)
    assert (moved["labels"], moved["milestone"]["id"]) == (["both"], same["id"])
    assert [person["id"] for person in moved["assignees"]] == [helper.id]
    assert moved["time_stats"]["time_estimate"] == 3600
    assert (moved["upvotes"], moved["downvotes"]) == (1, 0)
    awards = api.get(f"/projects/{target.id}/issues/2/award_emoji", mover).json()
    assert [(award["name"], award["user"]["id"]) for award in awards] == [("thumbsup", helper.id)]
    there = api.get(f"/projects/{target.id}/issues/2/notes", mover, sort="asc").json()
    said = [each for each in there if not each["system"]]
    assert [(each["body"], each["author"]["id"], each["created_at"]) for each in said] == [
        ("I shall do it", helper.id, note["created_at"])
    ]
    here = api.get(f"{base}/notes", mover, sort="asc").json()
    told = [[each["body"] for each in notes if each["body"].startswith("moved")] for notes in (there, here)]
    assert told == [[f"moved from {source.path}#{issue['iid']}"], [f"moved to {target.path}#2"]]
    assert moved["user_notes_count"] == api.get(base, mover).json()["user_notes_count"] == 1
    counts = [api.get(f"/projects/{project.id}", mover).json()["open_issues_count"] for project in (source, target)]
    assert counts == [0, 1]  # Confidential notes are not part of public counts.


def test_tasks_move_with_their_issue(api: Api, make: Make) -> None:
    """As in GitLab; a task that moves alone stays part of its issue."""
    owner = make.user()
    source, target = make_project(make, owner), make_project(make, owner)
    issue = make_issue(make, source, owner, title="Whole")
    for title in ("Part 1", "Part 2", "Wanderer"):
        make_issue(make, source, owner, title=title, issue_type="task", parent_id=issue["id"])
    alone = api.post(f"{source.url}/issues/4/move", owner, to_project_id=target.id)
    assert alone.status_code == 201, alone.text
    assert _children(api, owner, source.path, 1) == ["Part 1", "Part 2", "Wanderer"]
    moved = api.post(f"{source.url}/issues/1/move", owner, to_project_id=target.id)
    assert moved.status_code == 201, moved.text
    assert _children(api, owner, target.path, moved.json()["iid"]) == ["Part 1", "Part 2", "Wanderer"]
    assert _children(api, owner, source.path, 1) == []
    states = [api.get(f"{source.url}/issues/{iid}", owner).json()["state"] for iid in (1, 2, 3, 4)]
    assert states == ["closed"] * 4
    tasks = api.get(f"{target.url}/issues", owner, issue_type="task", state="opened").json()
    assert sorted(task["title"] for task in tasks) == ["Part 1", "Part 2", "Wanderer"]


def _children(api: Api, user: User, path: str, iid: int) -> list[str]:
    query = """query($path: ID!, $iid: String!) { namespace(fullPath: $path) { workItem(iid: $iid) {
        widgets(onlyTypes: [HIERARCHY]) { ... on WorkItemWidgetHierarchy { children { nodes { title } } } } } } }"""
    sent = {"query": query, "variables": {"path": path, "iid": str(iid)}}
    answer = httpx.post(f"{api.url}/api/graphql", json=sent, headers={"PRIVATE-TOKEN": user.token})
    (widget,) = answer.json()["data"]["namespace"]["workItem"]["widgets"]
    return [node["title"] for node in widget["children"]["nodes"]]


def test_references_are_rewritten_with_the_project_path(api: Api, make: Make) -> None:
    """References by number need the path of the old project; unresolvable ones stay."""
    owner = make.user()
    group = make_group(make, owner)
    source, sibling = (make_project(make, owner, group=group) for _ in range(2))
    target = make_project(make, owner)
    for project in (source, source, sibling, target):
        make_issue(make, project, owner, title="there")
    near, far = sibling.path.split("/")[1], f"{target.path}#1"
    oid = "0123456789" * 4
    text = f"#1, #99, {near}#1, {far}, !3, `#1`, {oid}, 1234567, &#35; @{owner.username} http://x.y/#1"
    issue = make_issue(make, source, owner, description=text)
    base = f"/projects/{source.id}/issues/{issue['iid']}"
    assert api.post(f"{base}/notes", owner, body="As #2 says").status_code == 201

    moved = api.post(f"{base}/move", owner, to_project_id=target.id).json()

    own = source.path
    assert moved["description"] == (
        f"{own}#1, #99, {sibling.path}#1, {far}, {own}!3, `#1`, {own}@{oid}, 1234567, &#35; "
        f"@{owner.username} http://x.y/#1"
    )
    notes = api.get(f"/projects/{target.id}/issues/{moved['iid']}/notes", owner).json()
    assert f"As {own}#2 says" in [note["body"] for note in notes]


def test_the_target_is_shown_only_to_users_who_can_see_it(api: Api, make: Make) -> None:
    """Attack: learn from a public project of the private project to which an issue was moved."""
    owner, stranger = make.user(), make.user()
    source = make_project(make, owner, visibility="public")
    target = make_project(make, owner, visibility="private")
    base = f"/projects/{source.id}/issues/{make_issue(make, source, owner)['iid']}"
    assert api.post(f"{base}/move", owner, to_project_id=target.id).status_code == 201

    assert target.path in api.get(f"{base}/notes", owner).text
    assert target.path not in api.get(f"{base}/notes", stranger).text
    assert target.path not in api.get(base, stranger).text
    moved = api.get(f"/projects/{target.id}/issues/1", owner).json()["id"]
    assert [api.get(base, who).json()["moved_to_id"] for who in (owner, make.root, stranger)] == [moved, moved, None]
    for path in (f"/projects/{source.id}/issues", "/issues", f"/projects/{source.id}/search"):
        asked = {"search": "issue", "scope": "issues"} if path.endswith("search") else {"scope": "all", "per_page": 100}
        shown = [one for one in api.get(path, stranger, **asked).json() if one["project_id"] == source.id]
        assert [one["moved_to_id"] for one in shown] in ([None], []), path


def test_move_targets_are_read_in_one_statement(api: Api, make: Make) -> None:
    """However many issues of a page were moved."""
    owner = make.user()
    source, target = make_project(make, owner), make_project(make, owner)
    for _ in range(3):
        base = f"/projects/{source.id}/issues/{make_issue(make, source, owner)['iid']}"
        api.post(f"{base}/move", owner, to_project_id=target.id)
    path = f"/projects/{source.id}/issues"
    assert all(one["moved_to_id"] for one in api.get(path, owner).json())
    few, many = (statements_of(make, partial(api.get, path, owner, per_page=size)) for size in (1, 3))
    assert few == many


def test_rejected_moves(api: Api, make: Make) -> None:
    """A move within the project, a second move, an archived target, one without issues, and an invalid id."""
    owner = make.user()
    source, target, archived, bare = (make_project(make, owner) for _ in range(4))
    base = f"/projects/{source.id}/issues/{make_issue(make, source, owner)['iid']}"
    api.post(f"/projects/{archived.id}/archive", owner)
    api.put(f"/projects/{bare.id}", owner, issues_enabled=False)

    def move(to: object) -> tuple[int, object]:
        answer = api.post(f"{base}/move", owner, to_project_id=to)
        return answer.status_code, answer.json()["message"]

    assert move(source.id) == (400, "The issue is already in this project")
    assert move(archived.id)[0] == move(bare.id)[0] == 400
    assert move("x") == (400, {"to_project_id": ["is invalid"]})
    assert move(None) == (400, '400 (Bad request) "to_project_id" not given')
    assert api.post(f"{base}/move", owner, to_project_id=target.id).status_code == 201
    assert move(target.id) == (400, "The issue has already been moved")
    assert api.post(f"/projects/{source.id}/issues/999/move", owner, to_project_id=target.id).status_code == 404
    assert api.post(f"/projects/{source.id}/issues/999/move", owner, to_project_id=target.id).json() == {
        "message": "404 Issue Not Found"
    }
    assert len(api.get(f"/projects/{target.id}/issues", owner).json()) == 1


def test_administrators_move_to_any_project(api: Api, make: Make) -> None:
    source, target = make_project(make, make.user()), make_project(make, group=make_group(make))
    iid = make_issue(make, source, make.root)["iid"]

    assert api.post(f"/projects/{source.id}/issues/{iid}/move", make.root, to_project_id=target.id).status_code == 201


def test_a_closed_issue_stays_closed(api: Api, make: Make) -> None:
    owner = make.user()
    source, target = make_project(make, owner), make_project(make, owner)
    base = f"/projects/{source.id}/issues/{make_issue(make, source, owner)['iid']}"
    api.put(base, owner, state_event="close")

    moved = api.post(f"{base}/move", owner, to_project_id=target.id).json()

    assert moved["state"] == "closed"
    assert moved["closed_by"]["id"] == owner.id


def test_uploads_are_copied(instance: Instance, api: Api, make: Make) -> None:
    """A link to an upload of the project points to a copy in the target; all other text stays."""
    owner = make.user()
    source, target = make_project(make, owner), make_project(make, owner)
    files = {"file": ("dog.png", b"\x89PNG woof")}
    upload = api.request("POST", f"/projects/{source.id}/uploads", owner, files=files).json()
    strange = "![a](/uploads/" + "1" * 32 + "/../../../../etc/passwd) [b](/uploads/" + "2" * 32 + "/none.png)"
    text = f"{upload['markdown']} {strange} {upload['url']}"
    base = f"/projects/{source.id}/issues/{make_issue(make, source, owner, description=text)['iid']}"
    api.post(f"{base}/notes", owner, body=upload["markdown"])

    moved = api.post(f"{base}/move", owner, to_project_id=target.id).json()

    link = moved["description"].split(" ")[0]
    assert link.startswith("![dog](/uploads/")
    assert link != upload["markdown"]
    assert moved["description"] == f"{link} {strange} {upload['url']}"
    notes = api.get(f"/projects/{target.id}/issues/{moved['iid']}/notes", owner).json()
    assert [note["body"] for note in notes if not note["system"]] == [link]
    secret = link.removeprefix("![dog](/uploads/").removesuffix("/dog.png)")
    uploads = instance.settings.data / "uploads"
    assert (uploads / str(target.id) / secret / "dog.png").read_bytes() == b"\x89PNG woof"
    assert [entry.name for entry in (uploads / str(target.id)).iterdir()] == [secret]


def test_uploads_of_other_projects_are_not_copied(instance: Instance, api: Api, make: Make) -> None:
    """Attack: obtain a file by mentioning it in a text and moving the issue."""
    owner, attacker = make.user(), make.user()
    hidden = make_project(make, owner, visibility="private")
    files = {"file": ("secret.txt", b"treasure")}
    upload = api.request("POST", f"/projects/{hidden.id}/uploads", owner, files=files).json()
    source, target = make_project(make, attacker), make_project(make, attacker)
    texts = [
        upload["markdown"],
        "![a](/uploads/" + "1" * 32 + "/../../../../../../../../etc/passwd)",
        "![a](/uploads/" + "1" * 32 + "/..)",
        "![a](/uploads/../" + str(hidden.id) + upload["url"].removeprefix("/uploads") + ")",
    ]
    for text in texts:
        iid = make_issue(make, source, attacker, description=text)["iid"]
        answer = api.post(f"/projects/{source.id}/issues/{iid}/move", attacker, to_project_id=target.id)
        assert (answer.status_code, answer.json()["description"]) == (201, text)
    assert not (instance.settings.data / "uploads" / str(target.id)).exists()
