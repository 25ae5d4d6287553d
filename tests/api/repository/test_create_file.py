"""Creation of single files."""

import base64
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.api.repository.writable_repository import WritableRepository, message_of
from tests.client import Api, Make
from tests.git.conftest import files_in

PARAMS = {"branch": "dev", "content": "x\n", "commit_message": "Add it"}


def test_create_a_file(api: Api, writable: WritableRepository) -> None:
    """It is readable at once, in a commit of the caller."""
    answer = api.post(
        f"/projects/{writable.project.id}/repository/files/new%2Ff%C3%BC%2Etxt", writable.developer, **PARAMS
    )
    assert answer.status_code == 201, answer.text
    assert answer.json() == {"file_name": "fü.txt", "file_path": "new/fü.txt", "branch": "dev"}
    assert writable.content("new/fü.txt") == b"x\n"
    assert writable.git("log", "-1", "--format=%an|%ae|%s|%P", "dev") == (
        f"{writable.developer.username}|{writable.developer.email}|Add it|{writable.first}"
    )
    read = api.get(
        f"/projects/{writable.project.id}/repository/files/new%2Ff%C3%BC%2Etxt", writable.developer, ref="dev"
    ).json()
    assert (base64.b64decode(read["content"]), read["last_commit_id"]) == (b"x\n", writable.tip())


def test_parameters_in_the_query(api: Api, writable: WritableRepository) -> None:
    """Accepted like those in the body."""
    answer = api.request(
        "POST", f"/projects/{writable.project.id}/repository/files/q", writable.developer, params=PARAMS
    )
    assert answer.status_code == 201, answer.text


def test_binary_content_author_and_mode(api: Api, writable: WritableRepository) -> None:
    """Base64 content, a custom author, and an executable file."""
    content = base64.b64encode(bytes(range(256))).decode()
    said = {**PARAMS, "content": content, "encoding": "base64", "author_name": "Eve", "author_email": "eve@example.org"}
    path = f"/projects/{writable.project.id}/repository/files/bin"
    assert api.post(path, writable.developer, **said, execute_filemode=True).status_code == 201
    assert writable.content("bin") == bytes(range(256))
    assert writable.listed()["bin"] == "100755"
    assert (
        writable.git("log", "-1", "--format=%an|%ae|%cn", "dev") == f"Eve|eve@example.org|{writable.developer.username}"
    )
    # Decoded as leniently as GitLab does: without padding, with line breaks and foreign characters.
    for number, text in enumerate(("aGVsbG8", "aGVs\nbG8=\n", "a-G_V%sbG8=", "aGVsbG8==="), 3):
        lenient = {**PARAMS, "content": text, "encoding": "base64"}
        assert api.post(f"{path}{number}", writable.developer, **lenient).status_code == 201
        assert writable.content(f"bin{number}") == b"hello"
    odd = {**PARAMS, "encoding": "rot13"}
    assert message_of(api.post(f"{path}2", writable.developer, **odd)) == {"encoding": ["is invalid"]}


def test_text_with_a_null_byte(api: Api, writable: WritableRepository) -> None:
    """Allowed in file content only."""
    url = f"/projects/{writable.project.id}/repository/files"
    assert api.post(f"{url}/zero", writable.developer, **{**PARAMS, "content": "a\0b"}).status_code == 201
    assert writable.content("zero") == b"a\0b"
    assert api.put(f"{url}/zero", writable.developer, **{**PARAMS, "content": "\0"}).status_code == 200
    assert writable.content("zero") == b"\0"
    made = writable.commit({"action": "create", "file_path": "zeros", "content": "\0\0"})
    assert made.status_code == 201, made.text
    assert writable.content("zeros") == b"\0\0"
    assert api.post(f"{url}/none", writable.developer, **{**PARAMS, "content": ""}).status_code == 201
    for field in ("branch", "commit_message", "author_name"):
        refused = api.post(f"{url}/x", writable.developer, **{**PARAMS, field: "a\0b"})
        assert message_of(refused) == {field: ["is invalid"]}
    for odd in ({"a": 1}, ["x"]):
        refused = api.post(f"{url}/x", writable.developer, **{**PARAMS, "content": odd})
        assert message_of(refused) == {"content": ["is invalid"]}


def test_missing_parameters(api: Api, writable: WritableRepository) -> None:
    """The first missing one is reported."""
    path = f"/projects/{writable.project.id}/repository/files/x"
    for missing, said in (("branch", {}), ("content", {"branch": "dev"}), ("commit_message", {**PARAMS, "x": 1})):
        sent = {name: value for name, value in said.items() if name != "commit_message"}
        assert message_of(api.post(path, writable.developer, **sent)) == f'400 (Bad request) "{missing}" not given'


