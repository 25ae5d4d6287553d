"""Import of a repository into a new project, from a real git server on loopback."""

import threading
import time

import pytest

from ingot.core.access.levels import Level
from ingot.core.jobs.tables import jobs
from ingot.projects.imports.service import fail_lost_imports
from tests.api.projects.import_server import Importer, SlowServer, is_empty
from tests.client import Api, Make
from tests.git.conftest import git

PASSWORD = "pass/w:rd & ünïque"
QUOTED = "pass%2Fw%3Ard%20%26%20%C3%BCn%C3%AFque"
SPELLINGS = (PASSWORD, QUOTED, "ünïque", "%C3%BCn", "somebody-secret")


def test_an_import_copies_the_repository(importer: Importer, server: SlowServer) -> None:
    """Branches and tags, the default branch, and the counts, as soon as the status is finished."""
    project_id = importer.create(f"{server.url}/remote.git")
    before = importer.status(project_id)
    assert (before["import_status"], before["import_type"], before["import_error"]) == ("scheduled", "git", None)
    made = importer.api.get(f"/projects/{project_id}", importer.make.root).json()
    assert (made["default_branch"], made["empty_repo"]) == ("master", True)

    importer.instance.work()

    after = importer.status(project_id)
    assert after["import_status"] == "finished"
    assert (after["import_error"], after["import_progress"]) == (None, None)
    assert after["path_with_namespace"] == made["path_with_namespace"]
    now = importer.api.get(f"/projects/{project_id}", importer.make.root, statistics=True).json()
    assert (now["default_branch"], now["empty_repo"], now["import_status"]) == ("trunk", False, "finished")
    assert now["statistics"]["commit_count"] == 4
    assert now["statistics"]["repository_size"] > 1000
    assert now["last_activity_at"] > made["last_activity_at"]
    refs = git(server.root / "remote.git", "for-each-ref", "refs/heads", "refs/tags")
    assert git(importer.path(project_id), "for-each-ref") == refs
    git(importer.path(project_id), "fsck", "--strict")


def test_an_empty_repository_is_imported(importer: Importer, server: SlowServer) -> None:
    """The import succeeds."""
    git(server.root, "init", "-q", "--bare", "-b", "main", "nothing.git")
    project_id = importer.create(f"{server.url}/nothing.git")
    importer.work()
    assert importer.status(project_id)["import_status"] == "finished"
    assert importer.row(project_id).empty


def test_an_administrator_imports_for_a_user(importer: Importer, server: SlowServer) -> None:
    """The endpoint for other users takes the same parameter."""
    user = importer.make.user()
    sent = {"name": "for them", "import_url": f"{server.url}/remote.git"}
    made = importer.api.post(f"/projects/user/{user.id}", importer.make.root, **sent)
    assert (made.status_code, made.json()["import_status"]) == (201, "scheduled")
    importer.work()
    status = importer.api.get(f"/projects/{made.json()['id']}/import", user).json()
    assert status["import_status"] == "finished"
    assert status["path_with_namespace"].startswith(f"{user.username}/")


@pytest.mark.parametrize("empty", ["", None])
def test_an_empty_url_starts_no_import(api: Api, make: Make, empty: str | None) -> None:
    """Forms send an empty field."""
    made = api.post("/projects", make.root, name=make.name("plain"), import_url=empty)
    assert (made.status_code, made.json()["import_status"]) == (201, "none")
    status = api.get(f"/projects/{made.json()['id']}/import", make.root).json()
    assert (status["import_status"], status["import_type"]) == ("none", None)


def test_visibility_of_the_import_status(api: Api, make: Make) -> None:
    """For all who can see the project."""
    owner, stranger, guest = make.user(), make.user(), make.user()
    project_id = api.post("/projects", owner, name="hidden", visibility="private").json()["id"]
    added = api.post(f"/projects/{project_id}/members", owner, user_id=guest.id, access_level=int(Level.GUEST))
    assert added.status_code == 201, added.text
    path = f"/projects/{project_id}/import"
    assert [api.get(path, who).status_code for who in (owner, guest, stranger, None)] == [200, 200, 404, 401]


def everything_shown(importer: Importer, project_id: int) -> str:
    """Return everything that is visible of an import, and the stored job."""
    root = importer.make.root
    seen = [
        importer.api.get(f"/projects/{project_id}", root, statistics=True).text,
        importer.api.get("/projects", root).text,
        importer.api.get(f"/projects/{project_id}/import", root).text,
        repr(importer.jobs()),
        repr(importer.row(project_id)),
        importer.instance.log.getvalue(),
        (importer.path(project_id) / "config").read_text(),
    ]
    return "\n".join(seen)


