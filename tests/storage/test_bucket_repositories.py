"""Repositories in a bucket, with two nodes that share the database and the bucket but no directory of repositories."""

import io
import os
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from sqlalchemy import func, select

from ingot.core.db.connection import Connection
from ingot.core.log import Log
from ingot.git.bucket import storage
from ingot.git.bucket.copy_cache import copies_folder
from ingot.git.bucket.tables import repository_packs, stored_packs
from ingot.git.core.layout import GENERATION
from ingot.git.core.repository import Repository
from ingot.git.maintenance.integrity import find_problems
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.tables import projects
from ingot.server.bucket_repositories import bucket_repositories, copy_cache
from ingot.server.jobs import job_worker
from tests.factories import Project, make_project
from tests.second_instance import SecondInstance, serving
from tests.server.process import fresh_database
from tests.storage.repositories_in_bucket import bucket_settings, delete_copies, leave_unused, use_bucket
from tests.storage.s3_server import S3Server
from tests.storage.switched_proxy import SwitchedProxy, switched_proxy

ROUNDS = int(os.environ.get("INGOT_SOAK_ROUNDS", "3"))
_CALLS_PER_DELETION = 4


class Nodes(NamedTuple):
    """Two nodes, and the proxy between them and the bucket."""

    one: SecondInstance
    two: SecondInstance
    bucket: SwitchedProxy


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory, s3: S3Server, database_url: str) -> Iterator[Nodes]:
    """Yield two nodes, each with a cache of its own."""
    folder = tmp_path_factory.mktemp("nodes")
    with switched_proxy(urlsplit(s3.url).port or 0) as proxy:
        chosen = {**bucket_settings(s3, "two-nodes"), "s3_endpoint": f"http://127.0.0.1:{proxy.port}"}
        chosen["database_url"] = fresh_database(database_url, "two_nodes")
        with (
            serving(folder / "data", repository_cache=str(folder / "one"), **chosen) as one,
            serving(folder / "data", repository_cache=str(folder / "two"), **chosen) as two,
        ):
            use_bucket(one.api, one.make.root)
            yield Nodes(one, two, proxy)


def _work(node: SecondInstance) -> None:
    worker = job_worker(node.settings, node.app.database, Log("json", io.StringIO()))
    while worker.run_once():
        pass


