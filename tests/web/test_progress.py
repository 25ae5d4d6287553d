"""Progress of long operations: forks, deletions and downloads."""

import shutil
from collections.abc import Callable

import httpx
import pytest
from sqlalchemy import bindparam, select, update

from ingot.core.jobs.admin import delete_job
from ingot.core.jobs.tables import jobs
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.forks.jobs import ForkJobs
from ingot.projects.forks.service import COPY_FORK, fail_lost_copies
from ingot.projects.projects.service import REMOVE_PROJECT
from ingot.projects.projects.tables import projects
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, by_path, make_group, make_project
from tests.git_history import History
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

PART = {"HX-Request": "true"}
_JOB = select(jobs.c.id).where(jobs.c.kind == bindparam("kind")).order_by(jobs.c.id.desc()).limit(1)
_KEY = select(projects.c.repository_key).where(projects.c.id == bindparam("project"))
_KILL_JOB = update(jobs).where(jobs.c.id == bindparam("job")).values(state="dead")


@pytest.fixture
def owner(browser: Browser, person: User) -> Browser:
    """Return a browser of the owner."""
    return browser.signed_in_as(person)


@pytest.fixture
def original(instance: Instance, make: Make) -> Project:
    """Return a project with a first commit."""
    project = make_project(make, visibility="public")
    history = History()
    history.commit(files={"README": "Hello from the original\n"})
    history.fill(instance, project)
    return project


def _fork(browser: Browser, project: Project, person: User) -> str:
    fields = {"namespace": person.username, "path": "copy", "name": "Copy"}
    answer = browser.submit(f"/{project.path}/-/forks/new", f"/{project.path}/-/forks", fields=fields)
    assert answer.headers["location"] == f"/{person.username}/copy"
    return str(answer.headers["location"])


def _status(api: Api, home: str, person: User) -> tuple[str, str | None]:
    state = api.get(f"{by_path('projects', home[1:])}/import", person).json()
    return state["import_status"], state["import_error"]


def test_a_fork_is_shown_until_its_copy_exists(
    owner: Browser, original: Project, person: User, api: Api, instance: Instance
) -> None:
    home = _fork(owner, original, person)
    page, part = owner.get(home).text, owner.get(f"{home}/-/import", headers=PART)
    assert ("Forking in progress" in page, "Push your first commit" in page, "Refresh" in page) == (True, False, True)
    assert ("every 2s" in part.text, "hx-refresh" in part.headers) == (True, False)
    assert _status(api, home, person) == ("scheduled", None)

    instance.work()

    assert owner.get(f"{home}/-/import", headers=PART).headers["hx-refresh"] == "true"
    assert "Hello from the original" in owner.get(home).text
    fork = api.get(by_path("projects", home[1:]), person, statistics=True).json()
    assert (fork["import_status"], fork["empty_repo"], fork["statistics"]["commit_count"]) == ("finished", False, 1)
    names = [rule["name"] for rule in api.get(f"/projects/{fork['id']}/protected_branches", person).json()]
    assert names == [fork["default_branch"]]


def test_a_fork_of_a_deleted_project_shows_an_error(
    owner: Browser, original: Project, person: User, api: Api, instance: Instance
) -> None:
    home = _fork(owner, original, person)
    key = instance.app.database.read(lambda db: db.value(_KEY, project=original.id))
    shutil.rmtree(RepositoryStore(instance.settings.data / "repositories").path_of(key))

    instance.work()

    assert _status(api, home, person) == ("failed", "The source project no longer exists")
    page = owner.get(home).text
    assert ("Forking failed" in page, "Push your first commit" in page) == (True, True)