@pytest.mark.parametrize("known", [True, False])
def test_credentials_are_used_and_never_shown(importer: Importer, server: SlowServer, known: bool) -> None:
    """Attack: read the password of an import URL; only the remote server gets it, right or wrong."""
    server.password = ("somebody-secret", PASSWORD if known else "another")
    url = f"http://somebody-secret:{QUOTED}@127.0.0.1:{server.port}/remote.git"
    project_id = importer.create(url)
    assert [job.payload for job in importer.jobs()] == [f'{{"project_id":{project_id}}}']
    texts = [everything_shown(importer, project_id)]

    importer.instance.work()

    status = importer.status(project_id)
    assert status["import_status"] == ("finished" if known else "failed")
    assert status["import_error"] == (None if known else "The server refused the credentials")
    texts.append(everything_shown(importer, project_id))
    assert not [text for text in texts for secret in SPELLINGS if secret in text]
    # They are deleted after use.
    assert importer.stored_url(project_id) == f"{server.url}/remote.git"
    assert any(sent for _, _, sent in server.asked)


def test_a_missing_repository_fails_at_once(importer: Importer, server: SlowServer) -> None:
    """Without retries; the project stays empty and usable."""
    project_id = importer.create(f"{server.url}/nowhere.git")
    importer.work()
    assert importer.status(project_id)["import_error"] == "There is no repository there"
    assert importer.jobs() == []
    assert len(server.asked) == 1
    assert is_empty(importer.path(project_id))
    shown = importer.api.get(f"/projects/{project_id}", importer.make.root).json()
    assert (shown["import_status"], shown["import_error"]) == ("failed", "There is no repository there")


def test_progress_is_shown_while_it_runs(importer: Importer, server: SlowServer) -> None:
    """The progress line of git."""
    server.hold()
    project_id = importer.create(f"{server.url}/remote.git")
    working = threading.Thread(target=importer.work)
    working.start()
    assert server.reached.wait(30)
    deadline = time.monotonic() + 30
    while not (status := importer.status(project_id))["import_progress"] and time.monotonic() < deadline:
        time.sleep(0.02)
    server.release()
    working.join(60)
    assert status["import_status"] == "started"
    assert str(status["import_progress"]).startswith("Receiving objects:")
    assert importer.status(project_id)["import_status"] == "finished"


@pytest.mark.parametrize("during", [False, True])
def test_deleting_the_project_stops_its_import(importer: Importer, server: SlowServer, during: bool) -> None:
    """Without an error, and no files are left."""
    logged = len(importer.instance.log.getvalue())
    project_id = importer.create(f"{server.url}/remote.git")
    path = importer.path(project_id)
    if during:
        server.hold()
        working = threading.Thread(target=importer.work)
        working.start()
        assert server.reached.wait(30)
    assert importer.api.delete(f"/projects/{project_id}", importer.make.root).status_code == 200
    importer.instance.work()
    if during:
        server.release()
        working.join(60)
        assert not working.is_alive()
    assert importer.jobs() == []
    assert not path.exists()
    assert "job failed" not in importer.instance.log.getvalue()[logged:]


def test_imports_can_be_disabled(importer: Importer, server: SlowServer) -> None:
    """With git removed from the import sources, the project is not created either."""
    root, name = importer.make.root, importer.make.name("off")
    sent = {"name": name, "import_url": f"{server.url}/remote.git"}
    before = importer.api.get("/application/settings", root).json()["import_sources"]
    importer.api.put("/application/settings", root, import_sources=["github"])
    try:
        assert importer.api.post("/projects", root, **sent).status_code == 403
        assert importer.api.get(f"/projects/root%2F{name}", root).status_code == 404
    finally:
        importer.api.put("/application/settings", root, import_sources=before)
    assert importer.api.post("/projects", root, **sent).status_code == 201
    importer.work()


def test_an_import_without_a_job_fails(importer: Importer, server: SlowServer) -> None:
    """Otherwise it would stay pending; an import with a job is not touched."""
    lost, waiting = (importer.create(f"{server.url}/remote.git") for _ in range(2))
    job = next(job for job in importer.jobs() if job.payload == f'{{"project_id":{lost}}}')
    importer.instance.app.database.write(lambda db: db.delete(jobs, job.id))
    importer.instance.app.database.write(fail_lost_imports)
    assert importer.status(lost)["import_status"] == "failed"
    assert importer.status(lost)["import_error"] == "The import was interrupted too often"
    assert importer.status(waiting)["import_status"] == "scheduled"
    importer.work()
    assert importer.status(waiting)["import_status"] == "finished"