def _git(folder: Path, *arguments: str, fails: bool = False) -> str:
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_GLOBAL": os.devnull}
    names = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    done = subprocess.run(
        ["git", *names, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stdout.strip() + (done.stderr if fails else "")


def _url(node: SecondInstance, project: Project) -> str:
    root = node.make.root
    return f"{node.url.replace('//', f'//{root.username}:{root.token}@')}/{project.path}.git"


def _tree(folder: Path) -> Path:
    folder.mkdir()
    _git(folder, "init", "-q", "-b", "master")
    return folder


def _commit(tree: Path, name: str, content: str = "text\n") -> str:
    (tree / name).write_text(content)
    _git(tree, "add", name)
    _git(tree, "commit", "-q", "-m", f"Change {name}")
    return _git(tree, "rev-parse", "HEAD")


def _key(node: SecondInstance, project: Project) -> str:
    key: str = node.app.database.read(
        lambda db: db.value(select(projects.c.repository_key).where(projects.c.id == project.id))
    )
    return key


def _repository(node: SecondInstance, project: Project) -> Repository:
    return repository_store(node.settings).open(_key(node, project))


def _tip(node: SecondInstance, project: Project, branch: str = "master") -> str:
    answer = node.api.get(f"{project.url}/repository/branches/{branch}", node.make.root)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["commit"]["id"])


def _clone(node: SecondInstance, project: Project, folder: Path) -> str:
    """Clone and check a repository; return its tip."""
    _git(folder.parent, "clone", "-q", _url(node, project), folder.name)
    _git(folder, "fsck", "--full", "--strict")
    return _git(folder, "rev-parse", "HEAD")


def _pushed(nodes: Nodes, tmp_path: Path) -> tuple[Project, Path]:
    """Return a project with one commit, and the work tree from which it was pushed to the first node."""
    project, tree = make_project(nodes.one.make, nodes.one.make.root), _tree(tmp_path / "tree")
    _commit(tree, "README.md")
    _git(tree, "push", "-q", _url(nodes.one, project), "master")
    return project, tree


def test_reads_on_a_node_follow_writes_on_another(nodes: Nodes, tmp_path: Path) -> None:
    one, two = nodes.one, nodes.two
    project, tree = _pushed(nodes, tmp_path)
    assert one.api.get(project.url, one.make.root).json()["repository_storage"] == "cloud"
    for number in range(ROUNDS):
        tip = _commit(tree, f"file{number}")
        _git(
            tree, "push", "-q", _url(one, project), "master", f"HEAD:refs/heads/b{number}", f"HEAD:refs/tags/v{number}"
        )
        assert _tip(two, project) == tip
        assert tip in _git(tmp_path, "ls-remote", _url(two, project), f"refs/heads/b{number}")
        file = two.api.get(f"{project.url}/repository/files/file{number}/raw", two.make.root, ref=f"b{number}")
        assert (file.status_code, file.text) == (200, "text\n")
        made = two.api.post(
            f"{project.url}/repository/files/api{number}",
            two.make.root,
            branch=f"b{number}",
            content="by the API",
            commit_message="Add a file",
        )
        assert made.status_code == 201, made.text
        assert one.api.get(
            f"{project.url}/repository/files/api{number}/raw", one.make.root, ref=f"b{number}"
        ).is_success
        opened = one.api.post(
            f"{project.url}/merge_requests",
            one.make.root,
            source_branch=f"b{number}",
            target_branch="master",
            title="Merge",
        )
        assert opened.status_code == 201, opened.text
        _work(one)
        merged = two.api.put(f"{project.url}/merge_requests/{opened.json()['iid']}/merge", two.make.root)
        assert merged.status_code == 200, merged.text
        assert _tip(one, project) == merged.json()["merge_commit_sha"]
        _git(tree, "pull", "-q", "--ff-only", _url(one, project), "master")
        head = _git(tmp_path, "ls-remote", _url(two, project), f"refs/merge-requests/{opened.json()['iid']}/head")
        assert head.startswith(_git(tree, "rev-parse", "HEAD^2"))
    assert _clone(two, project, tmp_path / "clone") == _tip(one, project)
    deleted = one.api.delete(f"{project.url}/repository/branches/b0", one.make.root)
    assert deleted.status_code == 200
    assert two.api.get(f"{project.url}/repository/branches/b0", two.make.root).status_code == 404


def test_one_of_two_pushes_to_a_branch_wins(nodes: Nodes, tmp_path: Path) -> None:
    project, tree = _pushed(nodes, tmp_path)
    _git(tmp_path, "clone", "-q", _url(nodes.two, project), "other")
    trees = {nodes.one: tree, nodes.two: tmp_path / "other"}
    for number in range(ROUNDS):
        for count, each in enumerate(trees.values()):
            _commit(each, f"file{number}", f"by tree {count}\n")

        def push(node: SecondInstance) -> bool:
            url, folder = _url(node, project), trees[node]
            done = subprocess.run(["git", "push", "-q", url, "master"], cwd=folder, capture_output=True, check=False)
            return done.returncode == 0

        with ThreadPoolExecutor() as pool:
            results = dict(zip(trees, pool.map(push, trees), strict=True))
        assert sorted(results.values()) == [False, True]
        (winner,) = (trees[node] for node, won in results.items() if won)
        assert {_tip(node, project) for node in trees} == {_git(winner, "rev-parse", "HEAD")}
        for node, each in trees.items():
            _git(each, "fetch", "-q", _url(node, project), "master")
            _git(each, "reset", "-q", "--hard", "FETCH_HEAD")


def test_a_change_that_fails_after_the_upload_leaves_nothing(
    nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, tree = _pushed(nodes, tmp_path)
    before = _tip(nodes.two, project)
    repository = _repository(nodes.one, project)
    refs = repository.ref_store
    assert refs is not None
    # The objects of the commit are in the local copy only, as after a push whose process was killed.
    tip = _commit(tree, "second")
    _git(repository.path, "fetch", "-q", "--no-write-fetch-head", str(tree), "master")

    def crash(_: Connection) -> None:
        raise RuntimeError("killed")

    database = nodes.one.app.database
    with pytest.raises(RuntimeError):
        refs.update([RefUpdate("refs/heads/master", before, tip)], record=crash)
    assert (_tip(nodes.one, project), _tip(nodes.two, project)) == (before, before)
    listed = select(func.count()).select_from(stored_packs)
    count = database.read(lambda db: db.value(listed))
    # A change that needs the same objects stores them again.
    refs.update([RefUpdate("refs/heads/master", before, tip)])
    assert database.read(lambda db: db.value(listed)) == count + 1
    assert _clone(nodes.two, project, tmp_path / "clone") == tip == _tip(nodes.one, project)

    client = nodes.one.settings
    objects = bucket_repositories(client, database)
    monkeypatch.setattr(storage, "UNUSED_SECONDS", -60.0)
    stored = {keys for batch in objects.objects.old_keys(-60.0) for keys in batch}
    objects.delete_unused_packs()
    remaining = {keys for batch in objects.objects.old_keys(-60.0) for keys in batch}
    rows = {key for (key,) in database.read(lambda db: db.rows(select(stored_packs.c.object_key)))}
    assert remaining == rows < stored


def test_a_deleted_cache_is_filled_again(nodes: Nodes, tmp_path: Path) -> None:
    project, tree = _pushed(nodes, tmp_path)
    cache = copy_cache(nodes.one.settings)
    for number in range(ROUNDS):
        shutil.rmtree(cache.root)
        assert _tip(nodes.one, project) == _git(tree, "rev-parse", "HEAD")
        delete_copies(nodes.one.settings)
        assert _tip(nodes.one, project) == _git(tree, "rev-parse", "HEAD")
        assert cache.clear() == 0  # It is in use.
        leave_unused(nodes.one.settings)
        assert cache.clear() == 1
        _commit(tree, f"file{number}")
        _git(tree, "push", "-q", _url(nodes.one, project), "master")
    root = nodes.one.make.root
    paths = ["branches", "commits", "tree", "files/README.md?ref=master"]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(ROUNDS):
            answers = [pool.submit(nodes.one.api.get, f"{project.url}/repository/{path}", root) for path in paths * 4]
            cache.clear()
            assert {answer.result().status_code for answer in answers} == {200}


def test_a_cache_deleted_while_it_serves(nodes: Nodes, tmp_path: Path) -> None:
    """Files of the cache that are deleted without the server disturb neither calls of the API nor git."""
    project, _ = _pushed(nodes, tmp_path)
    root, cache = nodes.one.make.root, Path(nodes.one.settings.repository_cache)
    done = threading.Semaphore(0)

    def call(method: str, path: str, /, **sent: Any) -> Any:
        answer = getattr(nodes.one.api, method)(f"{project.url}{path}", root, **sent)
        done.release()
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer

    def read() -> None:
        for _ in range(ROUNDS):
            for path in ("branches", "commits", "tree", "files/README.md?ref=master"):
                call("get", f"/repository/{path}")
            tip = call("get", "/repository/branches/master").json()["commit"]["id"]
            for path in ("", "/diff", "/refs"):
                call("get", f"/repository/commits/{tip}{path}")
            archive = call("get", f"/repository/archive.tar.gz?sha={tip}").content
            with tarfile.open(fileobj=io.BytesIO(archive)) as files:
                assert any(name.endswith("/README.md") for name in files.getnames())

    def write(number: int) -> None:
        for count in range(ROUNDS):
            name = f"change-{number}-{count}"
            message = {"commit_message": "Change it"}
            made = call("post", f"/repository/files/{name}", branch="master", content="text", **message).json()
            assert made["branch"] == "master"
            call("post", "/repository/branches", branch=name, ref="master")
            actions = [{"action": "create", "file_path": f"more-{name}", "content": "more"}]
            sha = call("post", "/repository/commits", branch=name, actions=actions, **message).json()["id"]
            call("post", "/repository/tags", tag_name=name, ref=name)
            call("put", f"/repository/files/more-{name}", branch=name, content="other", **message)
            call("post", f"/repository/commits/{sha}/comments", note="Seen")
            sent = {"source_branch": name, "target_branch": "master", "title": name}
            iid = call("post", "/merge_requests", **sent).json()["iid"]
            call("get", f"/merge_requests/{iid}/changes")
            call("put", f"/merge_requests/{iid}/merge")
            merged = call("get", f"/merge_requests/{iid}").json()["merge_commit_sha"]
            call("get", f"/repository/compare?from={sha}&to={merged}")
            call("delete", f"/repository/branches/{name}")

    def push() -> None:
        tree = tmp_path / "pushed"
        _git(tmp_path, "clone", "-q", _url(nodes.one, project), "pushed")
        for count in range(ROUNDS * 2):
            _commit(tree, f"pushed-{count}")
            _git(tree, "push", "-q", _url(nodes.one, project), "HEAD:refs/heads/pushed", f"HEAD:refs/tags/p{count}")
            done.release()

    def fetch() -> None:
        for count in range(ROUNDS):
            _clone(nodes.one, project, tmp_path / f"clone{count}")
            # A fork has no copy yet.
            made = call("post", "/fork", name=f"fork-{count}", path=f"fork-{count}-of-{project.id}").json()
            fork = replace(project, id=made["id"], path=made["path_with_namespace"])
            _clone(nodes.one, fork, tmp_path / f"fork{count}")
            done.release()

    with ThreadPoolExecutor(6) as pool:
        steps = (read, read, partial(write, 0), partial(write, 1), push, fetch)
        working = [pool.submit(step) for step in steps]
        while not all(work.done() for work in working):
            shutil.rmtree(cache, ignore_errors=True)
            for _ in range(_CALLS_PER_DELETION):
                done.acquire(timeout=1)
        for work in working:
            work.result()
    whole = tmp_path / "whole"
    assert _clone(nodes.two, project, whole) == _tip(nodes.one, project)
    for number in (0, 1):
        for count in range(ROUNDS):
            assert (whole / f"change-{number}-{count}").exists()
            assert (whole / f"more-change-{number}-{count}").read_text() == "other"
    pushed = _git(tmp_path / "pushed", "rev-parse", "HEAD")
    assert _git(whole, "rev-parse", "origin/pushed", f"p{2 * ROUNDS - 1}") == f"{pushed}\n{pushed}"


def test_a_stopped_bucket_refuses_only_what_needs_it(nodes: Nodes, tmp_path: Path) -> None:
    project, tree = _pushed(nodes, tmp_path)
    root, tip = nodes.one.make.root, _git(tree, "rev-parse", "HEAD")
    assert _tip(nodes.one, project) == tip
    nodes.bucket.switch_off()
    try:
        assert _tip(nodes.one, project) == tip
        assert _clone(nodes.one, project, tmp_path / "warm") == tip
        cold = nodes.two.api.get(f"{project.url}/repository/branches/master", root)
        assert (cold.status_code, "retry-after" in cold.headers) == (503, True), cold.text
        assert "not available" in _git(tmp_path, "clone", _url(nodes.two, project), "cold", fails=True)
        _commit(tree, "second")
        assert "not available" in _git(tree, "push", _url(nodes.one, project), "master", fails=True)
        assert _tip(nodes.one, project) == tip
    finally:
        nodes.bucket.switch_on()
    _git(tree, "push", "-q", _url(nodes.one, project), "master")
    assert _tip(nodes.two, project) == _git(tree, "rev-parse", "HEAD")


def test_few_requests_to_the_bucket(nodes: Nodes, tmp_path: Path) -> None:
    """A push needs one for its pack and one for the index, a warm read and a fork none."""
    (one, two, bucket), root = nodes, nodes.one.make.root
    project, tree = _pushed(nodes, tmp_path)
    _clone(two, project, tmp_path / "before")
    bucket.requests.clear()
    tip = _commit(tree, "second")
    _git(tree, "push", "-q", _url(one, project), "master", "HEAD:refs/tags/v1")
    assert bucket.requests == ["PUT", "PUT"]
    for path in ("branches/master", "commits", "tree", "files/second/raw?ref=master"):
        assert one.api.get(f"{project.url}/repository/{path}", root).status_code == 200
    assert _clone(one, project, tmp_path / "warm") == tip
    assert bucket.requests == ["PUT", "PUT"]
    assert _clone(two, project, tmp_path / "behind") == tip
    assert bucket.requests == ["PUT", "PUT", "GET", "GET"]
    bucket.requests.clear()
    sent = {"branch": "master", "content": "text", "commit_message": "Add a file"}
    made = one.api.post(f"{project.url}/repository/files/by-the-api", root, **sent)
    assert (made.status_code, bucket.requests) == (201, ["PUT", "PUT"])
    forked = one.api.post(f"{project.url}/fork", root, name="few", path=f"few-{project.id}")
    assert forked.status_code == 201, forked.text
    fork = replace(project, id=forked.json()["id"], path=forked.json()["path_with_namespace"])
    # The copy of the fork links the packs of that of its parent.
    assert _clone(one, fork, tmp_path / "fork") == _tip(one, project)
    assert bucket.requests == ["PUT", "PUT"]


def test_a_copy_that_a_power_failure_has_cut_off_is_completed(nodes: Nodes, tmp_path: Path) -> None:
    project, tree = _pushed(nodes, tmp_path)
    folder = _repository(nodes.two, project).path
    (pack,) = (folder / "objects" / "pack").glob("*.pack")
    pack.unlink()
    pack.touch()
    generation = folder / GENERATION
    generation.write_text(f"{generation.read_text().split()[0]} another-start\n")
    assert _clone(nodes.two, project, tmp_path / "clone") == _git(tree, "rev-parse", "HEAD")


def test_a_fork_shares_packs_and_survives_its_parent(nodes: Nodes, tmp_path: Path) -> None:
    project, tree = _pushed(nodes, tmp_path)
    database, root = nodes.one.app.database, nodes.one.make.root
    packs = select(func.count()).select_from(stored_packs)
    count = database.read(lambda db: db.value(packs))
    made = nodes.one.api.post(f"{project.url}/fork", root, name="fork", path=f"fork-{project.id}")
    assert made.status_code == 201, made.text
    fork = replace(project, id=made.json()["id"], path=made.json()["path_with_namespace"])
    assert database.read(lambda db: db.value(packs)) == count
    assert nodes.one.api.delete(project.url, root).status_code == 200
    _work(nodes.one)
    bucket_repositories(nodes.one.settings, database).delete_unused_packs()
    delete_copies(nodes.two.settings)
    assert _clone(nodes.two, fork, tmp_path / "clone") == _git(tree, "rev-parse", "HEAD")


def test_housekeeping_combines_packs(nodes: Nodes, tmp_path: Path) -> None:
    project, tree = _pushed(nodes, tmp_path)
    for number in range(9):
        _commit(tree, f"file{number}")
        _git(tree, "push", "-q", _url(nodes.one, project), "master")
    assert _tip(nodes.two, project) == _git(tree, "rev-parse", "HEAD")
    before = len(list((_repository(nodes.one, project).path / "objects" / "pack").glob("*.idx")))
    assert before >= 10
    assert nodes.one.api.post(f"{project.url}/housekeeping", nodes.one.make.root).status_code == 201
    _work(nodes.one)
    database = nodes.one.app.database
    key = _key(nodes.one, project)
    listed = storage.BucketRepositories.exists(bucket_repositories(nodes.one.settings, database), key)
    assert listed
    rows = database.read(
        lambda db: db.rows(select(repository_packs.c.repository_id, func.count()).group_by("repository_id"))
    )
    assert 1 <= min(number for _, number in rows) < before
    _commit(tree, "last")
    _git(tree, "push", "-q", _url(nodes.two, project), "master")
    delete_copies(nodes.one.settings)
    assert _clone(nodes.one, project, tmp_path / "clone") == _git(tree, "rev-parse", "HEAD")
    assert find_problems(_repository(nodes.one, project).path, deep=True) == []


def test_repositories_move_to_directories_and_back(nodes: Nodes, tmp_path: Path) -> None:
    project, tree = _pushed(nodes, tmp_path)
    root = nodes.one.make.root
    path = f"{project.url}/repository_storage_moves"
    for storage_name in ("default", "cloud", "default"):
        _commit(tree, f"before-{len(list(tree.iterdir()))}")
        _git(tree, "push", "-q", _url(nodes.two, project), "master", "HEAD:refs/heads/other")
        sent = nodes.one.api.post(path, root, destination_storage_name=storage_name)
        assert sent.status_code == 201, sent.text
        _work(nodes.one)
        newest = nodes.one.api.get(path, root).json()[0]
        assert (newest["state"], newest["error_message"]) == ("finished", None)
        for node in (nodes.one, nodes.two):
            assert _tip(node, project) == _tip(node, project, "other") == _git(tree, "rev-parse", "HEAD")


def test_the_cache_has_a_limit(nodes: Nodes, tmp_path: Path) -> None:
    project, _ = _pushed(nodes, tmp_path)
    repository = _repository(nodes.one, project)
    limited = copy_cache(nodes.one.settings)
    generation = repository.path / "ingot-generation"
    os.utime(generation, (1, 1))
    copies = limited.copies()
    assert copies[0].path.name == repository.path.name
    limited.max_bytes = sum(copy.bytes for copy in copies) - 1
    assert limited.trim() == 1
    assert not repository.path.exists() and not copies[0].path.exists()
    assert _tip(nodes.one, project)
    assert limited.trim() == 0  # Everything was used a moment ago.
    leave_unused(nodes.one.settings)
    shutil.rmtree(limited.root)
    assert repository.path.exists()
    limited.remove_idle_sometimes()
    assert not repository.path.exists()
    assert _tip(nodes.one, project)


def test_copies_are_in_a_hidden_folder_if_links_to_the_cache_are_impossible(tmp_path: Path) -> None:
    run, other = tmp_path / "run", tmp_path / "other"
    other.touch()
    chosen, hidden = (copies_folder(folder, tmp_path / "cache") for folder in (run, other))
    assert (chosen.parent, hidden) == (run / "copies", tmp_path / "cache/.copies")
    assert not any(file.is_file() for file in (tmp_path / "cache").rglob("*"))
