"""Notes of issues: permissions, text and counts."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.factories import Project, ids, make_project, statements_of
from tests.roles import UsersByRole, project_with

FIELDS = {
    "id",
    "type",
    "body",
    "attachment",
    "author",
    "created_at",
    "updated_at",
    "system",
    "noteable_id",
    "noteable_type",
    "project_id",
    "commit_id",
    "resolvable",
    "confidential",
    "internal",
    "noteable_iid",
}


def make_issue(api: Api, project: Project, author: User | None, **attributes: Any) -> dict[str, Any]:
    """Create an issue."""
    made = api.post(f"{project.url}/issues", author, **{"title": "one", **attributes})
    assert made.status_code == 201, made.text
    shown: dict[str, Any] = made.json()
    return shown


def test_write_read_edit_delete(api: Api, make: Make) -> None:
    """Life cycle of a note, and the counts of its issue."""
    owner = make.user()
    project = make_project(make, owner)
    issue = make_issue(api, project, owner)
    written = api.post(f"/projects/{project.id}/issues/1/notes", owner, body="<b>one</b> ü")
    assert written.status_code == 201, written.text
    note = written.json()
    assert note.keys() == FIELDS
    assert (note["body"], note["system"], note["noteable_type"]) == ("<b>one</b> ü", False, "Issue")
    assert (note["noteable_id"], note["noteable_iid"], note["type"]) == (issue["id"], 1, None)
    assert note["author"]["id"] == owner.id
    assert api.get(f"/projects/{project.id}/issues/1/notes/{note['id']}", owner).json() == note
    assert api.get(f"/projects/{project.id}/issues/1/notes", owner).json() == [note]
    now = api.get(f"/projects/{project.id}/issues/1", owner).json()
    assert now["user_notes_count"] == 1
    assert now["updated_at"] == note["created_at"]

    edited = api.put(f"/projects/{project.id}/issues/1/notes/{note['id']}", owner, body="two")
    assert (edited.status_code, edited.json()["body"]) == (200, "two")
    assert edited.json()["created_at"] == note["created_at"]

    for _ in range(2):
        gone = api.delete(f"/projects/{project.id}/issues/1/notes/{note['id']}", owner)
        assert (gone.status_code, gone.content) == (200, b"")
    assert api.get(f"/projects/{project.id}/issues/1/notes/{note['id']}", owner).status_code == 404
    assert api.put(f"/projects/{project.id}/issues/1/notes/{note['id']}", owner, body="x").status_code == 404
    assert api.get(f"/projects/{project.id}/issues/1", owner).json()["user_notes_count"] == 0


def test_order_and_filters(api: Api, make: Make) -> None:
    """Newest first by default; filters by user and system notes."""
    owner = make.user()
    project = make_project(make, owner)
    make_issue(api, project, owner)
    base = f"/projects/{project.id}/issues/1"
    first = api.post(f"{base}/notes", owner, body="first", created_at="2020-01-01T00:00:00Z").json()
    second = api.post(f"{base}/notes", owner, body="second", created_at="2021-01-01T00:00:00Z").json()
    assert first["created_at"] == "2020-01-01T00:00:00.000Z"
    assert ids(api.get(f"{base}/notes", owner)) == [second["id"], first["id"]]
    assert ids(api.get(f"{base}/notes", owner, sort="asc")) == [first["id"], second["id"]]
    api.put(f"{base}/notes/{first['id']}", owner, body="edited")
    assert ids(api.get(f"{base}/notes", owner, order_by="updated_at")) == [first["id"], second["id"]]
    assert ids(api.get(f"{base}/notes", owner, per_page=1, page=2, sort="asc")) == [second["id"]]
    keyset = api.get(f"{base}/notes", owner, pagination="keyset", per_page=1, order_by="created_at", sort="desc")
    assert ids(keyset) == [second["id"]]
    api.put(base, owner, state_event="close")
    system = ids(api.get(f"{base}/notes", owner, activity_filter="only_activity"))
    assert len(system) == 1
    assert ids(api.get(f"{base}/notes", owner, activity_filter="only_comments", sort="asc")) == [
        first["id"],
        second["id"],
    ]
    assert api.get(f"{base}", owner).json()["user_notes_count"] == 2
    for wrong in ({"order_by": "body"}, {"sort": "up"}, {"activity_filter": "some"}):
        assert api.get(f"{base}/notes", owner, **wrong).status_code == 400


CALLERS = [
    # Read and write access in a private and a public project; edit access to notes of others.
    ("administrator", 200, 201, 200, 201, 200),
    ("owner", 200, 201, 200, 201, 200),
    ("master", 200, 201, 200, 201, 200),
    ("developer", 200, 201, 200, 201, 403),
    ("reporter", 200, 201, 200, 201, 403),
    ("guest", 200, 201, 200, 201, 403),
    ("stranger", 404, 404, 200, 201, 403),
    ("nobody", 401, 401, 401, 401, 401),
]


@pytest.mark.parametrize(("role", "read", "write", "read_public", "write_public", "moderate"), CALLERS)
def test_permissions_to_read_and_write(
    api: Api,
    make: Make,
    roles: UsersByRole,
    role: str,
    read: int,
    write: int,
    read_public: int,
    write_public: int,
    moderate: int,
) -> None:
    """All who can see an issue read and write; masters edit notes of others."""
    author = make.user()
    for visibility, reads, writes in (("private", read, write), ("public", read_public, write_public)):
        project = project_with(make, roles, visibility=visibility)
        make_issue(api, project, roles.owner)
        base = f"/projects/{project.id}/issues/1/notes"
        assert api.get(base, roles[role]).status_code == reads
        assert api.post(base, roles[role], body="mine").status_code == writes
    other = api.post(base, author, body="of another").json()["id"]
    assert api.put(f"{base}/{other}", roles[role], body="changed").status_code == moderate
    assert api.delete(f"{base}/{other}", roles[role]).status_code == moderate
    assert api.get(f"{base}/{other}", author).status_code == (404 if moderate == 200 else 200)


@pytest.mark.parametrize("body", ["", "   \n\t", None])
def test_blank_notes_are_rejected(api: Api, make: Make, body: str | None) -> None:
    """On creation and edit."""
    owner = make.user()
    project = make_project(make, owner)
    make_issue(api, project, owner)
    base = f"/projects/{project.id}/issues/1/notes"
    note = api.post(base, owner, body="one").json()["id"]
    sent = {} if body is None else {"body": body}
    assert api.post(base, owner, **sent).status_code == 400
    assert api.put(f"{base}/{note}", owner, **sent).status_code == 400
    assert api.post(f"/projects/{project.id}/issues/1/discussions", owner, **sent).status_code == 400
    assert api.get(f"/projects/{project.id}/issues/1", owner).json()["user_notes_count"] == 1


def test_size_limit_and_wrong_types(api: Api, make: Make) -> None:
    """A million characters are stored, one more is rejected."""
    owner = make.user()
    project = make_project(make, owner)
    make_issue(api, project, owner)
    base = f"/projects/{project.id}/issues/1/notes"
    assert len(api.post(base, owner, body="ü" * 1_000_000).json()["body"]) == 1_000_000
    for body in ("x" * 1_000_001, ["a"], {"a": 1}, "a\0b"):
        assert api.post(base, owner, body=body).status_code == 400
    for number in ("0", "99999999999", "9223372036854775807"):
        assert api.get(f"{base}/{number}", owner).status_code == 404
    for number in ("x", "-1", "99999999999999999999", "1.5"):
        assert api.get(f"{base}/{number}", owner).status_code == 400
    assert api.post(base, owner, body="x", created_at="yesterday").status_code == 400
    assert api.post(base, owner, body="x", internal="perhaps").status_code == 400


def test_only_owners_set_the_creation_date(api: Api, make: Make) -> None:
    """The parameter of other users is ignored."""
    owner, master = make.user(), make.user()
    project = make_project(make, owner, members={master: Level.MASTER})
    make_issue(api, project, owner)
    base = f"/projects/{project.id}/issues/1/notes"
    written = api.post(base, master, body="x", created_at="2001-01-01T00:00:00Z").json()
    assert not written["created_at"].startswith("2001")
    assert (
        api.post(base, make.root, body="x", created_at="2001-01-01T00:00:00Z").json()["created_at"].startswith("2001")
    )


def test_notes_of_another_parent(api: Api, make: Make) -> None:
    """A note is found only below its own noteable."""
    owner = make.user()
    here, there = make_project(make, owner), make_project(make, owner)
    for project in (here, there):
        make_issue(api, project, owner)
        make_issue(api, project, owner, title="two")
    note = api.post(f"/projects/{here.id}/issues/1/notes", owner, body="one").json()["id"]
    discussion = api.get(f"/projects/{here.id}/issues/1/discussions", owner).json()[0]["id"]
    for wrong in (f"/projects/{here.id}/issues/2", f"/projects/{there.id}/issues/1"):
        assert api.get(f"{wrong}/notes/{note}", owner).status_code == 404
        assert api.put(f"{wrong}/notes/{note}", owner, body="x").status_code == 404
        assert api.delete(f"{wrong}/notes/{note}", owner).status_code == 200
        assert api.get(f"{wrong}/notes/{note}/award_emoji", owner).status_code == 404
        assert api.post(f"{wrong}/notes/{note}/award_emoji", owner, name="tada").status_code == 404
        assert api.get(f"{wrong}/discussions/{discussion}", owner).status_code == 404
        assert api.post(f"{wrong}/discussions/{discussion}/notes", owner, body="x").status_code == 404
    assert api.get(f"/projects/{here.id}/issues/1/notes/{note}", owner).json()["body"] == "one"


def test_archived_projects_and_locked_issues(api: Api, make: Make) -> None:
    """Archived projects are read-only; locked issues accept notes of members only."""
    owner, guest, stranger = make.user(), make.user(), make.user()
    project = make_project(make, owner, visibility="public", members={guest: Level.GUEST})
    make_issue(api, project, owner)
    base = f"/projects/{project.id}/issues/1"
    theirs = api.post(f"{base}/notes", stranger, body="before").json()["id"]
    assert api.put(base, owner, discussion_locked=True).status_code == 200
    assert api.post(f"{base}/notes", stranger, body="x").status_code == 403
    assert api.put(f"{base}/notes/{theirs}", stranger, body="x").status_code == 403
    assert api.delete(f"{base}/notes/{theirs}", stranger).status_code == 403
    assert api.post(f"{base}/discussions", stranger, body="x").status_code == 403
    assert api.post(f"{base}/award_emoji", stranger, name="tada").status_code == 403
    mine = api.post(f"{base}/notes", guest, body="x")
    assert mine.status_code == 201
    api.post(f"/projects/{project.id}/archive", owner)
    assert api.get(f"{base}/notes", stranger).status_code == 200
    assert api.post(f"{base}/notes", owner, body="x").status_code == 403
    assert api.put(f"{base}/notes/{mine.json()['id']}", guest, body="x").status_code == 403
    assert api.delete(f"{base}/notes/{mine.json()['id']}", owner).status_code == 403
    assert api.post(f"{base}/award_emoji", owner, name="tada").status_code == 403


def test_disabled_issues_hide_notes(api: Api, make: Make) -> None:
    """With issues disabled, their notes are hidden."""
    owner = make.user()
    project = make_project(make, owner)
    make_issue(api, project, owner)
    base = f"/projects/{project.id}/issues/1"
    api.put(f"/projects/{project.id}", owner, issues_enabled=False)
    refused = api.get(base, owner).status_code
    assert refused in (403, 404)
    for path in ("notes", "discussions", "award_emoji", "resource_state_events"):
        assert api.get(f"{base}/{path}", owner).status_code == refused, path
    assert api.post(f"{base}/notes", owner, body="x").status_code == refused
    assert api.post(f"{base}/award_emoji", owner, name="tada").status_code == refused


def test_internal_notes(api: Api, make: Make) -> None:
    """Hidden from users below reporter, also in counts."""
    owner, guest, reporter, author = (make.user() for _ in range(4))
    project = make_project(make, owner, visibility="public", members={guest: Level.GUEST, reporter: Level.REPORTER})
    make_issue(api, project, author)
    base = f"/projects/{project.id}/issues/1"
    note = api.post(f"{base}/notes", reporter, body="among us", internal=True)
    assert note.status_code == 201
    assert note.json()["internal"] is note.json()["confidential"] is True
    number = note.json()["id"]
    discussion = api.get(f"{base}/discussions", reporter).json()[0]["id"]
    answered = api.post(f"{base}/discussions/{discussion}/notes", reporter, body="so is this").json()
    assert answered["internal"]
    assert api.post(f"{base}/notes", guest, body="x", internal=True).status_code == 403
    assert api.post(f"{base}/notes", author, body="x", confidential=True).status_code == 403
    assert api.get(base, owner).json()["user_notes_count"] == 0
    for person, sees in ((owner, True), (reporter, True), (author, True), (guest, False), (make.user(), False)):
        assert len(api.get(f"{base}/notes", person).json()) == (2 if sees else 0)
        assert len(api.get(f"{base}/discussions", person).json()) == (1 if sees else 0)
        status = 200 if sees else 404
        assert api.get(f"{base}/notes/{number}", person).status_code == status
        assert api.get(f"{base}/discussions/{discussion}", person).status_code == status
        assert api.get(f"{base}/notes/{number}/award_emoji", person).status_code == status
        replied = api.post(f"{base}/discussions/{discussion}/notes", person, body=" ")
        assert replied.status_code == (400 if sees else 404)


def test_statements_do_not_grow(api: Api, make: Make) -> None:
    """The statement count of a page of notes or discussions does not depend on its length."""
    owner = make.user()
    project = make_project(make, owner)
    make_issue(api, project, owner)
    base = f"/projects/{project.id}/issues/1"
    api.post(f"{base}/notes", owner, body="one")

    def costs() -> tuple[int, int]:
        return (
            statements_of(make, lambda: api.get(f"{base}/notes", owner)),
            statements_of(make, lambda: api.get(f"{base}/discussions", owner)),
        )

    before = costs()
    for _ in range(5):
        other = make.user()
        add = {"user_id": other.id, "access_level": 30}
        assert api.post(f"/projects/{project.id}/members", owner, **add).status_code == 201
        api.post(f"{base}/notes", other, body="more")
    assert costs() == before
    assert len(api.get(f"{base}/discussions", owner).json()) == 6


def test_concurrent_notes_and_deletions(api: Api, make: Make) -> None:
    """Concurrent notes are all counted; concurrent deletions of one note delete it once."""
    owner = make.user()
    project = make_project(make, owner)
    make_issue(api, project, owner)
    base = f"/projects/{project.id}/issues/1"
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda number: api.post(f"{base}/notes", owner, body=f"{number}").json()["id"], range(16)))
    assert api.get(base, owner).json()["user_notes_count"] == len(set(made)) == 16
    with ThreadPoolExecutor(8) as pool:
        gone = list(pool.map(lambda _: api.delete(f"{base}/notes/{made[0]}", owner).status_code, range(8)))
    assert gone == [200] * 8
    assert api.get(base, owner).json()["user_notes_count"] == 15


def test_deleted_issues_and_users(api: Api, make: Make) -> None:
    """Notes of a deleted user move to the ghost user, or are deleted with all contributions and not counted."""
    owner, leaver, other = make.user(), make.user(), make.user()
    project = make_project(make, owner, visibility="public")
    make_issue(api, project, owner)
    base = f"/projects/{project.id}/issues/1"
    for person in (leaver, other):
        api.post(f"{base}/notes", person, body="x")
        api.post(f"{base}/award_emoji", person, name="thumbsup")
    assert api.delete(f"/users/{leaver.id}", make.root).status_code in (200, 204)
    assert api.get(base, owner).json()["user_notes_count"] == 2
    assert api.get(base, owner).json()["upvotes"] == 2
    assert len(api.get(f"{base}/award_emoji", owner).json()) == 2
    assert api.delete(f"/users/{other.id}", make.root, hard_delete=True).status_code in (200, 204)
    now = api.get(base, owner).json()
    assert (now["user_notes_count"], now["upvotes"]) == (1, 1)
    assert len(api.get(f"{base}/notes", owner).json()) == 1
    assert api.delete(base, owner).status_code == 200
    assert api.get(f"{base}/notes", owner).status_code == 404
