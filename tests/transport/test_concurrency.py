"""Concurrent pushes: independent ones all succeed; of conflicting ones exactly one."""

import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ingot.git.maintenance.housekeeping import run_housekeeping
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import repository_of, run
from tests.transport.conftest import BASE, GitRemote, Tree, over_http
from tests.transport.test_workflows import recorded
from tests.transport.wire import ZERO

BRANCHES = 30
RIVALS = 15
CLONES = 5


def _run_concurrently(tree: Tree, commands: list[list[str]], env: dict[str, str]) -> list[tuple[int, str]]:
    """Run git commands concurrently; return their exit status and messages."""

    def run(command: list[str]) -> tuple[int, str]:
        done = subprocess.run(
            ["git", *command], cwd=tree.folder, env={**BASE, **env}, capture_output=True, check=False, timeout=120
        )
        return done.returncode, (done.stdout + done.stderr).decode(errors="replace")

    with ThreadPoolExecutor(len(commands)) as pool:
        return list(pool.map(run, commands))


def test_pushes_to_separate_branches(
    instance: Instance, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    """All succeed."""
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tip = tree.commit()
    tree.git("push", "-q", chosen.url(project), "master", env=chosen.env)
    many = BRANCHES if not chosen.env else BRANCHES // 3
    ended = _run_concurrently(
        tree, [["push", "-q", chosen.url(project), f"master:b{number}"] for number in range(many)], chosen.env
    )
    assert [status for status, _ in ended] == [0] * many, [said for status, said in ended if status]
    refs = sorted(["refs/heads/master", *(f"refs/heads/b{number}" for number in range(many))])
    assert sorted(recorded(instance, project)) == [(ref, ZERO, tip) for ref in refs]
    repository = repository_of(instance, project)
    assert [ref.decode() for ref in repository.refs()] == refs
    assert run(repository.path, "fsck", "--strict") == ""


def test_pushes_to_one_branch(
    instance: Instance, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    """From the same value to different ones: exactly one succeeds, and the others get the reason."""
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    base = tree.commit()
    tree.git("push", "-q", chosen.url(project), "master", "master:race", env=chosen.env)
    for number in range(RIVALS):
        tree.git("checkout", "-q", "-b", f"rival-{number}", base)
        tree.commit("file", f"{number}\n")
    pushes = [["push", "-q", chosen.url(project), f"rival-{number}:race"] for number in range(RIVALS)]
    ended = _run_concurrently(tree, pushes, chosen.env)
    won = [number for number, (status, _) in enumerate(ended) if status == 0]
    assert len(won) == 1, ended
    words = (
        "has changed in the meantime",
        "another push has changed one of these refs in the meantime",
        "cannot lock ref",
        "failed to update ref",
        "fetch first",
        "non-fast-forward",
    )
    for status, said in ended:
        assert status == 0 or any(word in said for word in words), said
    tip = tree.git("rev-parse", f"rival-{won[0]}")
    assert recorded(instance, project)[2:] == [("refs/heads/race", base, tip)]
    repository = repository_of(instance, project)
    assert repository.tip("refs/heads/race") == tip
    assert run(repository.path, "fsck", "--strict", "--no-dangling") == ""
    assert not list(repository.path.rglob("*.lock"))


@pytest.mark.parametrize("call", ["create", "delete"])
def test_a_push_and_an_api_commit(instance: Instance, api: Api, make: Make, tree: Tree, call: str) -> None:
    """One succeeds, and the record shows which."""
    owner = make.user()
    project = make_project(make, owner)
    first = tree.commit()
    second = tree.commit(content="two\n")
    url = over_http(instance, project, owner)
    tree.git("push", "-q", url, "master")
    branches = f"/projects/{project.id}/repository/branches"
    for number in range(4):
        name = f"race-{number}"
        if call == "delete":
            tree.git("push", "-q", url, f"{first}:refs/heads/{name}")
        before = len(recorded(instance, project))
        with ThreadPoolExecutor(2) as pool:
            pushing = pool.submit(_run_concurrently, tree, [["push", url, f"{second}:refs/heads/{name}"]], {})
            if call == "create":
                answer = api.post(branches, owner, branch=name, ref=first)
            else:
                answer = api.delete(f"{branches}/{name}", owner)
            (status, said) = pushing.result()[0]
        changes = recorded(instance, project)[before:]
        assert answer.status_code in (200, 201, 204, 400, 409), answer.text
        # git's client sees a later push, and then starts from the new value.
        assert len(changes) == (status == 0) + (answer.status_code < 300), (status, said, answer.text)
        tip = repository_of(instance, project).tip(f"refs/heads/{name}")
        assert (tip or ZERO) == changes[-1][2]


def test_clones_during_pushes_and_housekeeping(
    instance: Instance, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote], tmp_path: Path
) -> None:
    """They do not disturb each other."""
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tree.env = chosen.env
    url = chosen.url(project)
    for number in range(10):
        tree.commit(f"file-{number}", f"{number}\n" * 2000)
        tree.git("push", "-q", url, "master", f"master:b{number}")
    repository = repository_of(instance, project)
    clones = [["clone", "-q", url, str(tmp_path / f"clone-{number}")] for number in range(CLONES)]
    with ThreadPoolExecutor(2) as pool:
        cloning = pool.submit(_run_concurrently, tree, clones, chosen.env)
        tidied = []
        for number in range(4):
            tree.commit("moving", f"{number}\n")
            tidying = pool.submit(run_housekeeping, repository.path)
            tree.git("push", "-q", url, "master", f"master:refs/heads/moving-{number}")
            tidied.append(tidying.result())
        ended = cloning.result()
    assert [status for status, _ in ended] == [0] * CLONES, ended
    assert any(tidied)
    for number in range(CLONES):
        assert Tree(tmp_path / f"clone-{number}").git("fsck", "--strict") == ""
    assert run(repository.path, "fsck", "--strict") == ""
    assert repository.tip("refs/heads/master") == tree.git("rev-parse", "HEAD")
    assert len(recorded(instance, project)) == 20 + 8
