"""Pushes of many refs: the server updates them in one write of packed-refs, and the result is that of a small push."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import repository_of, run
from tests.statements import recorded_statements
from tests.transport.conftest import GitRemote, Tree, over_http
from tests.transport.test_workflows import recorded
from tests.transport.wire import ZERO, send_commands

BRANCHES, TAGS = 40, 20


def _loose_refs(path: Path) -> list[str]:
    return [file.name for file in (path / "refs").rglob("*") if file.is_file()]


def _make_refs(tree: Tree, tip: str) -> None:
    branches = [f"create refs/heads/many/{number % 7}/{number} {tip}\n" for number in range(BRANCHES)]
    tree.git("tag", "-a", "-m", "Tag", "annotated")
    tag = tree.git("rev-parse", "annotated")
    tags = [f"create refs/tags/many-{number} {tag if number % 2 else tip}\n" for number in range(TAGS)]
    tree.git("update-ref", "--stdin", text="".join(branches + tags))


def test_created_changed_and_deleted(
    instance: Instance, api: Api, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tree.env, url = chosen.env, chosen.url(project)
    first = tree.commit()
    tree.git("push", "-q", url, "master", "master:loose")
    _make_refs(tree, first)
    repository = repository_of(instance, project)
    assert sorted(_loose_refs(repository.path)) == ["loose", "master"]

    tree.git("push", "-q", url, "refs/heads/many/*:refs/heads/many/*", "refs/tags/*:refs/tags/*")
    ours = {line.split()[1]: line.split()[0] for line in tree.git("show-ref").splitlines()}
    assert {name.decode(): oid for name, oid in repository.refs().items()} == {**ours, "refs/heads/loose": first}
    assert sorted(_loose_refs(repository.path)) == ["loose", "master"], "no file per ref"
    assert tree.git("ls-remote", url, "refs/tags/many-1^{}").split() == [first, "refs/tags/many-1^{}"]
    listed = api.get(f"{project.url}/repository/branches", owner, per_page=1).headers["x-total"]
    assert int(listed) == BRANCHES + 2
    assert len(recorded(instance, project)) == 2 + BRANCHES + TAGS + 1

    second = tree.commit(content="two\n")
    moved = [f"{second}:refs/heads/many/{number % 7}/{number}" for number in range(BRANCHES)]
    tree.git("push", "-q", "--atomic", url, f"{second}:refs/heads/loose", *moved)
    tips = {
        oid for name, oid in repository.refs().items() if name.startswith((b"refs/heads/many", b"refs/heads/loose"))
    }
    assert tips == {second}
    tree.git("push", "-q", url, *(f":refs/heads/many/{number % 7}/{number}" for number in range(BRANCHES)))
    assert {name for name in repository.refs() if name.startswith(b"refs/heads/")} == {
        b"refs/heads/loose",
        b"refs/heads/master",
    }
    run(repository.path, "fsck", "--strict")
    assert not list(repository.path.rglob("*.lock"))
    tree.git("push", "-q", url, f"{second}:refs/heads/many")


def test_a_push_runs_no_statement_per_ref(instance: Instance, api: Api, make: Make, tree: Tree) -> None:
    """Attack: a push of 20,000 refs to a project with a webhook kept all other writers waiting for five seconds."""
    owner = make.user()
    project = make_project(make, owner)
    tip = tree.commit()
    tree.git("push", "-q", over_http(instance, project, owner), "master")
    made = api.post(f"{project.url}/hooks", owner, url="https://example.com/", push_events=True, tag_push_events=True)
    assert made.status_code == 201, made.text
    counts = []
    for name, count in (("a", 150), ("b", 450)):
        commands = [(ZERO, tip, f"refs/heads/{name}/{number}") for number in range(count)]
        with recorded_statements(instance.app.database) as statements:
            assert f"ok refs/heads/{name}/{count - 1}" in send_commands(instance, project, owner, commands)
        counts.append(len(statements))
    assert counts[1] - counts[0] < 50, counts
    assert len(recorded(instance, project)) == 601


@pytest.mark.parametrize("spec", ["refs/heads/master/below", "refs/heads/name"])
def test_one_refused_ref_refuses_all(instance: Instance, make: Make, tree: Tree, spec: str) -> None:
    """A name that cannot exist beside another one, and a lock that another process holds."""
    owner = make.user()
    project = make_project(make, owner)
    url = over_http(instance, project, owner)
    tip = tree.commit()
    tree.git("push", "-q", url, "master")
    repository = repository_of(instance, project)
    if spec == "refs/heads/name":
        (repository.path / "refs" / "heads" / "name.lock").touch()
    specs = [f"{tip}:refs/heads/many/{number}" for number in range(BRANCHES)]
    said = tree.git("push", url, *specs, f"{tip}:{spec}", fails=True)
    assert "cannot exist beside refs/heads/master" in said or "another push has changed" in said
    assert list(repository.refs()) == [b"refs/heads/master"]
    assert len(recorded(instance, project)) == 1
    (repository.path / "refs" / "heads" / "name.lock").unlink(missing_ok=True)
    tree.git("push", "-q", url, *specs)
