"""Commits of several files by one call."""

import base64
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from sqlalchemy import bindparam, select

from ingot.repositories.ref_changes.tables import ref_changes
from tests.api.repository.writable_repository import MODULE, WritableRepository, act, message_of
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project

_CHANGES = select(ref_changes.c.ref, ref_changes.c.old, ref_changes.c.new, ref_changes.c.actor_id).where(
    ref_changes.c.project_id == bindparam("project")
)


def test_all_actions_in_one_commit(api: Api, make: Make, writable: WritableRepository) -> None:
    """Files are created, updated, moved, deleted and made executable; all others stay."""
    answer = api.post(
        f"/projects/{writable.project.id}/repository/commits",
        writable.developer,
        branch="dev",
        commit_message="Änderung 🦊\n\nWith a body",
        actions=[
            act("create", "new/ünï.txt", content="text ü\n"),
            act("create", "bin", content=base64.b64encode(bytes(range(256))).decode(), encoding="base64"),
            act("update", "README.md", content="changed\n"),
            act("move", "moved/run.sh", previous_path="run.sh"),
            act("move", "moved/lines", previous_path="lines", content="other\n"),
            act("delete", "deep/er/file"),
            act("chmod", "README.md", execute_filemode=True),
        ],
    )
    assert answer.status_code == 201, answer.text
    commit = answer.json()
    assert commit["id"] == writable.tip()
    assert commit["parent_ids"] == [writable.first]
    assert (commit["title"], commit["message"]) == ("Änderung 🦊", "Änderung 🦊\n\nWith a body")
    assert commit["author_name"] == commit["committer_name"] == writable.developer.username
    assert commit["author_email"] == commit["committer_email"] == writable.developer.email
    assert commit["authored_date"].endswith("+00:00")
    assert commit["stats"]["total"] == commit["stats"]["additions"] + commit["stats"]["deletions"] > 3
    assert commit["status"] is None
    assert writable.listed() == {
        "README.md": "100755",
        "bin": "100644",
        "link": "120000",
        "module": "160000",
        "moved/lines": "100644",
        "moved/run.sh": "100755",
        "new/ünï.txt": "100644",
    }
    assert writable.content("bin") == bytes(range(256))
    assert writable.content("moved/lines") == b"other\n"
    assert MODULE in writable.git("ls-tree", "dev", "module")
    again = api.get(f"/projects/{writable.project.id}/repository/commits/dev", writable.developer).json()
    assert again == commit
    assert api.get(f"/projects/{writable.project.id}", writable.developer).json()["default_branch"] == "master"


def test_all_actions_or_none(writable: WritableRepository) -> None:
    """One invalid action rejects the whole commit."""
    refused = writable.commit(act("create", "fine", content="x"), act("update", "nope", content="x"))
    assert message_of(refused) == "A file with this name doesn't exist"
    assert writable.tip() == writable.first


REFUSED: list[tuple[dict[str, Any], Any]] = [
    (act("create", "README.md", content="x"), "A file with this name already exists"),
    (act("create", "deep/er", content="x"), "A directory with this name already exists"),
    (act("delete", "nope"), "A file with this name doesn't exist"),
    (act("move", "x", previous_path="nope"), "A file with this name doesn't exist"),
    (act("move", "README.md", previous_path="lines"), "A file with this name already exists"),
    (act("create", "README.md/x", content="x"), "A parent of the path is a file, not a directory"),
    (act("create", "link/passwd", content="x"), "A parent of the path is a file, not a directory"),
    (act("create", "../x", content="x"), "The path cannot have '.' or '..' as a part"),
    (act("create", "a/../../x", content="x"), "The path cannot have '.' or '..' as a part"),
    (act("create", "/etc/passwd", content="x"), "The path cannot begin or end with a slash, or have two in a row"),
    (act("create", ".git/config", content="x"), "The path cannot contain '.git'"),
    (act("create", "a/.GIT/config", content="x"), "The path cannot contain '.git'"),
    (act("create", "git~1/config", content="x"), "The path cannot contain '.git'"),
    (act("create", "a/.g\u200cit/hooks", content="x"), "The path cannot contain '.git'"),
    (act("create", "", content="x"), "The path can't be blank"),
    (act("create", "x" * 5000, content="x"), "The path is too long"),
    (act("create", "x"), {"actions": ['"content" not given']}),
    (act("update", "README.md"), {"actions": ['"content" not given']}),
    (act("move", "x"), {"actions": ['"previous_path" not given']}),
    (act("chmod", "README.md"), {"actions": ['"execute_filemode" not given']}),
    ({"action": "create", "content": "x"}, {"actions": ['"file_path" not given']}),
    ({"file_path": "x", "content": "x"}, {"actions": ['"action" not given']}),
    (act("explode", "x", content="x"), {"actions": ["action is invalid"]}),
    (act("create", "x", content="x", encoding="utf-7"), {"actions": ["encoding is invalid"]}),
    (act("create", "x", content={"a": 1}), {"actions": ["content is invalid"]}),
    (act("create", "x", content="\ud800"), None),
    (act("create", "\0", content="x"), {"actions": ["file_path is invalid"]}),
]


