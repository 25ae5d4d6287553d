"""Bundles of large repositories in the object store, from which git clones."""

import io
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from ingot.core.log import Log
from ingot.git.core.repository import Repository
from ingot.projects.projects import clone_bundles as bundles
from ingot.projects.projects import jobs as project_jobs
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import existing_project
from ingot.server.jobs import job_worker
from tests.factories import Project, make_project
from tests.second_instance import SecondInstance, serving
from tests.storage.s3_server import S3Server

VERSION = tuple(int(part) for part in re.findall(r"\d+", subprocess.check_output(["git", "version"], text=True))[:2])


@pytest.fixture(scope="module")
def instance(s3: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecondInstance]:
    """Yield an instance whose bucket clients can reach."""
    with serving(tmp_path_factory.mktemp("bundles"), **s3.settings("bundles", public=True)) as instance:
        yield instance


@pytest.fixture(autouse=True)
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat every repository as a large one."""
    monkeypatch.setattr(bundles, "MIN_REPOSITORY_BYTES", 0)


def _path(instance: SecondInstance, project: Project) -> Path:
    key = instance.app.database.read(lambda db: existing_project(db, project.id)).repository_key
    return repository_store(instance.settings).path_of(key)


def _work(instance: SecondInstance) -> None:
    worker = job_worker(instance.settings, instance.app.database, Log("json", io.StringIO()))
    while worker.run_once():
        pass


def _housekeep(instance: SecondInstance, project: Project) -> None:
    assert instance.api.post(f"{project.url}/housekeeping", instance.make.root).status_code == 201
    _work(instance)


def _url(instance: SecondInstance, project: Project) -> str | None:
    return bundles.clone_bundles(instance.settings).url(_path(instance, project))


def _git(*arguments: str | Path) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def _commit(instance: SecondInstance, project: Project, branch: str, text: str) -> str:
    actions = [{"action": "create", "file_path": text, "content": text}]
    sent = {"branch": branch, "commit_message": text, "actions": actions}
    if branch != "master":
        sent["start_branch"] = "master"
    made = instance.api.post(f"{project.url}/repository/commits", instance.make.root, **sent)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


@pytest.fixture
def project(instance: SecondInstance) -> Project:
    """Return a project with two branches, a tag and a merge request."""
    api, root = instance.api, instance.make.root
    project = make_project(instance.make, root)
    _commit(instance, project, "master", "one")
    _commit(instance, project, "other", "two")
    assert api.post(f"{project.url}/repository/tags", root, tag_name="v1", ref="master").status_code == 201
    branches = {"source_branch": "other", "target_branch": "master"}
    assert api.post(f"{project.url}/merge_requests", root, title="Two", **branches).status_code == 201
    return project


def _clone(instance: SecondInstance, project: Project, folder: Path, *options: str) -> tuple[list[str], str]:
    """Clone and return the branches that came from a bundle, and the tip of the current one."""
    root = instance.make.root
    url = instance.url.replace("//", f"//{root.username}:{root.token}@")
    _git(*options, "clone", "-q", f"{url}/{project.path}.git", folder)
    refs = _git("-C", folder, "for-each-ref", "--format=%(refname)", "refs/bundles").split()
    names = sorted(ref.rpartition("/")[2] for ref in refs)  # Versions of git store them at different places.
    return names, _git("-C", folder, "rev-parse", "HEAD").strip()


def _heads(url: str, folder: Path) -> dict[str, str]:
    """Download a bundle and return its refs."""
    bundle = folder / "downloaded.bundle"
    bundle.write_bytes(httpx.get(url).raise_for_status().content)
    lines = _git("bundle", "list-heads", bundle).splitlines()
    return {name: oid for oid, name in (line.split() for line in lines)}


def test_a_bundle_has_branches_and_tags_only(instance: SecondInstance, project: Project, tmp_path: Path) -> None:
    assert _url(instance, project) is None
    _housekeep(instance, project)
    url = _url(instance, project)
    assert url is not None
    heads = _heads(url, tmp_path)
    assert sorted(heads) == ["refs/heads/master", "refs/heads/other", "refs/tags/v1"]
    assert heads["refs/heads/other"] == Repository(_path(instance, project)).tip("refs/heads/other")


@pytest.mark.skipif(VERSION < (2, 40), reason="git names bundles to its clients since 2.40.")
def test_git_clones_from_the_bundle(instance: SecondInstance, project: Project, tmp_path: Path) -> None:
    """Commits that are newer than the bundle are fetched from the server."""
    _housekeep(instance, project)
    newest = _commit(instance, project, "master", "three")
    names, tip = _clone(instance, project, tmp_path / "with", "-c", "transfer.bundleURI=true")
    assert (names, tip) == (["master", "other"], newest)
    names, tip = _clone(instance, project, tmp_path / "without")
    assert (names, tip) == ([], newest)


def test_a_bundle_is_written_again_after_a_day_if_refs_have_changed(
    instance: SecondInstance, project: Project, tmp_path: Path
) -> None:
    _housekeep(instance, project)
    url = _url(instance, project)
    assert url is not None
    first = _heads(url, tmp_path)
    newest = _commit(instance, project, "master", "three")
    _housekeep(instance, project)
    assert _heads(url, tmp_path) == first
    record = _path(instance, project) / "ingot-bundle"
    os.utime(record, (0, 0))
    _housekeep(instance, project)
    assert _heads(url, tmp_path)["refs/heads/master"] == newest
    os.utime(record, (0, 0))
    _housekeep(instance, project)
    assert record.stat().st_mtime == 0, "nothing has changed"


def test_small_repositories_and_closed_buckets_have_no_bundle(
    instance: SecondInstance, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _path(instance, project)
    bundles.clone_bundles(replace(instance.settings, s3_public_url="")).update(Repository(path))
    assert _url(instance, project) is None
    monkeypatch.setattr(bundles, "MIN_REPOSITORY_BYTES", 2**30)
    _housekeep(instance, project)
    assert _url(instance, project) is None


def test_bundles_of_deleted_projects_are_deleted(
    instance: SecondInstance, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the deletion itself and, if that was interrupted, by the sweep."""
    kept = make_project(instance.make, instance.make.root)
    _commit(instance, kept, "master", "one")
    _housekeep(instance, project)
    _housekeep(instance, kept)
    url, kept_url = _url(instance, project), _url(instance, kept)
    assert url is not None and kept_url is not None
    with monkeypatch.context() as patched:
        patched.setattr(bundles.CloneBundles, "delete", lambda *_: None)
        assert instance.api.delete(project.url, instance.make.root).status_code == 200
        _work(instance)
    assert httpx.get(url).status_code == 200
    monkeypatch.setattr(project_jobs, "SWEEP_AFTER_SECONDS", -60)
    instance.app.database.write(project_jobs.enqueue_repository_sweep)
    _work(instance)
    assert (httpx.get(url).status_code, httpx.get(kept_url).status_code) == (404, 200)
    assert instance.api.delete(kept.url, instance.make.root).status_code == 200
    _work(instance)
    assert httpx.get(kept_url).status_code == 404
