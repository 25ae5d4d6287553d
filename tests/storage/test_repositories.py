"""Several repository storages: choice by weight, moves while clients push, and the loss of one of them."""

import io
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from ingot.core.log import Log
from ingot.git.core.repository import Repository
from ingot.git.maintenance.backup_copy import copy_repository
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.tables import project_wikis, projects
from ingot.repositories.ref_changes.moves import lock_repository, unlock_repository
from ingot.repositories.storage_moves import mover
from ingot.server.jobs import job_worker
from ingot.web.projects.option_fields import PROJECT_LABELS
from tests.factories import Project, make_project
from tests.second_instance import SecondInstance, serving
from tests.server.process import ingot
from tests.web.browser import Browser


@pytest.fixture(scope="module")
def disks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecondInstance]:
    """Yield an instance with two more storages."""
    folder = tmp_path_factory.mktemp("disk")
    for storage in ("fast", "archive"):
        (folder / storage).mkdir()
    storages = f"fast={folder / 'fast'},archive={folder / 'archive'}"
    with serving(tmp_path_factory.mktemp("disks"), repository_storages=storages) as instance:
        yield instance


def _work(disks: SecondInstance) -> None:
    worker = job_worker(disks.settings, disks.app.database, Log("json", io.StringIO()))
    while worker.run_once():
        pass


def _weights(disks: SecondInstance, **weights: int) -> None:
    sent = disks.api.put("/application/settings", disks.make.root, repository_storages_weighted=weights)
    assert (sent.status_code, sent.json()["repository_storages_weighted"]) == (200, weights), sent.text


def _copies(disks: SecondInstance) -> dict[str, str]:
    """Return the storage of each repository by the digits of its key."""
    rows = disks.app.database.read(lambda db: db.rows(select(projects.c.repository_key)))
    return {key.rpartition(":")[2]: key.rpartition(":")[0] or "default" for (key,) in rows}


def _path(disks: SecondInstance, key: str) -> Path:
    return repository_store(disks.settings).path_of(key)


