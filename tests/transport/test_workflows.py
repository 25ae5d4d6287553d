"""Everyday use of git over HTTP and SSH."""

from collections.abc import Callable
from pathlib import Path

from sqlalchemy import bindparam, select

from ingot.core.access.levels import Level
from ingot.repositories.ref_changes.tables import ref_changes, ref_intents
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import repository_of, run
from tests.transport.conftest import GitRemote, Tree

_CHANGES = (
    select(ref_changes.c.ref, ref_changes.c.old, ref_changes.c.new)
    .where(ref_changes.c.project_id == bindparam("project"))
    .order_by(ref_changes.c.id)
)
_OPEN = select(ref_intents.c.id).where(ref_intents.c.project_id == bindparam("project"))
ZERO = "0" * 40


def recorded(instance: Instance, project: Project) -> list[tuple[str, str, str]]:
    """Return the recorded changes; none may be left open."""
    assert instance.app.database.read(lambda db: db.rows(_OPEN, project=project.id)) == []
    rows = instance.app.database.read(lambda db: db.rows(_CHANGES, project=project.id))
    return [(ref, old, new) for ref, old, new in rows]


def test_push_and_clone(
    instance: Instance, api: Api, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote], tmp_path: Path
) -> None:
    """The first push sets the default branch; everything is visible at once, and recorded once."""
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tree.env = chosen.env
    tree.git("checkout", "-q", "-b", "main")
    first = tree.commit()
    said = tree.git("push", chosen.url(project), "main", "--porcelain")
    assert "[new branch]" in said
    shown = api.get(f"/projects/{project.id}", owner).json()
    assert (shown["default_branch"], shown["empty_repo"]) == ("main", False)
    assert recorded(instance, project) == [("refs/heads/main", ZERO, first)]
    branch = api.get(f"/projects/{project.id}/repository/branches/main", owner).json()
    assert branch["commit"]["id"] == first
    assert branch["protected"]
    tree.git("clone", "-q", chosen.url(project), str(tmp_path / "copy"))
    assert Tree(tmp_path / "copy").git("rev-parse", "HEAD") == first


def test_a_push_prints_no_internal_messages(make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]) -> None:
    """Only messages about the push, also with branches to compare with."""
    owner = make.user()
    chosen = git_remote(owner)
    tree.env, url = chosen.env, chosen.url(make_project(make, owner))
    for number in range(2):
        tree.commit(content=f"{number}\n")
        said = tree.stderr("push", "-q", url, "HEAD:refs/heads/master")
        assert [line for line in said.splitlines() if line.startswith(("remote: error", "error", "fatal"))] == []


