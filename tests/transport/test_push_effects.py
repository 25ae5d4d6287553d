"""Effects of a push: record, project row, activity date, and printed messages."""

from collections.abc import Callable

import pytest
from sqlalchemy import bindparam, select, update

from ingot.accounts.users.tables import users
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Event, emit
from ingot.git.writing.ref_updates import RefUpdate, update_refs
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import projects
from ingot.repositories.ref_changes import apply, service
from ingot.repositories.ref_changes.events import RefsChanged
from ingot.repositories.ref_changes.queries import open_intents_in
from ingot.repositories.ref_changes.tables import ref_changes
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, day, make_project
from tests.git_history import repository_of
from tests.server.process import until
from tests.transport.conftest import GitRemote, Tree, over_http
from tests.transport.test_workflows import recorded
from tests.transport.wire import ZERO

_ROW = select(projects.c.generation, projects.c.last_activity_at, projects.c.empty, projects.c.default_branch).where(
    projects.c.id == bindparam("project")
)
_ACTOR = select(ref_changes.c.actor_id, ref_changes.c.via).where(ref_changes.c.project_id == bindparam("project"))
_DAY = select(users.c.last_activity_on).where(users.c.id == bindparam("user"))
LINK = "To create a merge request for"


def row_of(instance: Instance, project: Project) -> tuple[int, str, bool, str]:
    generation, moment, empty, branch = instance.app.database.read(lambda db: db.rows(_ROW, project=project.id))[0]
    return generation, moment, bool(empty), branch


@pytest.fixture
def emitted(monkeypatch: pytest.MonkeyPatch) -> list[RefsChanged]:
    """Return the events emitted during a test."""
    heard: list[RefsChanged] = []

    def record(db: Connection, event: Event) -> None:
        emit(db, event)
        if isinstance(event, RefsChanged):
            heard.append(event)

    monkeypatch.setattr(service, "emit", record)
    return heard


def test_one_record_per_change(
    instance: Instance, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote], emitted: list[RefsChanged]
) -> None:
    """With actor and source; one event for a push, however many refs it changes."""
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tree.env = chosen.env
    url = chosen.url(project)
    before = row_of(instance, project)
    first = tree.commit()
    tree.git("push", "-q", url, "master", "master:a", "master:refs/tags/v1", "master:refs/notes/n")
    after = row_of(instance, project)
    assert after[0] == before[0] + 1 and after[1] > before[1] and not after[2]
    refs = ["refs/heads/a", "refs/heads/master", "refs/notes/n", "refs/tags/v1"]
    assert sorted(recorded(instance, project)) == [(ref, ZERO, first) for ref in refs]
    tree.git("push", "-q", url, "master")
    assert row_of(instance, project) == after, "a push of nothing changes nothing"
    tree.git("push", "-q", url, ":a")
    assert [len(event.updates) for event in emitted] == [4, 1]
    via = "ssh" if chosen.env else "http"
    assert {(event.project_id, event.actor_id, event.via) for event in emitted} == {(project.id, owner.id, via)}
    assert set(instance.app.database.read(lambda db: db.rows(_ACTOR, project=project.id))) == {(owner.id, via)}
    assert emitted[1].updates == (RefUpdate("refs/heads/a", first, ZERO),)


# Refs of the first push, and the resulting default branch; the project expects master.
FIRST = [
    (["master"], "master"),
    (["main"], "main"),
    (["master", "zebra", "alpha"], "master"),
    (["zebra", "main", "alpha"], "main"),
    (["zebra"], "zebra"),
]


@pytest.mark.parametrize(("branches", "default"), FIRST)
def test_the_first_push_sets_the_default_branch(
    instance: Instance, api: Api, make: Make, tree: Tree, branches: list[str], default: str
) -> None:
    owner = make.user()
    project = make_project(make, owner)
    tree.commit()
    url = over_http(instance, project, owner)
    tree.git("push", "-q", url, "master:refs/tags/before")
    assert row_of(instance, project)[2:] == (True, "master"), "a tag is no branch"
    tree.git("push", "-q", url, *(f"master:refs/heads/{branch}" for branch in branches))
    assert row_of(instance, project)[2:] == (False, default)
    assert repository_of(instance, project).head_branch() == default
    shown = api.get(f"/projects/{project.id}/repository/branches", owner).json()
    assert [branch["name"] for branch in shown if branch["protected"]] == [default]
    tree.git("push", "-q", url, "master:refs/heads/later", "master:refs/heads/main")
    assert row_of(instance, project)[3] == default, "only the first ones count"


