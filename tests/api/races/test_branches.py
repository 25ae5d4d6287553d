"""Concurrent selection and deletion of the default branch, on several servers."""

import pytest

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.tables import projects
from ingot.repositories.ref_changes.apply import change_refs
from ingot.repositories.ref_changes.service import delete_intent, open_intent
from tests.api.races.concurrent_servers import ConcurrentCall, ConcurrentServers
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import repository_of
from tests.transport.wire import ZERO


@pytest.fixture
def project(api: Api, make: Make) -> Project:
    """Return a project with one commit on master."""
    return make_project(make, initialize_with_readme=True)


def _branch(api: Api, make: Make, project: Project, name: str) -> str:
    made = api.post(f"{project.url}/repository/branches", make.root, branch=name, ref="master")
    assert made.status_code == 201, made.text
    tip: str = made.json()["commit"]["id"]
    return tip


def test_the_default_branch_always_exists(api: Api, make: Make, servers: ConcurrentServers, project: Project) -> None:
    """One of the two calls succeeds, and HEAD points to an existing branch."""
    for turn in range(4):
        name = f"topic-{turn}"
        _branch(api, make, project, name)
        choose = ConcurrentCall("PUT", project.url, make.root, {"default_branch": name})
        delete = ConcurrentCall("DELETE", f"{project.url}/repository/branches/{name}", make.root)
        assert set(servers.race(choose, delete)) <= {200, 400, 403}
        branch = api.get(project.url, make.root).json()["default_branch"]
        shown = api.get(f"{project.url}/repository/branches/{branch}", make.root)
        assert shown.status_code == 200, (turn, branch)
        assert api.put(project.url, make.root, default_branch="master").status_code == 200


def test_a_branch_that_became_the_default_is_not_deleted(
    instance: Instance, api: Api, make: Make, project: Project
) -> None:
    """It was selected between the check and the deletion."""
    tip = _branch(api, make, project, "topic")
    database, repository = instance.app.database, repository_of(instance, project)
    row = database.read(lambda db: existing_project(db, project.id))
    root = Actor(user_id=1, username="root", name="Administrator", admin=True)

    def select(db: Connection) -> None:
        db.update(projects, project.id, default_branch="topic")

    update = RefUpdate("refs/heads/topic", tip, ZERO)
    with pytest.raises(Denied, match="default branch"):
        change_refs(database, repository, root, row, [update], in_intent_transaction=select)
    assert repository.tip("refs/heads/topic") == tip


def test_a_branch_being_deleted_does_not_become_the_default(
    instance: Instance, api: Api, make: Make, project: Project
) -> None:
    tip = _branch(api, make, project, "topic")
    update = RefUpdate("refs/heads/topic", tip, ZERO)
    intent = instance.app.database.write(lambda db: open_intent(db, project.id, None, "http", [update]))
    refused = api.put(project.url, make.root, default_branch="topic")
    assert (refused.status_code, refused.json()) == (400, {"message": {"default_branch": ["does not exist"]}})
    instance.app.database.write(lambda db: delete_intent(db, intent.key))
    assert api.put(project.url, make.root, default_branch="topic").status_code == 200