def test_tags_deletions_and_force_pushes(
    instance: Instance, api: Api, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    """Unprotected branches may be forced and deleted; each change is recorded."""
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tree.env = chosen.env
    url = chosen.url(project)
    first = tree.commit()
    second = tree.commit(content="two\n")
    tree.git("tag", "-a", "-m", "First", "v1")
    tag = tree.git("rev-parse", "v1")
    tree.git("push", "-q", url, "master", "master:topic", "v1")
    tree.git("push", "-q", "-f", url, f"{first}:topic")
    tree.git("push", "-q", url, ":topic", ":v1")
    assert sorted(recorded(instance, project)[:3]) == [
        ("refs/heads/master", ZERO, second),
        ("refs/heads/topic", ZERO, second),
        ("refs/tags/v1", ZERO, tag),
    ]
    assert recorded(instance, project)[3] == ("refs/heads/topic", second, first)
    assert sorted(recorded(instance, project)[4:]) == [("refs/heads/topic", first, ZERO), ("refs/tags/v1", tag, ZERO)]


def test_protected_branches(
    instance: Instance, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    """They reject force, deletion, and pushes of developers; a rejected push records nothing."""
    owner, developer = make.user(), make.user()
    project = make_project(make, owner, members={developer: Level.DEVELOPER})
    mine, theirs = git_remote(owner), git_remote(developer)
    first = tree.commit()
    tree.git("push", "-q", mine.url(project), "master", env=mine.env)
    tree.commit(content="two\n")
    refused = tree.git("push", theirs.url(project), "master", "master:topic", fails=True, env=theirs.env)
    assert "You are not allowed to push code to protected branches" in refused
    tree.git("push", "-q", theirs.url(project), "master:topic", env=theirs.env)
    tree.git("push", "-q", mine.url(project), "master", env=mine.env)
    for spec, words in [("+" + first + ":master", "force push"), (":master", "default branch")]:
        assert words in tree.git("push", mine.url(project), spec, fails=True, env=mine.env)
    assert len(recorded(instance, project)) == 3


def test_shallow_partial_and_fetch(
    instance: Instance, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote], tmp_path: Path
) -> None:
    """Partial clones, deepened later."""
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tree.env = chosen.env
    for number in range(5):
        tree.commit(f"file-{number}", f"{number}\n" * 100)
    url = chosen.url(project)
    tree.git("push", "-q", url, "master")
    tree.git("clone", "-q", "--depth", "2", url, str(tmp_path / "shallow"))
    shallow = Tree(tmp_path / "shallow", chosen.env)
    assert shallow.git("rev-list", "--count", "HEAD") == "2"
    shallow.git("fetch", "-q", "--unshallow")
    assert shallow.git("rev-list", "--count", "HEAD") == "5"
    tree.git("clone", "-q", "--no-checkout", "--filter=blob:none", url, str(tmp_path / "partial"))
    partial = Tree(tmp_path / "partial", chosen.env)
    assert "?" in partial.git("rev-list", "--objects", "--missing=print", "HEAD")
    for version in ("0", "1", "2"):
        assert partial.git("-c", f"protocol.version={version}", "ls-remote", url, "refs/heads/master")


def test_a_clone_equals_the_pushed_history(
    instance: Instance, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote], tmp_path: Path
) -> None:
    """A history with merges, renames, binaries, symlinks, executables and submodules, object for object."""
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tree.env = chosen.env
    first = tree.commit("a file", "one\n" * 50)
    (tree.folder / "binary").write_bytes(bytes(range(256)) * 200)
    (tree.folder / "program").write_text("#!/bin/sh\n")
    (tree.folder / "program").chmod(0o755)
    (tree.folder / "link").symlink_to("a file")
    tree.git("add", ".")
    tree.git("update-index", "--add", "--cacheinfo", f"160000,{first},module")
    tree.git("commit", "-q", "-m", "Many kinds")
    tree.git("mv", "a file", "ümlaut")
    tree.git("commit", "-q", "-m", "Rename")
    tree.git("checkout", "-q", "-b", "side", first)
    tree.commit("side", "side\n")
    tree.git("checkout", "-q", "master")
    tree.git("merge", "-q", "--no-ff", "-m", "Merge", "side")
    tree.git("tag", "-a", "-m", "Tag", "v1.0")
    tree.git("push", "-q", "--mirror", chosen.url(project))
    tree.git("clone", "-q", "--mirror", chosen.url(project), str(tmp_path / "mirror"))
    mirror = Tree(tmp_path / "mirror")
    for command in (["show-ref"], ["rev-list", "--objects", "--all"], ["fsck", "--strict"]):
        assert sorted(mirror.git(*command).splitlines()) == sorted(tree.git(*command).splitlines())
    assert run(repository_of(instance, project).path, "fsck", "--strict") == ""


def test_atomic_push_with_one_rejected_ref(
    instance: Instance, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    """All or nothing, whether the client asks for it or not."""
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tree.env = chosen.env
    tree.commit()
    tree.git("push", "-q", chosen.url(project), "master")
    tree.commit(content="two\n")
    for atomic in ([], ["--atomic"]):
        said = tree.git(
            "push", *atomic, chosen.url(project), "master:good", "master:refs/heads/" + "a" * 40, fails=True
        )
        assert "cannot look like the id of a commit" in said
    assert len(recorded(instance, project)) == 1