def test_concurrent_first_pushes(instance: Instance, make: Make, tree: Tree) -> None:
    """Both have created their branch before either is recorded: HEAD points to one of them."""
    owner = make.user()
    project = make_project(make, owner)
    tip = tree.commit()
    tree.git("push", "-q", over_http(instance, project, owner), "master:refs/tags/v1")
    repository, database = repository_of(instance, project), instance.app.database
    updates = [[RefUpdate(f"refs/heads/{name}", ZERO, tip)] for name in ("one", "two")]
    row = database.read(lambda db: project_or_none(db, project.id))
    assert row is not None
    intents = [
        database.write(lambda db, each=each: service.open_intent(db, project.id, owner.id, "http", each))  # type: ignore[misc] # It is a default.
        for each in updates
    ]
    for each in updates:
        update_refs(repository, each)
    for intent, each in zip(intents, updates, strict=True):
        apply.finish_ref_updates(database, repository, intent, each)
    assert row_of(instance, project)[2:] == (False, "one")
    assert repository.head_branch() == "one"


def test_two_identical_changes(instance: Instance, make: Make, tree: Tree) -> None:
    """Two pushes make the same change, and one is interrupted: it is recorded once."""
    owner = make.user()
    project = make_project(make, owner)
    tip = tree.commit()
    tree.git("push", "-q", over_http(instance, project, owner), "master:refs/tags/v1")
    repository, database = repository_of(instance, project), instance.app.database
    change = [RefUpdate("refs/heads/master", ZERO, tip)]
    first, second = (
        database.write(lambda db: service.open_intent(db, project.id, owner.id, "http", change)) for _ in range(2)
    )
    update_refs(repository, change)
    apply.finish_ref_updates(database, repository, first, change)
    apply.finish_interrupted_intent(database, repository, second)
    assert recorded(instance, project)[1:] == [("refs/heads/master", ZERO, tip)]


def test_a_user_deleted_during_a_push(instance: Instance, api: Api, make: Make, tree: Tree) -> None:
    """The push is recorded in the name of the ghost user."""
    owner, leaving = make.user(), make.user()
    project = make_project(make, owner, members={leaving: Level.MASTER})
    tip = tree.commit()
    tree.git("push", "-q", over_http(instance, project, owner), "master:refs/tags/v1")
    repository, database = repository_of(instance, project), instance.app.database
    change = [RefUpdate("refs/heads/master", ZERO, tip)]
    intent = database.write(lambda db: service.open_intent(db, project.id, leaving.id, "http", change))
    update_refs(repository, change)
    assert api.delete(f"/users/{leaving.id}", make.root).status_code == 200
    instance.work()
    apply.finish_ref_updates(database, repository, intent, change)
    assert recorded(instance, project)[1:] == [("refs/heads/master", ZERO, tip)]
    placeholder = database.read(lambda db: db.rows(_ACTOR, project=project.id))[1][0]
    assert placeholder not in (None, leaving.id, owner.id)


def test_emptied_during_another_push(instance: Instance, make: Make, tree: Tree) -> None:
    """The last record stores the current state, not that of its own change."""
    owner = make.user()
    project = make_project(make, owner)
    tip = tree.commit()
    tree.git("push", "-q", over_http(instance, project, owner), "master:refs/heads/only")
    repository, database = repository_of(instance, project), instance.app.database
    deletion = [RefUpdate("refs/heads/only", tip, ZERO)]
    intent = database.write(lambda db: service.open_intent(db, project.id, owner.id, "api", deletion))
    update_refs(repository, deletion)
    after = apply._repository_state(database, repository, intent, deletion)
    update_refs(repository, [RefUpdate("refs/heads/new", ZERO, tip)])
    database.write(lambda db: service.record_ref_updates(db, intent, deletion, after))
    assert not row_of(instance, project)[2]


