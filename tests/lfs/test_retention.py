"""LFS objects of forked, moved and deleted projects, and their cleanup."""

import os
import secrets
import time
from pathlib import Path

import msgspec

from ingot.repositories.lfs.files import lfs_files_of
from ingot.repositories.lfs.jobs import SWEEP_AFTER_SECONDS, enqueue_lfs_sweep
from ingot.repositories.lfs.params import LfsObjectParams
from ingot.repositories.lfs.views import upload_views
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.lfs.conftest import LfsClient, object_of, oid_of


def _place(instance: Instance, content: bytes) -> Path:
    return lfs_files_of(instance.settings).path_of(oid_of(content))


def _age(path: Path) -> None:
    long_ago = time.time() - SWEEP_AFTER_SECONDS - 60
    os.utime(path, (long_ago, long_ago))


def _clean_up(instance: Instance) -> None:
    instance.app.database.write(enqueue_lfs_sweep)
    instance.work()


def _counted(api: Api, person: User, project_id: int) -> int:
    size: int = api.get(f"/projects/{project_id}", person, statistics=True).json()["statistics"]["lfs_objects_size"]
    return size


def _fork(api: Api, who: User, project: Project) -> Project:
    made = api.post(f"/projects/{project.id}/fork", who)
    assert made.status_code == 201, made.text
    shown = made.json()
    return Project(shown["id"], shown["path_with_namespace"], shown["name"], shown["namespace"]["id"])


def test_a_fork_shares_the_objects_of_its_source(instance: Instance, api: Api, make: Make, lfs: LfsClient) -> None:
    """They stay when the source is deleted; later uploads belong to one project only."""
    owner, other = make.user(), make.user()
    source = make_project(make, owner, visibility="public")
    first, second, third = secrets.token_bytes(1000), secrets.token_bytes(20), secrets.token_bytes(3)
    lfs.upload(source, owner, first)
    fork = _fork(api, other, source)
    lfs.upload(fork, other, second)
    lfs.upload(source, owner, third)
    assert [lfs.get(fork, other, each).status_code for each in (first, second, third)] == [200, 200, 404]
    assert [lfs.get(source, other, each).status_code for each in (first, second, third)] == [200, 404, 200]
    assert (_counted(api, owner, source.id), _counted(api, other, fork.id)) == (1003, 1020)
    assert api.delete(f"/projects/{source.id}", owner).status_code == 200
    for content in (first, second, third):
        _age(_place(instance, content))
    instance.work()
    _clean_up(instance)
    assert lfs.get(fork, other, first).content == first
    assert lfs.get(fork, other, second).content == second
    assert not _place(instance, third).exists()


def test_unreferenced_objects_are_deleted(instance: Instance, api: Api, make: Make, lfs: LfsClient) -> None:
    """Recent ones stay, because their upload may still be verified."""
    owner = make.user()
    kept, doomed = make_project(make, owner), make_project(make, owner)
    content, young, shared = (secrets.token_bytes(100) for _ in range(3))
    for each in (content, young, shared):
        lfs.upload(doomed, owner, each)
    lfs.upload(kept, owner, shared)
    files = lfs_files_of(instance.settings)
    stray, cut_off = secrets.token_bytes(10), files.receive("a" * 64, 10)
    cut_off.write(b"12345")
    incoming = files.receive(oid_of(stray), len(stray))
    incoming.write(stray)
    incoming.finish()
    api.delete(f"/projects/{doomed.id}", owner)
    instance.work()
    for each in (content, shared, stray):
        _age(_place(instance, each))
    _clean_up(instance)
    assert [_place(instance, each).exists() for each in (content, young, shared, stray)] == [False, True, True, False]
    partial = next((instance.settings.data / "lfs" / "incoming").iterdir())
    _age(partial)
    _age(_place(instance, young))
    _clean_up(instance)
    assert (partial.exists(), _place(instance, young).exists()) == (False, False)
    assert lfs.get(kept, owner, shared).content == shared
    cut_off.discard()

    for each in (content, young):
        lfs.upload(kept, owner, each)
        assert lfs.get(kept, owner, each).content == each


def test_objects_follow_a_renamed_project(api: Api, make: Make, lfs: LfsClient) -> None:
    """They are found at the old path too; hrefs contain the new one."""
    owner = make.user()
    project = make_project(make, owner)
    content = secrets.token_bytes(10)
    lfs.upload(project, owner, content)
    name = make.name("moved")
    moved = api.put(f"/projects/{project.id}", owner, path=name).json()["path_with_namespace"]
    for path in (project.path, moved):
        found = lfs.batch(path, owner, "download", content).json()["objects"][0]["actions"]["download"]
        assert f"/{moved}.git/" in found["href"]
        assert lfs.follow("GET", found).content == content


def test_a_damaged_file_is_repaired_by_uploading_it_again(instance: Instance, make: Make, lfs: LfsClient) -> None:
    owner = make.user()
    project = make_project(make, owner)
    content = secrets.token_bytes(10)
    lfs.upload(project, owner, content)
    _place(instance, content).unlink()
    assert lfs.get(project, owner, content).status_code == 404
    path = f"gitlab-lfs/objects/{oid_of(content)}/{len(content)}"
    for _ in range(2):
        assert lfs.call("PUT", project, path, owner, content=content).status_code == 200
    assert lfs.get(project, owner, content).content == content


def test_objects_over_the_limit_are_rejected_before_the_upload() -> None:
    wanted = [LfsObjectParams(**object_of(b"x")), LfsObjectParams("a" * 64, 2**20 + 1)]
    small, large = msgspec.to_builtins(upload_views(wanted, {}, "http://here/a/b.git", {}, 1))["objects"]
    assert "upload" in small["actions"]
    assert (large["error"]["code"], "1 MB" in large["error"]["message"]) == (422, True)
