"""One rule for pushing: what the API and the pages show as permitted is what the server accepts."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import update

from ingot.projects.projects.tables import projects
from tests.api.merge_requests.factories import commit, make_merge_request
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.web.browser import Browser
from tests.web.merge_requests.scene import Scene


class _Branches:
    """A project with two merge requests: one with conflicts and one that is behind its target."""

    def __init__(self, make: Make, scene: Scene) -> None:
        self.project, self.branch = scene.project, make.name("clash")
        commit(make, scene.project, self.branch, {self.branch: "one\n"}, scene.developer, start="master")
        sent = {"source_branch": self.branch, "target_branch": "master", "title": "Clash"}
        self.clash = make.api.post(f"{scene.project.url}/merge_requests", scene.developer, **sent).json()
        self.behind = make_merge_request(make, scene.project, scene.developer, title="Behind")
        commit(make, scene.project, "master", {self.branch: "two\n"}, scene.owner)


@pytest.fixture
def branches(make: Make, scene: Scene) -> Iterator[_Branches]:
    """Return the merge requests; afterwards, the project is as before."""
    found = _Branches(make, scene)
    yield found
    for request in (found.clash, found.behind):
        make.api.delete(f"{scene.project.url}/protected_branches/{request['source_branch']}", scene.owner)


def _write(api: Api, branches: _Branches, branch: str, person: User) -> int:
    action = {"action": "create", "file_path": f"of-{person.username}", "content": "x"}
    sent = {"branch": branch, "commit_message": "Add", "actions": [action]}
    return api.post(f"{branches.project.url}/repository/commits", person, **sent).status_code


@pytest.mark.parametrize(
    ("state", "may_push", "may_rebase"),
    [("open", True, True), ("protected", False, False), ("unforced", True, False), ("importing", False, False)],
)
def test_pages_and_branches_agree_with_accepted_pushes(
    api: Api,
    instance: Instance,
    scene: Scene,
    browser: Browser,
    branches: _Branches,
    state: str,
    may_push: bool,
    may_rebase: bool,
) -> None:
    """Protected branches refuse a rebase, which replaces commits, also where they accept new ones."""
    url = branches.project.url
    for request in (branches.clash, branches.behind):
        if state in ("protected", "unforced"):
            level = 40 if state == "protected" else 30
            rule: dict[str, Any] = {"name": request["source_branch"], "push_access_level": level}
            assert api.post(f"{url}/protected_branches", scene.owner, **rule).status_code == 201
    _set_import_status(instance, branches, "started" if state == "importing" else "none")
    try:
        shown = api.get(f"{url}/repository/branches/{branches.branch}", scene.developer).json()
        assert shown["can_push"] is may_push
        page = scene.page(branches.clash)
        assert (f"{page}/conflicts" in browser.get(page).text) is may_push
        assert (browser.get(f"{page}/conflicts").status_code == 200) is may_push
        page = scene.page(branches.behind)
        assert (f"{page}/rebase" in browser.get(page).text) is may_rebase
        assert (_write(api, branches, branches.branch, scene.developer) == 201) is may_push
        rebased = api.put(f"{url}/merge_requests/{branches.behind['iid']}/rebase", scene.developer)
        assert (rebased.status_code == 202) is may_rebase
    finally:
        _set_import_status(instance, branches, "none")


def _set_import_status(instance: Instance, branches: _Branches, status: str) -> None:
    row = update(projects).where(projects.c.id == branches.project.id).values(import_status=status)
    instance.app.database.write(lambda db: db.run(row))