def test_activity_date(instance: Instance, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]) -> None:
    """Set by fetches and pushes, but not by anonymous access."""
    owner, reader = make.user(), make.user()
    project = make_project(make, owner, members={reader: Level.REPORTER})
    mine, theirs = git_remote(owner), git_remote(reader)
    tree.commit()

    def last(person: User) -> str | None:
        found: str | None = instance.app.database.read(lambda db: db.value(_DAY, user=person.id))
        return found

    for person in (owner, reader):
        instance.app.database.write(
            lambda db, person=person: db.run(  # type: ignore[misc] # It is a default.
                update(users).where(users.c.id == person.id).values(last_activity_on=None)
            )
        )
    with day(instance, "2031-05-06"):
        tree.git("push", "-q", mine.url(project), "master", env=mine.env)
        until("the owner's day", lambda: last(owner) == "2031-05-06")
        assert last(reader) is None
        tree.git("ls-remote", theirs.url(project), env=theirs.env)
        until("the reader's day", lambda: last(reader) == "2031-05-06")
    with day(instance, "2031-05-07"):
        tree.git("ls-remote", mine.url(project), env=mine.env)
        until("the next day", lambda: last(owner) == "2031-05-07")


def test_the_merge_request_link(
    instance: Instance, api: Api, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    """Printed for pushed branches other than the default one, unless the project disables it."""
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tree.env = chosen.env
    url = chosen.url(project)

    def push(*specs: str) -> str:
        # Messages of the server are on standard error.
        return tree.git("-c", "alias.x=!git push 2>&1", "x", url, *specs)

    tree.commit()
    assert LINK not in push("master")
    said = push("master:feature/ümlaut")
    assert f"{LINK} feature/ümlaut, visit:" in said
    assert f"/{project.path}/merge_requests/new?merge_request%5Bsource_branch%5D=feature%2F%C3%BCmlaut" in said
    offered = {"source_branch": "feature/ümlaut", "target_branch": "master", "title": "Offered"}
    assert api.post(f"/projects/{project.id}/merge_requests", owner, **offered).status_code == 201
    tree.commit(content="more\n")
    again = push("master:feature/ümlaut", "master:without-one")
    assert f"{LINK} feature/ümlaut" not in again
    assert "View the merge request for feature/ümlaut:" in again
    assert f"/{project.path}/-/merge_requests/1" in again
    assert f"{LINK} without-one, visit:" in again
    assert LINK not in push(":feature/ümlaut", "master:refs/tags/v1")
    many = push(*(f"master:b{number}" for number in range(6)))
    assert many.count(LINK) == 3
    assert api.put(f"/projects/{project.id}", owner, printing_merge_request_link_enabled=False).status_code == 200
    assert LINK not in push("master:c")
    sent = {"printing_merge_request_link_enabled": True, "merge_requests_enabled": False}
    assert api.put(f"/projects/{project.id}", owner, **sent).status_code == 200
    assert LINK not in push("master:d")


def test_changes_rejected_by_git(
    instance: Instance, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    """If git rejects a part after the ref checks, only the rest is recorded, and no intent stays open."""
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tree.env = chosen.env
    tip = tree.commit()
    tree.git("push", "-q", chosen.url(project), "master", "master:a")
    assert "ok" not in tree.git("push", "--porcelain", chosen.url(project), "master:a/b", fails=True).split()
    tree.git("push", chosen.url(project), "master:a/b", "master:c", fails=True)
    blob = tree.git("hash-object", "-w", "README")
    tree.git("push", chosen.url(project), f"{blob}:refs/heads/blob", fails=True)
    assert max(recorded(instance, project)) == ("refs/heads/master", ZERO, tip)
    assert {ref for ref, _, _ in recorded(instance, project)} == {"refs/heads/a", "refs/heads/c", "refs/heads/master"}
    assert instance.app.database.read(lambda db: open_intents_in(db, project.id)) == []