def test_an_existing_path_is_rejected(api: Api, writable: WritableRepository) -> None:
    """A file or a directory."""
    url = f"/projects/{writable.project.id}/repository/files"
    taken = message_of(api.post(f"{url}/README.md", writable.developer, **PARAMS))
    assert taken == "A file with this name already exists"
    folder = message_of(api.post(f"{url}/deep%2Fer", writable.developer, **PARAMS))
    assert folder == "A directory with this name already exists"
    assert writable.tip() == writable.first


HOSTILE_PATHS = [
    "..%2f..%2fhooks%2fpost-receive",
    "%2Fetc%2Fpasswd",
    "a%2F..%2F..%2Fx",
    ".git%2Fconfig",
    ".GIT%2Fconfig",
    "a%2Fgit~1%2Fconfig",
    "a%2F.g%E2%80%8Cit%2Fx",
    "a%2F%2Fb",
    "a%2F",
    ".git%20",
    "x" * 300,
]


@pytest.mark.parametrize("path", HOSTILE_PATHS)
def test_hostile_paths_are_rejected(api: Api, writable: WritableRepository, path: str) -> None:
    """Attack: write to the repository's hooks, or to files that a checkout interprets."""
    before = files_in(writable.repository.path)
    message_of(api.post(f"/projects/{writable.project.id}/repository/files/{path}", writable.developer, **PARAMS))
    assert files_in(writable.repository.path) == before


def test_writing_through_a_symlink(api: Api, writable: WritableRepository) -> None:
    """Attack: push a symlink to /etc, then write below it."""
    before = files_in(writable.repository.path)
    refused = api.post(
        f"/projects/{writable.project.id}/repository/files/link%2Fingot-was-here", writable.developer, **PARAMS
    )
    assert "A parent of the path is a file" in message_of(refused)
    assert files_in(writable.repository.path) == before


def test_first_files_and_new_branches(api: Api, empty_writable: WritableRepository) -> None:
    """The first file of an empty repository creates the default branch; others start at the named branch."""
    writable = empty_writable
    url = f"/projects/{writable.project.id}/repository/files"
    assert api.post(f"{url}/README.md", writable.master, **{**PARAMS, "branch": "main"}).status_code == 201
    assert api.get(f"/projects/{writable.project.id}", writable.master).json()["default_branch"] == "main"
    nowhere = message_of(api.post(f"{url}/x", writable.developer, **{**PARAMS, "branch": "topic"}))
    assert nowhere == "You can only create or edit files when you are on a branch"
    begun = api.post(f"{url}/x", writable.developer, **{**PARAMS, "branch": "topic"}, start_branch="main")
    assert begun.status_code == 201, begun.text
    assert set(writable.listed("topic")) == {"README.md", "x"}
    again = api.post(f"{url}/y", writable.developer, **{**PARAMS, "branch": "topic"}, start_branch="main")
    assert "already exists" in message_of(again)


def test_permissions(api: Api, make: Make, writable: WritableRepository) -> None:
    """As for a push."""
    url = f"/projects/{writable.project.id}/repository/files"
    assert api.post(f"{url}/x", None, **PARAMS).status_code == 401
    assert api.post(f"{url}/x", writable.reporter, **PARAMS).status_code == 403
    assert api.post(f"{url}/x", writable.developer, **{**PARAMS, "branch": "master"}).status_code == 403
    assert api.post(f"{url}/x", writable.master, **{**PARAMS, "branch": "master"}).status_code == 201
    api.post(f"/projects/{writable.project.id}/archive", make.root)
    assert api.post(f"{url}/x", writable.master, **PARAMS).status_code == 403
    api.post(f"/projects/{writable.project.id}/unarchive", make.root)
    assert api.post(f"{url}/x", writable.developer, **PARAMS).status_code == 201


def test_concurrent_creation_of_one_file(api: Api, writable: WritableRepository) -> None:
    """One call succeeds."""
    path = f"/projects/{writable.project.id}/repository/files/same"
    with ThreadPoolExecutor(10) as callers:
        answers = list(callers.map(lambda _: api.post(path, writable.developer, **PARAMS), range(10)))
    assert sorted(answer.status_code for answer in answers) == [201] + [400] * 9
    assert writable.git("rev-list", "--count", f"{writable.first}..dev") == "1"
