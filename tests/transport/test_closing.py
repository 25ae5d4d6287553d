"""Pushes whose commits name issues."""

from tests.client import Api, Make
from tests.conftest import House
from tests.making import make_project
from tests.transport.conftest import Tree, over_http


def test_a_push_closes_what_its_commits_say(house: House, api: Api, make: Make, tree: Tree) -> None:
    """The first push, a branch, and that branch merged: what lands on the default branch closes, once."""
    owner = make.user()
    project = make_project(make, owner)
    for title in ("one", "two", "three"):
        assert api.post(f"{project.url}/issues", owner, title=title).status_code == 201

    def states() -> list[str]:
        house.work()
        return [issue["state"] for issue in api.get(f"{project.url}/issues", owner, sort="asc").json()]

    address = f"{house.settings.base_url}/{project.path}/issues/2"
    tree.commit(message="Begin\n\nFixes #1")
    tree.git("push", "-q", over_http(house, project, owner), "master")
    assert states() == ["closed", "opened", "opened"]
    tree.git("checkout", "-q", "-b", "topic")
    tree.commit(content="more\n", message=f"Closes {address} and #3")
    tree.git("push", "-q", over_http(house, project, owner), "topic")
    assert states() == ["closed", "opened", "opened"]
    tree.git("push", "-q", over_http(house, project, owner), "topic:master")
    assert states() == ["closed", "closed", "closed"]

    notes = api.get(f"{project.url}/issues/3/notes", owner, sort="asc").json()
    assert [note["body"].rpartition(" ")[0] for note in notes] == ["mentioned in commit", "closed via commit"]
    # Who opens one again is not overruled by the same commit elsewhere, nor by its removal.
    assert api.put(f"{project.url}/issues/3", owner, state_event="reopen").status_code == 200
    tree.git("push", "-q", over_http(house, project, owner), "topic:again", ":topic")
    assert states() == ["closed", "closed", "opened"]
