"""Deleting files, one at a time."""

from concurrent.futures import ThreadPoolExecutor

from tests.api.repository.workshop import Workshop, message_of
from tests.client import Api, Make

SAID = {"branch": "dev", "commit_message": "Delete it"}


def test_a_file_is_deleted(api: Api, shop: Workshop) -> None:
    """It is gone, with the folders that held nothing else."""
    said = {**SAID, "author_name": "Eve", "author_email": "eve@example.org"}
    path = f"/projects/{shop.project.id}/repository/files/deep%2Fer%2Ffile"
    answer = api.delete(path, shop.developer, **said)
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"file_name": "file", "file_path": "deep/er/file", "branch": "dev"}
    assert "deep/er/file" not in shop.listed()
    assert "deep" not in shop.git("ls-tree", "--name-only", "dev").split()
    assert shop.git("log", "-1", "--format=%an|%s", "dev") == "Eve|Delete it"
    assert api.get(path, shop.developer, ref="dev").status_code == 404


def test_what_is_gone_already(api: Api, shop: Workshop) -> None:
    """A second time there is nothing to do, and no commit."""
    url = f"/projects/{shop.project.id}/repository/files"
    assert api.delete(f"{url}/lines", shop.developer, **SAID).status_code == 200
    tip = shop.tip()
    for path in ("lines", "never-there", "link%2Fx"):
        again = api.delete(f"{url}/{path}", shop.developer, **SAID)
        assert (again.status_code, again.content) == (200, b"")
    assert shop.tip() == tip


def test_folders_are_no_files(api: Api, shop: Workshop) -> None:
    """Whoever names one is told so, instead of believing that it is gone."""
    for folder in ("deep", "deep%2Fer"):
        refused = api.delete(f"/projects/{shop.project.id}/repository/files/{folder}", shop.developer, **SAID)
        assert message_of(refused) == "A file with this name doesn't exist"
    assert shop.tip() == shop.first


def test_where_there_is_no_branch(api: Api, shop: Workshop, empty_shop: Workshop) -> None:
    """Nothing can be gone from there, be it an empty repository."""
    path = f"/projects/{empty_shop.project.id}/repository/files/lines"
    for branch in ("master", "dev"):
        assert message_of(api.delete(path, empty_shop.master, branch=branch, commit_message="x"))
    missing = f"/projects/{shop.project.id}/repository/files/never-there"
    assert "on a branch" in message_of(api.delete(missing, shop.developer, **{**SAID, "branch": "nope"}))
    assert empty_shop.git("for-each-ref") == ""


def test_links_and_submodules(api: Api, shop: Workshop) -> None:
    """They are deleted as what they are."""
    url = f"/projects/{shop.project.id}/repository/files"
    assert api.delete(f"{url}/link", shop.developer, **SAID).status_code == 200
    assert api.delete(f"{url}/module", shop.developer, **SAID).status_code == 200
    assert {"link", "module"}.isdisjoint(shop.listed())


def test_what_is_wrong(api: Api, shop: Workshop) -> None:
    """Missing parameters, wrong paths, branches that are not there, and an older state than there is."""
    url = f"/projects/{shop.project.id}/repository/files"
    assert message_of(api.delete(f"{url}/lines", shop.developer)) == '400 (Bad request) "branch" not given'
    missing = api.delete(f"{url}/lines", shop.developer, branch="dev")
    assert message_of(missing) == '400 (Bad request) "commit_message" not given'
    assert "'..'" in message_of(api.delete(f"{url}/..%2FHEAD", shop.developer, **SAID))
    assert "on a branch" in message_of(api.delete(f"{url}/lines", shop.developer, **{**SAID, "branch": "nope"}))
    stale = api.delete(f"{url}/lines", shop.developer, **SAID, last_commit_id="0" * 40)
    assert "has changed since" in message_of(stale)
    assert shop.tip() == shop.first
    assert shop.git("cat-file", "-e", "HEAD") == ""


def test_who_may(api: Api, make: Make, shop: Workshop) -> None:
    """As with any push; what is gone already is no way to learn about a project."""
    for path in (f"/projects/{shop.project.id}/repository/files/lines", f"{shop.project.url}/repository/files/nope"):
        assert api.delete(path, None, **SAID).status_code == 401
        assert api.delete(path, shop.reporter, **SAID).status_code == 403
        assert api.delete(path, shop.developer, **{**SAID, "branch": "master"}).status_code == 403
    api.post(f"/projects/{shop.project.id}/archive", make.root)
    assert api.delete(f"{shop.project.url}/repository/files/lines", shop.master, **SAID).status_code == 403
    api.post(f"/projects/{shop.project.id}/unarchive", make.root)


def test_at_once(api: Api, shop: Workshop) -> None:
    """Of many who delete the same file, one does, and the others find it gone."""
    path = f"/projects/{shop.project.id}/repository/files/lines"
    with ThreadPoolExecutor(8) as callers:
        answers = list(callers.map(lambda _: api.delete(path, shop.developer, **SAID), range(8)))
    assert {answer.status_code for answer in answers} == {200}
    assert sum(1 for answer in answers if answer.content) == 1
    assert shop.git("rev-list", "--count", f"{shop.first}..dev") == "1"