@pytest.mark.parametrize(("action", "reason"), REFUSED)
def test_invalid_actions_are_rejected(
    api: Api, writable: WritableRepository, action: dict[str, Any], reason: Any
) -> None:
    """Each with its reason, and the branch does not move."""
    if reason is None:  # JSON can encode a lone surrogate; the client library cannot.
        body = (
            b'{"branch":"dev","commit_message":"x","actions":[{"action":"create","file_path":"x","content":"\\ud800"}]}'
        )
        headers = {"content-type": "application/json"}
        path = f"/projects/{writable.project.id}/repository/commits"
        assert api.request("POST", path, writable.developer, content=body, headers=headers).status_code == 400
    else:
        assert message_of(writable.commit(action)) == reason
    assert writable.tip() == writable.first


def test_missing_parameters(api: Api, writable: WritableRepository) -> None:
    """The first missing one is reported."""
    path = f"/projects/{writable.project.id}/repository/commits"
    action = act("create", "x", content="x")
    assert message_of(api.post(path, writable.developer)) == '400 (Bad request) "branch" not given'
    assert (
        message_of(api.post(path, writable.developer, branch="dev")) == '400 (Bad request) "commit_message" not given'
    )
    said = {"branch": "dev", "commit_message": "x"}
    assert message_of(api.post(path, writable.developer, **said)) == '400 (Bad request) "actions" not given'
    assert message_of(writable.commit()) == {"actions": ["can't be blank"]}
    assert message_of(writable.commit(action, commit_message=" \n")) == {"commit_message": ["can't be blank"]}
    assert message_of(writable.commit(action, branch="")) == {"branch": ["can't be blank"]}
    assert message_of(writable.commit(action, actions="create")) == {"actions": ["is invalid"]}


BRANCHES = [
    "nope",
    "--output=/tmp/x",
    "a..b",
    "../x",
    "refs/heads/dev",
    "x" * 100_000,
    "HEAD",
    "0" * 40,
    "dev/below",
    "é",
]


@pytest.mark.parametrize("branch", BRANCHES)
def test_missing_branches(writable: WritableRepository, branch: str) -> None:
    """A branch must exist, unless the call names a start branch."""
    before = writable.git("for-each-ref")
    message_of(writable.commit(act("create", "x", content="x"), branch=branch))
    if branch not in ("nope", "é"):
        message_of(writable.commit(act("create", "x", content="x"), branch=branch, start_branch="dev"))
    assert writable.git("for-each-ref") == before


def test_custom_author(writable: WritableRepository) -> None:
    """The caller stays the committer."""
    said: dict[str, Any] = {"author_name": "Eve\nauthor Root <root@x>", "author_email": "eve@example.org"}
    commit = writable.commit(act("create", "x", content="x"), **said).json()
    assert (commit["author_name"], commit["author_email"]) == ("Eveauthor Root root@x", "eve@example.org")
    assert (commit["committer_name"], commit["committer_email"]) == (
        writable.developer.username,
        writable.developer.email,
    )
    half = writable.commit(act("create", "y", content="x"), author_name="Only a name").json()
    assert (half["author_name"], half["author_email"]) == ("Only a name", writable.developer.email)


def test_without_stats(writable: WritableRepository) -> None:
    """They are omitted on request."""
    assert "stats" not in writable.commit(act("create", "x", content="x"), stats=False).json()


