"""Commits with declared encodings, and reading them."""

import pytest

from ingot.core.db.database import Database
from ingot.git.core.repository import Repository
from ingot.git.writing.ref_updates import RefUpdate, update_refs
from ingot.repositories.ref_changes import apply, service
from ingot.repositories.ref_changes.tables import RefIntent
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import repository_of
from tests.transport.conftest import Tree, over_http
from tests.transport.test_workflows import recorded
from tests.transport.wire import ZERO

# Declared encoding, encoding of the message, and expected text.
CLAIMED = [
    (b"ISO-8859-1", b"caf\xe9", "café"),
    (b"koi8-r", b"\xc4\xc1", "да"),
    (b"no-such-thing", b"caf\xe9", "café"),
    (b"hex", b"zz", "zz"),
    (b"undefined", b"x", "x"),
    (b"\xe9", b"x", "x"),
    (b"utf-7", b"+2AA-x", "+2AA-x"),  # Half a sign, which no text may hold.
    (b"utf-7", b"+AAA-x", "+AAA-x"),  # NUL, which PostgreSQL does not take.
    (b"unicode_escape", rb"\ud800", r"\ud800"),
]


def test_no_declared_encoding_breaks_a_push(instance: Instance, api: Api, make: Make, tree: Tree) -> None:
    """Attack: a lone surrogate in a message made every response about the project fail, and the next start too."""
    owner = make.user()
    project = make_project(make, owner)
    tree.commit()
    body = tree.git("cat-file", "commit", "HEAD").encode().partition(b"\n\n")[0]
    tips = []
    for place, (encoding, message, _) in enumerate(CLAIMED):
        raw = tree.folder / "raw"
        raw.write_bytes(body + b"\nencoding " + encoding + b"\n\n" + message + b"\n")
        tip = tree.git("hash-object", "-t", "commit", "-w", "--literally", str(raw))
        tips.append(f"{tip}:refs/heads/b{place}")
    tree.git("push", "-q", over_http(instance, project, owner), "master", *tips)
    shown = api.get(f"/projects/{project.id}/repository/branches", owner).json()
    titles = {branch["name"]: branch["commit"]["title"] for branch in shown}
    assert titles.pop("master") == "A change"
    assert titles == {f"b{place}": read for place, (_, _, read) in enumerate(CLAIMED)}
    events = api.get(f"/projects/{project.id}/events", owner).json()
    told = {event["push_data"]["ref"]: event["push_data"]["commit_title"] for event in events if "push_data" in event}
    assert {ref: told[ref] for ref in titles} == titles


def test_one_failing_change_does_not_affect_others(
    instance: Instance, make: Make, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failure is logged, other changes are recorded, and the server starts."""
    owner = make.user()
    broken, whole = make_project(make, owner), make_project(make, owner)
    tip = tree.commit()
    change, database = [RefUpdate("refs/heads/master", ZERO, tip)], instance.app.database
    for project in (broken, whole):
        tree.git("push", "-q", over_http(instance, project, owner), "master:refs/tags/v1")
        database.write(lambda db, project=project: service.open_intent(db, project.id, owner.id, "http", change))  # type: ignore[misc] # It is a default.
        update_refs(repository_of(instance, project), change)
    settle = apply.reconcile_intent

    def hindered(database: Database, repository: Repository, intent: RefIntent) -> None:
        if intent.project_id == broken.id:
            raise RuntimeError("This one is in trouble")
        settle(database, repository, intent)

    monkeypatch.setattr(apply, "reconcile_intent", hindered)
    instance.app.reconcile()
    assert recorded(instance, whole)[1:] == [("refs/heads/master", ZERO, tip)]
    monkeypatch.undo()
    instance.app.reconcile()
    assert recorded(instance, broken)[1:] == [("refs/heads/master", ZERO, tip)]
