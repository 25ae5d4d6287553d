"""Deletion of projects: hidden for all when the call returns, with files removed soon after."""

import pytest

from ingot.core.access.levels import Level
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.tables import projects, stars
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import changed_settings, ids, make_group, make_project, share

CALLERS = [
    ("nobody", "public", 401),
    ("stranger", "private", 404),
    ("stranger", "public", 403),
    ("master", "private", 403),
    ("owner", "private", 200),
    ("root", "private", 200),
]


@pytest.mark.parametrize(("who", "visibility", "status"), CALLERS)
def test_owners_delete(api: Api, make: Make, who: str, visibility: str, status: int) -> None:
    owner, caller = make.user(), make.user()
    project = make_project(make, owner, members={caller: 40 if who == "master" else 0}, visibility=visibility)
    person = {"nobody": None, "owner": owner, "root": make.root}.get(who, caller)

    assert api.delete(project.url, person).status_code == status
    assert api.get(project.url, make.root).status_code == (404 if status == 200 else 200)


def test_owners_of_the_group_delete(api: Api, make: Make) -> None:
    owner, master = make.user(), make.user()
    top = make_group(make, owner)
    project = make_project(make, group=make_group(make, parent=top), members={master: Level.MASTER})

    assert api.delete(project.url, master).status_code == 403
    assert api.delete(project.url, owner).status_code == 200


def test_a_deleted_project_is_hidden_everywhere_and_frees_its_path(api: Api, make: Make) -> None:
    owner, member = make.user(), make.user()
    group = make_group(make, members={member: Level.GUEST}, visibility="public")
    project = make_project(make, owner, members={member: Level.DEVELOPER}, visibility="public", name="Gone")
    share(make, project, group, Level.GUEST)
    api.post(f"{project.url}/star", member)
    fork = api.post(f"{project.url}/fork", member).json()

    assert api.delete(project.url, owner).content == b""

    for caller in (owner, member, make.root):
        assert api.get(project.url, caller).status_code == 404
        assert api.get(project.url_by_path, caller).status_code == 404
        assert project.id not in ids(api.get("/projects", caller, search="Gone"))
        assert api.delete(project.url, caller).status_code == 404
    assert ids(api.get(f"/users/{member.id}/starred_projects", member)) == []
    assert ids(api.get(f"{group.url}/projects/shared", member)) == []
    assert "forked_from_project" not in api.get(f"/projects/{fork['id']}", member).json()
    again = make_project(make, owner, name="Gone")
    assert again.id != project.id
    assert again.path == project.path


def test_a_job_removes_rows_and_files(api: Api, instance: Instance, make: Make) -> None:
    project = make_project(make)
    key = _column(make, project.id, "repository_key")
    store = RepositoryStore(instance.settings.data / "repositories")
    api.post(f"{project.url}/star", make.root)
    assert store.exists(key)

    api.delete(project.url, make.root)
    instance.work()

    assert not store.exists(key)
    assert _column(make, project.id, "id") is None
    assert make.database.read(lambda db: db.value(stars.select().where(stars.c.project_id == project.id))) is None


def _column(make: Make, project_id: int, name: str) -> str:
    from sqlalchemy import select

    statement = select(projects.c[name]).where(projects.c.id == project_id)
    value: str = make.database.read(lambda db: db.value(statement))
    return value


def test_no_path_prevents_a_deletion(api: Api, make: Make) -> None:
    """Including a path that looks like the name given to deleted projects."""
    project = make_project(make)
    namesake = make.user(username=f"deleted-{make.name('x')}")
    make_project(make, namesake, name=str(project.id))

    assert api.delete(project.url, make.root).status_code == 200


def test_a_deleted_fork_is_no_longer_counted(api: Api, make: Make) -> None:
    user, project = make.user(), make_project(make, visibility="public")
    fork = api.post(f"{project.url}/fork", user).json()
    assert api.get(project.url).json()["forks_count"] == 1

    api.delete(f"/projects/{fork['id']}", user)

    assert api.get(project.url).json()["forks_count"] == 0


def test_projects_created_for_others_stay(api: Api, make: Make) -> None:
    creator, heir = make.user(), make.user()
    group = make_group(make, heir, members={creator: Level.MASTER})
    kept, own = make_project(make, creator, group=group), make_project(make, creator)
    starred = make_project(make, visibility="public")
    api.post(f"{starred.url}/star", creator)

    assert api.delete(f"/users/{creator.id}", make.root).status_code == 200

    ghost = api.get("/users", make.root, username="ghost").json()[0]["id"]
    assert api.get(kept.url, heir).json()["creator_id"] == ghost
    assert api.get(own.url, make.root).status_code == 404
    assert api.get(starred.url).json()["star_count"] == 0


def test_only_administrators_delete_if_the_instance_protects_projects(api: Api, make: Make) -> None:
    owner = make.user()
    group = make_group(make, owner)
    project, other = make_project(make, owner, group=group), make_project(make, owner)
    with changed_settings(make, default_project_deletion_protection=True):
        for url in (project.url, group.url):
            assert api.delete(url, owner).status_code == 403
            assert api.get(url, owner).status_code == 200
        assert api.delete(project.url, make.root).is_success
    assert api.delete(other.url, owner).is_success
    assert api.delete(group.url, owner).is_success