def test_form_encoded_actions(api: Api, writable: WritableRepository) -> None:
    """In forms, a repeated field name starts the next action."""
    fields = [
        ("branch", "dev"),
        ("commit_message", "By a form"),
        ("actions[][action]", "create"),
        ("actions[][file_path]", "a"),
        ("actions[][content]", "1"),
        ("actions[][action]", "update"),
        ("actions[][file_path]", "README.md"),
        ("actions[][content]", "2"),
    ]
    headers = {"content-type": "application/x-www-form-urlencoded"}
    path = f"/projects/{writable.project.id}/repository/commits"
    answer = api.request("POST", path, writable.developer, content=urlencode(fields).encode(), headers=headers)
    assert answer.status_code == 201, answer.text
    assert (writable.content("a"), writable.content("README.md")) == (b"1", b"2")


def test_base64_with_line_breaks(writable: WritableRepository) -> None:
    """As some libraries encode it."""
    content = base64.encodebytes(b"x" * 200).decode()
    assert writable.commit(act("create", "x", content=content, encoding="base64")).status_code == 201
    assert writable.content("x") == b"x" * 200


def test_line_endings_and_empty_files(writable: WritableRepository) -> None:
    """Content is stored unchanged."""
    assert (
        writable.commit(act("create", "crlf", content="a\r\nb"), act("create", "none", content="")).status_code == 201
    )
    assert (writable.content("crlf"), writable.content("none")) == (b"a\r\nb", b"")


def test_first_commit(api: Api, empty_writable: WritableRepository) -> None:
    """It creates the default branch of an empty repository; this requires a master."""
    writable = empty_writable
    action = act("create", "README.md", content="hello\n")
    assert writable.commit(action, branch="main").status_code == 403
    made = writable.commit(action, branch="main", who=writable.master)
    assert made.status_code == 201, made.text
    assert made.json()["parent_ids"] == []
    project = api.get(f"/projects/{writable.project.id}", writable.master).json()
    assert (project["default_branch"], project["empty_repo"]) == ("main", False)
    assert writable.git("symbolic-ref", "HEAD") == "refs/heads/main"
    branch = api.get(f"/projects/{writable.project.id}/repository/branches/main", writable.master).json()
    assert branch["protected"] is True
    assert message_of(writable.commit(action, branch="other", who=writable.master)) == (
        "You can only create or edit files when you are on a branch"
    )


def test_new_branch(api: Api, make: Make, writable: WritableRepository) -> None:
    """From another branch or a commit; an existing branch is reset only with force."""
    moved = writable.commit(act("create", "on-dev", content="1")).json()["id"]
    action = act("create", "x", content="x")
    made = writable.commit(action, branch="feature/one", start_branch="dev")
    assert made.json()["parent_ids"] == [moved]
    at_sha = writable.commit(action, branch="two", start_sha=writable.first, start_project=writable.project.id)
    assert at_sha.json()["parent_ids"] == [writable.first]
    assert "already exists" in message_of(writable.commit(action, branch="two", start_branch="dev"))
    forced = writable.commit(action, branch="two", start_branch="dev", force=True, start_project=writable.project.path)
    assert forced.json()["parent_ids"] == [moved]
    assert writable.tip("two") == forced.json()["id"]
    assert writable.commit(act("create", "y", content="y"), branch="two", start_branch="two").status_code == 201
    assert "on a branch" in message_of(writable.commit(action, branch="three", start_branch="nope"))
    for sha in ("0" * 40, "nope", "dev..master", "-x"):
        assert "start_sha" in message_of(writable.commit(action, branch="three", start_sha=sha))
    both: dict[str, Any] = {"start_sha": writable.first, "start_branch": "dev"}
    assert "start_sha" in message_of(writable.commit(action, branch="three", **both))
    elsewhere = make_project(make, visibility="private")
    for other in (elsewhere.id, elsewhere.path, "nobody/nothing"):
        refused = writable.commit(action, branch="three", start_branch="dev", start_project=other)
        assert message_of(refused) == {"start_project": ["can only be this project"]}
    assert api.get(f"/projects/{writable.project.id}/repository/branches/three", writable.developer).status_code == 404