@pytest.mark.parametrize("how", ["dropped", "lost", "deleted", "twice"])
def test_a_dead_or_cancelled_copy_ends(
    owner: Browser, original: Project, person: User, api: Api, instance: Instance, how: str
) -> None:
    home, database = _fork(owner, original, person), instance.app.database
    job = database.read(lambda db: db.value(_JOB, kind=COPY_FORK))
    fork = api.get(f"/users/{person.id}/projects", person).json()[0]["id"]
    if how == "deleted":
        api.delete(f"/projects/{fork}", person)
        instance.work()
        assert owner.get(home).status_code == 404
        return
    if how == "twice":
        instance.work()
        key = database.read(lambda db: db.value(_KEY, project=fork))
        ForkJobs(RepositoryStore(instance.settings.data / "repositories")).run(database, {"project_id": fork})
        assert database.read(lambda db: db.value(_KEY, project=fork)) == key
        return
    if how == "dropped":
        database.write(lambda db: delete_job(db, job))
    else:
        database.write(lambda db: db.run(_KILL_JOB, job=job))
        database.write(fail_lost_copies)
    status, reason = _status(api, home, person)
    assert status == "failed"
    assert reason in ("The copy was stopped by an administrator", "The copy was interrupted too often")


def _delete(browser: Browser, url: str, path: str) -> httpx.Response:
    sent = {"authenticity_token": browser.token(), "_method": "delete", "delete[confirm]": path}
    return browser.post(f"{url}/-/edit", data=sent)


def test_the_deletion_of_a_project_is_shown_until_it_ends(
    owner: Browser, open_browser: Callable[[], Browser], make: Make, person: User, instance: Instance
) -> None:
    project = make_project(make, person, path="leaves")
    there = _delete(owner, f"/{project.path}", project.path).headers["location"]

    assert "are being removed" in owner.get(there).text
    part = owner.get(there, headers=PART).text
    assert ("every 2s" in part, "<html" in part) == (True, False)
    other = open_browser().signed_in_as(make.user(password=PASSWORD))
    assert [other.get(there).status_code, owner.get(there[:-1] + "x").status_code] == [404, 404]
    assert open_browser().get(there).status_code == 302
    instance.work()
    gone = owner.get(there, headers=PART).text
    assert (f"{project.path} has been deleted" in gone, "every 2s" in gone) == (True, False)

    # Another project at the same path, deleted later, has its own page.
    again = make_project(make, person, path="leaves")
    _delete(owner, f"/{again.path}", again.path)
    instance.work()
    assert "has been deleted" in owner.get(there).text


def test_the_deletion_of_a_group_is_shown_until_it_ends(
    owner: Browser, make: Make, person: User, instance: Instance
) -> None:
    group = make_group(make, person)
    below = make_group(make, person, parent=group)
    made = [make_project(make, person, namespace_id=each.id) for each in (group, below)]
    bystander = make_group(make, person, path=f"{group.path}-2")
    make_project(make, person, namespace_id=bystander.id)

    there = _delete(owner, f"/groups/{group.path}", group.path).headers["location"]

    page = owner.get(there).text
    assert "0 of 2 projects deleted" in page
    assert [project.path in page for project in made] == [True, True]
    database = instance.app.database
    job = database.read(lambda db: db.value(_JOB, kind=REMOVE_PROJECT))
    database.write(lambda db: db.run(_KILL_JOB, job=job))
    instance.work()
    page = owner.get(there).text
    assert ("could not be removed" in page, 'value="1"' in page) == (True, True)
    database.write(lambda db: db.run(update(jobs).where(jobs.c.id == job).values(state="waiting")))
    instance.work()
    assert f"The group {group.path} has been deleted" in owner.get(there).text
    assert owner.get(f"/groups/{bystander.path}").status_code == 200


def test_a_download_sets_a_cookie_when_it_starts(browser: Browser, original: Project) -> None:
    address = f"/{original.path}/-/archive/master/x.zip"

    began = browser.get(f"{address}?began=4f7k").headers.get_list("set-cookie")
    assert began[0] == "_service_download=4f7k; Path=/; SameSite=Strict; Max-Age=60"
    for hostile in ("a;b", "a b", "%0d%0aX: y", "ä", "x" * 17, ""):
        assert "_service_download" not in browser.get(address, params={"began": hostile}).headers.get("set-cookie", "")
    assert 'data-download="Preparing download' in browser.get(f"/{original.path}").text
