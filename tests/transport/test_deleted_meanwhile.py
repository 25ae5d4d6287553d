"""Projects deleted between authorization and the start of git are not found."""

import shutil
from typing import Any, NoReturn

import pytest

from ingot.projects.projects.tables import projects
from ingot.transport import backend
from ingot.transport.git_process import GitProcess
from ingot.transport.targets import open_target_repository
from tests.client import Make
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import repository_of
from tests.transport.conftest import Tree, over_http


def _delete(instance: Instance, project: Project) -> None:
    shutil.rmtree(repository_of(instance, project).path)
    gone = {"namespace_id": None, "full_path_key": f"deleted//{project.id}"}
    instance.app.database.write(lambda db: db.update(projects, project.id, **gone))


@pytest.mark.parametrize("when", ["before git is started", "before the repository is opened"])
def test_a_project_deleted_during_a_fetch(
    instance: Instance, make: Make, tree: Tree, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    owner = make.user()
    project = make_project(make, owner)
    url = over_http(instance, project, owner)
    tree.commit()
    tree.git("push", "-q", url, "master")

    async def delete_first(*_: Any, **__: Any) -> NoReturn:
        _delete(instance, project)
        raise FileNotFoundError

    def delete_and_open(*args: Any) -> Any:
        _delete(instance, project)
        return open_target_repository(*args)

    if when == "before git is started":
        monkeypatch.setattr(GitProcess, "start", delete_first)
    else:
        monkeypatch.setattr(backend, "open_target_repository", delete_and_open)
    said = tree.git("ls-remote", url, fails=True)
    assert "remote: The project has been deleted." in said and "not found" in said
