"""Deletion of single files."""

from concurrent.futures import ThreadPoolExecutor

from tests.api.repository.writable_repository import WritableRepository, message_of
from tests.client import Api, Make

PARAMS = {"branch": "dev", "commit_message": "Delete it"}


def test_delete_a_file(api: Api, writable: WritableRepository) -> None:
    """Directories without other files are removed too."""
    said = {**PARAMS, "author_name": "Eve", "author_email": "eve@example.org"}
    path = f"/projects/{writable.project.id}/repository/files/deep%2Fer%2Ffile"
    answer = api.delete(path, writable.developer, **said)
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"file_name": "file", "file_path": "deep/er/file", "branch": "dev"}
    assert "deep/er/file" not in writable.listed()
    assert "deep" not in writable.git("ls-tree", "--name-only", "dev").split()
    assert writable.git("log", "-1", "--format=%an|%s", "dev") == "Eve|Delete it"
    assert api.get(path, writable.developer, ref="dev").status_code == 404


def test_a_missing_file(api: Api, writable: WritableRepository) -> None:
    """The call succeeds without a commit."""
    url = f"/projects/{writable.project.id}/repository/files"
    assert api.delete(f"{url}/lines", writable.developer, **PARAMS).status_code == 200
    tip = writable.tip()
    for path in ("lines", "never-there", "link%2Fx"):
        again = api.delete(f"{url}/{path}", writable.developer, **PARAMS)
        assert (again.status_code, again.content) == (200, b"")
    assert writable.tip() == tip


def test_directories_are_rejected(api: Api, writable: WritableRepository) -> None:
    """With an error, so that the caller does not assume success."""
    for folder in ("deep", "deep%2Fer"):
        refused = api.delete(f"/projects/{writable.project.id}/repository/files/{folder}", writable.developer, **PARAMS)
        assert message_of(refused) == "A file with this name doesn't exist"
    assert writable.tip() == writable.first


def test_missing_branch(api: Api, writable: WritableRepository, empty_writable: WritableRepository) -> None:
    """The call succeeds, also in an empty repository."""
    path = f"/projects/{empty_writable.project.id}/repository/files/lines"
    for branch in ("master", "dev"):
        assert message_of(api.delete(path, empty_writable.master, branch=branch, commit_message="x"))
    missing = f"/projects/{writable.project.id}/repository/files/never-there"
    assert "on a branch" in message_of(api.delete(missing, writable.developer, **{**PARAMS, "branch": "nope"}))
    assert empty_writable.git("for-each-ref") == ""


def test_links_and_submodules(api: Api, writable: WritableRepository) -> None:
    """They are deleted as entries of the tree."""
    url = f"/projects/{writable.project.id}/repository/files"
    assert api.delete(f"{url}/link", writable.developer, **PARAMS).status_code == 200
    assert api.delete(f"{url}/module", writable.developer, **PARAMS).status_code == 200
    assert {"link", "module"}.isdisjoint(writable.listed())


def test_invalid_requests_are_rejected(api: Api, writable: WritableRepository) -> None:
    """Missing parameters, invalid paths, missing branches, and an outdated last_commit_id."""
    url = f"/projects/{writable.project.id}/repository/files"
    assert message_of(api.delete(f"{url}/lines", writable.developer)) == '400 (Bad request) "branch" not given'
    missing = api.delete(f"{url}/lines", writable.developer, branch="dev")
    assert message_of(missing) == '400 (Bad request) "commit_message" not given'
    assert "'..'" in message_of(api.delete(f"{url}/..%2FHEAD", writable.developer, **PARAMS))
    assert "on a branch" in message_of(api.delete(f"{url}/lines", writable.developer, **{**PARAMS, "branch": "nope"}))
    stale = api.delete(f"{url}/lines", writable.developer, **PARAMS, last_commit_id="0" * 40)
    assert "has changed since" in message_of(stale)
    assert writable.tip() == writable.first
    assert writable.git("cat-file", "-e", "HEAD") == ""


def test_permissions(api: Api, make: Make, writable: WritableRepository) -> None:
    """As for a push; a missing file does not reveal the existence of a project."""
    for path in (
        f"/projects/{writable.project.id}/repository/files/lines",
        f"{writable.project.url}/repository/files/nope",
    ):
        assert api.delete(path, None, **PARAMS).status_code == 401
        assert api.delete(path, writable.reporter, **PARAMS).status_code == 403
        assert api.delete(path, writable.developer, **{**PARAMS, "branch": "master"}).status_code == 403
    api.post(f"/projects/{writable.project.id}/archive", make.root)
    assert api.delete(f"{writable.project.url}/repository/files/lines", writable.master, **PARAMS).status_code == 403
    api.post(f"/projects/{writable.project.id}/unarchive", make.root)


def test_concurrent_deletion(api: Api, writable: WritableRepository) -> None:
    """One call deletes the file, the others find it missing."""
    path = f"/projects/{writable.project.id}/repository/files/lines"
    with ThreadPoolExecutor(8) as callers:
        answers = list(callers.map(lambda _: api.delete(path, writable.developer, **PARAMS), range(8)))
    assert {answer.status_code for answer in answers} == {200}
    assert sum(1 for answer in answers if answer.content) == 1
    assert writable.git("rev-list", "--count", f"{writable.first}..dev") == "1"
