"""Number of clones and fetches of a project by day."""

from typing import Any

import pytest

from ingot.transport import fetch_counter
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, day, make_project
from tests.roles import UsersByRole, project_with
from tests.server.process import until
from tests.transport.conftest import Tree, over_http


@pytest.fixture(autouse=True)
def _written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_counter, "FLUSH_DELAY_SECONDS", 0.0)


def _fetches(api: Api, make: Make, project: Project, total: int) -> dict[str, Any]:
    """Return the numbers as soon as they have a total."""

    def read() -> dict[str, Any] | None:
        fetches: dict[str, Any] = api.get(f"{project.url}/statistics", make.root).json()["fetches"]
        assert fetches["total"] <= total
        return fetches if fetches["total"] == total else None

    return until(f"{total} fetches", read)


@pytest.mark.parametrize("version", ["0", "2"])
def test_each_clone_and_fetch_counts_once(instance: Instance, api: Api, make: Make, tree: Tree, version: str) -> None:
    """Pushes, lists of refs, fetches without new objects and clones of the wiki do not count."""
    owner = make.user()
    project = make_project(make, owner, wiki_enabled=True)
    url, protocol = over_http(instance, project, owner), ("-c", f"protocol.version={version}")
    tree.commit()
    tree.git("push", "-q", url, "master")
    assert api.get(f"{project.url}/statistics", owner).json() == {"fetches": {"total": 0, "days": []}}
    with day(instance, "2026-03-01"):
        tree.git(*protocol, "clone", "-q", url, "first")
        _fetches(api, make, project, 1)
    with day(instance, "2026-03-02"):
        tree.git("ls-remote", url)
        tree.git("-C", "first", *protocol, "fetch", "-q")
        wiki = url.replace(".git", ".wiki.git")
        assert api.post(f"{project.url}/wikis", owner, title="Home", content="x").status_code == 201
        tree.git(*protocol, "clone", "-q", wiki, "wiki")
        for number in range(40):
            tree.commit(content=f"{number}\n")
        tree.git("push", "-q", url, "master")
        tree.git("-C", "first", *protocol, "fetch", "-q")
        tree.git(*protocol, "clone", "-q", url, "second")
        days = [{"count": 2, "date": "2026-03-02"}, {"count": 1, "date": "2026-03-01"}]
        assert _fetches(api, make, project, 3)["days"] == days
    with day(instance, "2026-03-31"):
        assert _fetches(api, make, project, 2)["days"] == days[:1]
        tree.git(*protocol, "clone", "-q", url, "third")
        assert _fetches(api, make, project, 3)["days"] == [{"count": 1, "date": "2026-03-31"}, days[0]]
    with day(instance, "2026-03-02"):
        assert _fetches(api, make, project, 3)["days"][-1] == days[0], "older days are deleted"


def test_reporters_see_statistics(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles, visibility="public")
    for role, status in (("reporter", 200), ("guest", 403), ("stranger", 403), ("nobody", 401)):
        assert api.get(f"{project.url}/statistics", roles[role]).status_code == status, role
    hidden = make_project(make, roles.owner)
    assert api.get(f"{hidden.url}/statistics", roles.stranger).status_code == 404
