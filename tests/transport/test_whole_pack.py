"""A clone of everything is sent from the pack that holds just that; every other one is made by git, as ever."""

import filecmp
from collections.abc import Callable
from pathlib import Path

import pytest

from ingot.git.core.repository import Repository
from ingot.git.maintenance import whole_pack
from ingot.git.maintenance.housekeeping import run_housekeeping
from ingot.git.maintenance.whole_pack import NOTE_NAME, has_whole_pack, record_whole_pack
from tests.client import Api, Make, Person
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import repository_of
from tests.transport.conftest import Tree, Way, over_http


@pytest.fixture
def owner(make: Make) -> Person:
    return make.user()


@pytest.fixture
def project(make: Make, owner: Person) -> Project:
    return make_project(make, owner)


@pytest.fixture
def repository(
    instance: Instance, owner: Person, project: Project, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> Repository:
    """One with two branches and a tag, all of it in one pack."""
    monkeypatch.setattr(whole_pack, "MIN_BYTES", 1)
    tree.commit("first", "one\n" * 100)
    tree.git("checkout", "-q", "-b", "topic")
    tree.commit("second", "two\n" * 100)
    tree.git("tag", "-a", "v1", "-m", "First")
    tree.git("push", "-q", over_http(instance, project, owner), "master", "topic", "v1")
    repository = repository_of(instance, project)
    run_housekeeping(repository.path)
    assert has_whole_pack(repository.path)
    return repository


def _pack(path: Path) -> Path:
    (found,) = (path / "objects" / "pack").glob("*.pack")
    return found


def _objects(tree: Tree, name: str) -> set[str]:
    said = tree.git("-C", name, "cat-file", "--batch-check=%(objectname)", "--batch-all-objects")
    return set(said.split())


def test_all_is_sent_as_it_lies(
    way: Callable[[Person], Way], owner: Person, project: Project, repository: Repository, tree: Tree
) -> None:
    chosen = way(owner)
    mine = Tree(tree.folder, chosen.env)
    for version in "012":
        asked = ("-c", "fetch.unpackLimit=1", "-c", f"protocol.version={version}", "clone", "-q")
        mine.git(*asked, "--bare", chosen.url(project), f"bare-{version}")
        assert filecmp.cmp(_pack(tree.folder / f"bare-{version}"), _pack(repository.path), shallow=False)
        mine.git(*asked, chosen.url(project), f"usual-{version}")
        assert filecmp.cmp(_pack(tree.folder / f"usual-{version}" / ".git"), _pack(repository.path), shallow=False)


def test_whoever_wants_less_or_more_gets_just_that(
    way: Callable[[Person], Way], owner: Person, project: Project, repository: Repository, tree: Tree
) -> None:
    chosen = way(owner)
    mine, url = Tree(tree.folder, chosen.env), chosen.url(project)
    second = tree.git("rev-parse", "topic:second")
    mine.git("clone", "-q", "--bare", "--single-branch", "--no-tags", "-b", "master", url, "single")
    assert second not in _objects(tree, "single")
    mine.git("clone", "-q", "--bare", "--depth=1", "--no-single-branch", url, "shallow")
    assert tree.git("-C", "shallow", "rev-list", "--count", "topic") == "1"
    mine.git("clone", "-q", "--bare", "--filter=blob:none", url, "partial")
    assert second not in tree.git("-C", "partial", "rev-list", "--objects", "--missing=allow-any", "--all").split()
    mine.git("clone", "-q", "--bare", url, "whole")
    more = tree.commit("third", "three\n")
    mine.git("push", "-q", url, "topic")
    mine.git("-C", "whole", "fetch", "-q", url, "topic:topic")
    assert tree.git("-C", "whole", "rev-parse", "topic") == more
    mine.git("clone", "-q", "--bare", url, "newest")
    assert tree.git("-C", "newest", "rev-parse", "topic") == more
    tree.git("-C", "newest", "fsck", "--strict")


def test_a_pack_that_is_gone_is_made_anew(
    instance: Instance, owner: Person, project: Project, repository: Repository, tree: Tree
) -> None:
    lines = (repository.path / NOTE_NAME).read_text().splitlines()
    for wrong in ("objects/pack/pack-gone.pack", "", "$(touch harm)", "-n"):
        (repository.path / NOTE_NAME).write_text("\n".join([wrong, *lines[1:], ""]))
        tree.git(
            "clone", "-q", "--bare", over_http(instance, project, owner), f"made-{wrong[:3].strip('$(-') or 'none'}"
        )
        assert not (repository.path / "harm").exists()


def test_what_merge_requests_hold_is_not_sent_to_all(
    api: Api, instance: Instance, owner: Person, project: Project, repository: Repository, tree: Tree
) -> None:
    """A pack with anything besides what branches and tags lead to is none that everybody gets."""
    url = over_http(instance, project, owner)
    tree.git("checkout", "-q", "-b", "offer", "master")
    tree.commit("secret", "nobody knows\n")
    tree.git("push", "-q", url, "offer")
    sent = {"source_branch": "offer", "target_branch": "master", "title": "Offer"}
    assert api.post(f"/projects/{project.id}/merge_requests", owner, **sent).status_code == 201
    tree.git("push", "-q", url, ":offer")
    tree.git("-C", str(repository.path), "repack", "-a", "-d", "-q")

    assert not record_whole_pack(repository.path)
    tree.git("clone", "-q", "--bare", url, "without")
    assert tree.git("rev-parse", "offer:secret") not in _objects(tree, "without")


def test_only_a_repository_of_one_pack_has_it(
    instance: Instance,
    owner: Person,
    project: Project,
    repository: Repository,
    tree: Tree,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tree.commit("third", "three\n")
    tree.git("push", "-q", over_http(instance, project, owner), "topic")
    assert not record_whole_pack(repository.path)
    assert not has_whole_pack(repository.path)
    tree.git("-C", str(repository.path), "repack", "-a", "-d", "-q")
    assert record_whole_pack(repository.path)
    monkeypatch.setattr(whole_pack, "MIN_BYTES", 2**40)
    assert not record_whole_pack(repository.path)