def _new_project(disks: SecondInstance) -> tuple[Project, str]:
    """Return a new project with a commit, and the digits of the key of its repository."""
    before = set(_copies(disks))
    project = make_project(disks.make, disks.make.root)
    (digits,) = set(_copies(disks)) - before
    return project, digits


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_GLOBAL": os.devnull}
    names = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    return subprocess.run(
        ["git", *names, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def _work_tree(disks: SecondInstance, project: Project, folder: Path) -> Path:
    folder.mkdir()
    assert _git(folder, "init", "-q", "-b", "master").returncode == 0
    root = disks.make.root
    url = disks.url.replace("//", f"//{root.username}:{root.token}@")
    assert _git(folder, "remote", "add", "origin", f"{url}/{project.path}.git").returncode == 0
    return folder


def test_new_repositories_follow_the_weights(disks: SecondInstance) -> None:
    for storage in ("fast", "default"):
        _weights(disks, **{storage: 100})
        project, digits = _new_project(disks)
        assert _copies(disks)[digits] == storage
        fork = disks.api.post(
            f"{project.url}/fork", disks.make.root, name=f"fork-{project.id}", path=f"fork-{project.id}"
        )
        assert fork.status_code == 201, fork.text
        assert sorted(_copies(disks).values()).count(storage) >= 2
    refused = disks.api.put("/application/settings", disks.make.root, repository_storages_weighted={"slow": 1})
    assert (refused.status_code, refused.json()) == (
        400,
        {"message": {"repository_storages_weighted": ["can't include: slow"]}},
    )


def test_names_of_storages_are_weights(disks: SecondInstance) -> None:
    path, root = "/application/settings", disks.make.root
    _weights(disks, default=100, fast=50)
    assert disks.api.get(path, root).json()["repository_storages"] == ["default", "fast"]

    only_archive = disks.api.put(path, root, repository_storages=["archive"]).json()
    assert only_archive["repository_storages_weighted"] == {"default": 0, "fast": 0, "archive": 100}
    assert only_archive["repository_storage"] == "archive"
    _, digits = _new_project(disks)
    assert _copies(disks)[digits] == "archive"

    assert disks.api.put(path, root, **only_archive).json() == only_archive
    only_fast = disks.api.put(path, root, repository_storage="fast").json()
    assert only_fast["repository_storages"] == ["fast"]
    _, digits = _new_project(disks)
    assert _copies(disks)[digits] == "fast"
    _weights(disks, default=100)


def test_moves_by_the_api(disks: SecondInstance, tmp_path: Path) -> None:
    api, root, user = disks.api, disks.make.root, disks.make.user()
    _weights(disks, default=100)
    project, digits = _new_project(disks)
    tree = _work_tree(disks, project, tmp_path / "tree")
    for arguments in (("commit", "-q", "--allow-empty", "-m", "first"), ("tag", "v1")):
        assert _git(tree, *arguments).returncode == 0
    assert _git(tree, "push", "-q", "origin", "master", "v1").returncode == 0
    path = f"{project.url}/repository_storage_moves"
    made = api.post(path, root, destination_storage_name="fast")
    assert made.status_code == 201, made.text
    move = made.json()
    described = {name: move[name] for name in ("state", "source_storage_name", "destination_storage_name")}
    assert described == {
        "state": "scheduled",
        "source_storage_name": "default",
        "destination_storage_name": "fast",
    }
    assert move["project"]["path_with_namespace"] == project.path
    assert api.post(path, root, destination_storage_name="fast").status_code == 400
    _work(disks)
    assert [each["state"] for each in api.get(path, root).json()] == ["finished"]
    assert api.get(f"{project.url}/repository_storage_moves/{move['id']}", root).json()["error_message"] is None
    assert api.get(f"/project_repository_storage_moves/{move['id']}", root).json()["id"] == move["id"]
    assert move["id"] in [each["id"] for each in api.get("/project_repository_storage_moves", root).json()]
    assert _copies(disks)[digits] == "fast"
    moved, original = Repository(_path(disks, f"fast:{digits}")), Repository(_path(disks, digits))
    assert moved.refs() == original.refs()
    assert api.get(f"{project.url}/repository/branches/master", root).json()["commit"]["title"] == "first"
    assert _git(tree, "commit", "-q", "--allow-empty", "-m", "second").returncode == 0
    assert _git(tree, "push", "-q", "origin", "master").returncode == 0
    assert moved.tip("refs/heads/master") != original.tip("refs/heads/master")
    for sent in ({"destination_storage_name": "fast"}, {"destination_storage_name": "slow"}):
        assert api.post(path, root, **sent).status_code == 400
    assert api.get(project.url, root).json()["repository_storage"] == "fast"
    for method, refused in (
        ("GET", path),
        ("POST", path),
        ("GET", "/project_repository_storage_moves"),
        ("POST", "/project_repository_storage_moves"),
    ):
        assert api.request(method, refused, user).status_code in (403, 404)
    assert api.post("/project_repository_storage_moves", root, source_storage_name="slow").status_code == 400
    assert api.post("/project_repository_storage_moves", root, source_storage_name="fast").status_code == 202
    _work(disks)
    copies = _copies(disks)
    assert (copies[digits], "fast" in copies.values()) == ("default", False)
    unknown = api.put(project.url, root, repository_storage="slow")
    assert unknown.json() == {"message": {"repository_storage": ["is not included in the list"]}}
    with Browser(disks.url) as browser:
        assert browser.sign_in("root", disks.make.root.password).status_code == 302
        before = api.get(project.url, root).json()
        typed = {f"options[{name}]": "1" if before[name] is True else before[name] for name in PROJECT_LABELS}
        typed |= {"authenticity_token": browser.token(), "_method": "put", "part": "options"}
        typed["options[repository_storage]"] = "fast"
        sent = {name: value for name, value in typed.items() if value}
        assert browser.post(f"/{project.path}/-/edit", data=sent).status_code == 302
    (recorded,) = api.get(f"{project.url}/audit_events", root).json()
    named = {name: recorded["details"][name] for name in ("change", "from", "to")}
    assert named == {"change": "repository_storage", "from": "default", "to": "fast"}
    _work(disks)
    assert api.get(project.url, root).json()["repository_storage"] == "fast"
    assert Repository(_path(disks, digits)).tip("refs/heads/master") == moved.tip("refs/heads/master")


def test_no_push_is_lost_while_the_repository_moves(disks: SecondInstance, tmp_path: Path) -> None:
    """Every push that git has reported as successful is in the repository after several moves.

    No storage is used twice: a move back removes the old copy, in which a slow push may still run.
    """
    _weights(disks, default=100)
    project, digits = _new_project(disks)
    accepted: dict[str, str] = {}
    refused: list[str] = []
    stop = threading.Event()

    def push(number: int) -> None:
        tree = _work_tree(disks, project, tmp_path / f"tree{number}")
        count = successes = 0
        while not stop.is_set() or successes < 3:
            count += 1
            branch = f"b{number}-{count}"
            assert _git(tree, "commit", "-q", "--allow-empty", "-m", branch).returncode == 0
            done = _git(tree, "push", "-q", "origin", f"HEAD:refs/heads/{branch}")
            if done.returncode == 0:
                successes += 1
                accepted[f"refs/heads/{branch}"] = _git(tree, "rev-parse", "HEAD").stdout.strip()
            else:
                refused.append(done.stderr)

    threads = [threading.Thread(target=push, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    try:
        for storage in ("fast", "archive"):
            made = disks.api.post(
                f"{project.url}/repository_storage_moves", disks.make.root, destination_storage_name=storage
            )
            assert made.status_code == 201, made.text
            _work(disks)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    states = [
        each["state"] for each in disks.api.get(f"{project.url}/repository_storage_moves", disks.make.root).json()
    ]
    assert states == ["finished"] * 2
    tips = Repository(_path(disks, f"archive:{digits}"))
    assert {ref: tips.tip(ref) for ref in accepted} == accepted
    assert len(accepted) >= 6
    assert all("Push again in a moment" in message for message in refused), refused


def test_a_wiki_moves_with_its_project(disks: SecondInstance, tmp_path: Path) -> None:
    """No acknowledged page is lost; pushes and pages work in the new place."""
    api, root = disks.api, disks.make.root
    _weights(disks, default=100)
    project, _ = _new_project(disks)
    assert api.post(f"{project.url}/wikis", root, title="home", content="first").status_code == 201
    created: list[str] = []
    refused: list[int] = []
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            title = f"page-{len(created)}-{len(refused)}"
            status = api.post(f"{project.url}/wikis", root, title=title, content=title).status_code
            if status == 201:
                created.append(title)
            else:
                refused.append(status)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for storage in ("fast", "archive"):
            move = api.post(f"{project.url}/repository_storage_moves", root, destination_storage_name=storage)
            assert move.status_code == 201, move.text
            _work(disks)
            moved = api.get(f"{project.url}/repository_storage_moves/{move.json()['id']}", root).json()
            assert (moved["state"], _storage_of_wiki(disks, project)) == ("finished", storage), moved
    finally:
        stop.set()
        thread.join()
    assert set(refused) <= {503}
    assert {page["slug"] for page in api.get(f"{project.url}/wikis", root).json()} >= {"home", *created}
    tree = tmp_path / "tree"
    url = disks.url.replace("//", f"//{root.username}:{root.token}@")
    assert _git(tmp_path, "clone", "-q", f"{url}/{project.path}.wiki.git", str(tree)).returncode == 0
    (tree / "pushed.md").write_text("pushed")
    for arguments in (("add", "."), ("commit", "-q", "-m", "push"), ("push", "-q", "origin", "HEAD")):
        assert _git(tree, *arguments).returncode == 0
    assert api.get(f"{project.url}/wikis/pushed", root).json()["content"] == "pushed"


def test_a_wiki_that_changes_during_the_last_copy_is_copied_again(
    disks: SecondInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that was accepted before the move may reach the repository only while it is copied."""
    api, root = disks.api, disks.make.root
    _weights(disks, default=100)
    project, _ = _new_project(disks)
    assert api.post(f"{project.url}/wikis", root, title="home", content="first").status_code == 201
    wiki = _path(disks, _key_of_wiki(disks, project))
    branch = _git(wiki, "symbolic-ref", "HEAD").stdout.strip()
    late = _git(wiki, "commit-tree", "-m", "late", "-p", branch, f"{branch}^{{tree}}").stdout.strip()
    copied: list[Path] = []

    def copy_and_change(source: Path, folder: Path) -> None:
        copy_repository(source, folder)
        copied.append(source)
        if copied.count(wiki) == 2:
            assert _git(wiki, "update-ref", branch, late).returncode == 0

    monkeypatch.setattr(mover, "copy_repository", copy_and_change)
    move = api.post(f"{project.url}/repository_storage_moves", root, destination_storage_name="fast")
    assert move.status_code == 201, move.text
    _work(disks)
    assert (copied.count(wiki), _storage_of_wiki(disks, project)) == (3, "fast")
    assert Repository(_path(disks, _key_of_wiki(disks, project))).tip(branch) == late


def _key_of_wiki(disks: SecondInstance, project: Project) -> str:
    query = select(project_wikis.c.repository_key).where(project_wikis.c.project_id == project.id)
    return str(disks.app.database.read(lambda db: db.value(query)))


def _storage_of_wiki(disks: SecondInstance, project: Project) -> str:
    return _key_of_wiki(disks, project).rpartition(":")[0] or "default"


def test_changes_are_refused_while_a_repository_is_locked(disks: SecondInstance, tmp_path: Path) -> None:
    _weights(disks, default=100)
    project, _ = _new_project(disks)
    wiki = {"title": "home", "content": "x"}
    tree = _work_tree(disks, project, tmp_path / "tree")
    assert _git(tree, "commit", "-q", "--allow-empty", "-m", "first").returncode == 0
    disks.app.database.write(lambda db: lock_repository(db, project.id))
    sent = {"branch": "master", "content": "x", "commit_message": "Add"}
    try:
        pushed = _git(tree, "push", "-q", "origin", "master")
        assert pushed.returncode != 0
        assert "Push again in a moment" in pushed.stderr
        assert disks.api.post(f"{project.url}/repository/files/a", disks.make.root, **sent).status_code == 503
        assert disks.api.post(f"{project.url}/wikis", disks.make.root, **wiki).status_code == 503
    finally:
        disks.app.database.write(lambda db: unlock_repository(db, project.id))
    assert disks.api.post(f"{project.url}/repository/files/a", disks.make.root, **sent).status_code == 201


def test_only_projects_of_a_lost_storage_are_unavailable(disks: SecondInstance) -> None:
    api, root = disks.api, disks.make.root
    made = {}
    for storage in ("fast", "default"):
        _weights(disks, **{storage: 100})
        made[storage], _ = _new_project(disks)
    _weights(disks, fast=100)
    directory = disks.settings.storage_directories["fast"]
    away = directory.with_name("away")
    directory.rename(away)
    directory.mkdir()  # As the directory of a disk that is not mounted.
    try:
        for storage, status in (("fast", 503), ("default", 200)):
            assert api.get(f"{made[storage].url}/repository/branches", root).status_code == status, storage
            assert api.get(made[storage].url, root).status_code == 200
        assert api.get("/projects", root).status_code == 200
        _, digits = _new_project(disks)
        assert _copies(disks)[digits] == "default"
        checked = ingot(
            "doctor", "--data", disks.settings.data, INGOT_REPOSITORY_STORAGES=disks.settings.repository_storages
        )
        assert "The repository storage fast is not available" in checked.stdout
        assert "has no repository" not in checked.stdout
    finally:
        directory.rmdir()
        away.rename(directory)
    assert api.get(f"{made['fast'].url}/repository/branches", root).status_code == 200


def test_backup_and_move_by_the_command(disks: SecondInstance, tmp_path: Path) -> None:
    _weights(disks, fast=100)
    project, digits = _new_project(disks)
    storages = {"INGOT_REPOSITORY_STORAGES": disks.settings.repository_storages}
    written = ingot("backup", tmp_path / "backup.tar.gz", "--data", disks.settings.data, **storages)
    assert written.returncode == 0, written.stderr
    restored = ingot("restore", tmp_path / "backup.tar.gz", "--data", tmp_path / "restored")
    assert restored.returncode == 0, restored.stderr
    assert (tmp_path / "restored" / "repositories" / digits[:2] / digits[2:4] / f"{digits}.git" / "HEAD").is_file()
    moved = ingot(
        "storage", "move-repository", project.path, "--to", "default", "--data", disks.settings.data, **storages
    )
    assert (moved.returncode, moved.stdout) == (0, f"{project.path}: finished\n"), moved.stderr
    assert _copies(disks)[digits] == "default"
    again = ingot("storage", "move-repository", project.path, "--to", "slow", "--data", disks.settings.data, **storages)
    assert again.returncode == 1