def test_last_commit_id(writable: WritableRepository) -> None:
    """An outdated state of a file does not overwrite a newer one."""
    second = writable.commit(act("update", "README.md", content="2")).json()["id"]
    stale = writable.commit(act("update", "README.md", content="3", last_commit_id=writable.first))
    assert message_of(stale) == ("You are attempting to update a file that has changed since you started editing it.")
    assert writable.commit(act("create", "other", content="x")).status_code == 201
    known = [
        act("update", "README.md", content="3", last_commit_id=second),
        act("move", "moved", previous_path="lines", last_commit_id=writable.first),
    ]
    assert writable.commit(*known).status_code == 201


def test_empty_commit(writable: WritableRepository) -> None:
    """A commit of several actions may change nothing."""
    made = writable.commit(act("update", "README.md", content="hello\n"))
    assert made.status_code == 201
    assert made.json()["stats"] == {"additions": 0, "deletions": 0, "total": 0}


def test_permissions(api: Api, make: Make, writable: WritableRepository) -> None:
    """Developers commit, but not to protected branches or archived projects."""
    path = f"/projects/{writable.project.id}/repository/commits"
    said = {"branch": "dev", "commit_message": "x", "actions": [act("create", "who", content="x")]}
    assert api.post(path, None, **said).status_code == 401
    assert writable.commit(act("create", "who", content="x"), who=writable.stranger).status_code == 403
    assert writable.commit(act("create", "who", content="x"), who=writable.reporter).status_code == 403
    hidden = make_project(make, visibility="private")
    assert api.post(f"/projects/{hidden.id}/repository/commits", writable.developer, **said).status_code == 404
    denied = writable.commit(act("update", "nope", content="x"), branch="master")
    assert denied.status_code == 403, "A denied caller learns nothing about files."
    assert "protected branches" in denied.json()["message"]
    assert writable.commit(act("create", "who", content="x"), branch="master", who=writable.master).status_code == 201
    assert writable.commit(act("create", "who", content="x")).status_code == 201
    started = writable.commit(act("create", "w", content="x"), branch="master", start_branch="dev", force=True)
    assert started.status_code == 403
    forced = writable.commit(
        act("create", "w", content="x"), branch="master", start_branch="dev", force=True, who=writable.master
    )
    assert forced.status_code == 403
    protect = {"name": "rel/*", "push_access_level": 0}
    assert (
        api.post(f"/projects/{writable.project.id}/protected_branches", writable.master, **protect).status_code == 201
    )
    fresh = writable.commit(act("create", "w", content="x"), branch="rel/1", start_branch="dev", who=writable.master)
    assert fresh.status_code == 403
    api.post(f"/projects/{writable.project.id}/archive", make.root)
    assert writable.commit(act("create", "late", content="x")).status_code == 403
    assert writable.commit(act("create", "late", content="x"), who=make.root).status_code == 403
    api.post(f"/projects/{writable.project.id}/unarchive", make.root)


def test_too_large_bodies(api: Api, writable: WritableRepository) -> None:
    """A body over the limit is not read."""
    where = urlsplit(api.url)
    connection = HTTPConnection(where.hostname or "", where.port)
    connection.putrequest("POST", f"/api/v4/projects/{writable.project.id}/repository/commits")
    sent = {
        "private-token": writable.developer.token,
        "content-type": "application/json",
        "content-length": 200 * 2**20,
    }
    for name, value in sent.items():
        connection.putheader(name, str(value))
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


def test_bodies_above_the_default_limit(writable: WritableRepository) -> None:
    """A file larger than the default body limit is accepted."""
    assert writable.commit(act("create", "large", content="x" * (12 * 2**20))).status_code == 201
    assert len(writable.content("large")) == 12 * 2**20


def test_the_change_is_recorded(api: Api, instance: Instance, writable: WritableRepository) -> None:
    """One event is emitted, and the project's activity date is updated."""
    before = api.get(f"/projects/{writable.project.id}", writable.developer).json()["last_activity_at"]
    commit = writable.commit(act("create", "x", content="x")).json()["id"]
    changes = instance.app.database.read(
        lambda db: [tuple(row) for row in db.rows(_CHANGES, project=writable.project.id)]
    )
    assert changes == [("refs/heads/dev", writable.first, commit, writable.developer.id)]
    assert api.get(f"/projects/{writable.project.id}", writable.developer).json()["last_activity_at"] >= before
