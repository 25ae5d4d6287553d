"""Single files with content."""

from base64 import b64decode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.repository.sample_repository import (
    BINARY,
    HOSTILE_REFS,
    MODULE_ID,
    NAMES,
    TEXT,
    SampleRepository,
    as_shown,
    in_path,
    make_sample,
)
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import History, repository_of, run


@pytest.fixture(scope="module")
def sample(instance: Instance, make: Make) -> SampleRepository:
    return make_sample(instance, make)


def _file(api: Api, sample: SampleRepository, path: str, ref: str = "master") -> dict[str, Any]:
    answer = api.get(f"{sample.url}/files/{in_path(path)}", ref=ref)
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


def test_a_file_has_all_fields(api: Api, sample: SampleRepository) -> None:
    content = TEXT.replace("two", "2").encode()

    shown = _file(api, sample, "README.md")

    assert b64decode(shown.pop("content")) == content
    assert shown == {
        "file_name": "README.md",
        "file_path": "README.md",
        "size": len(content),
        "encoding": "base64",
        "content_sha256": sha256(content).hexdigest(),
        "ref": "master",
        "blob_id": run(sample.repository.path, "rev-parse", "master:README.md"),
        "commit_id": sample.tip,
        "last_commit_id": sample.commits[2],
        "execute_filemode": False,
    }


@pytest.mark.parametrize("name", NAMES)
def test_unusual_file_names(api: Api, sample: SampleRepository, name: str) -> None:
    shown = _file(api, sample, name)

    assert b64decode(shown["content"]) == f"This is {name!r}\n".encode()
    assert shown["file_path"] == as_shown(name)
    assert shown["file_name"] == as_shown(name).split("/")[-1]
    assert shown["last_commit_id"] == sample.commits[1]


def test_binary_files_are_returned_unchanged(api: Api, sample: SampleRepository) -> None:
    assert b64decode(_file(api, sample, "binary.bin")["content"]) == BINARY
    empty = _file(api, sample, "empty")
    assert (empty["size"], empty["content"]) == (0, "")
    link = _file(api, sample, "link")
    assert (b64decode(link["content"]), link["execute_filemode"]) == (b"README.md", False)
    assert _file(api, sample, "run.sh")["execute_filemode"] is True
    module = _file(api, sample, "module")
    assert (module["blob_id"], module["size"], module["content"]) == (MODULE_ID, 0, "")


def test_every_kind_of_ref(api: Api, sample: SampleRepository) -> None:
    first = sample.commits[1]
    for ref in ("v1", "v1-annotated", first, first[:8], first.upper(), "refs/tags/v1"):
        assert b64decode(_file(api, sample, "README.md", ref)["content"]) == TEXT.encode()
    assert _file(api, sample, "only.here", "feature/with/slash")["commit_id"] == sample.commits[4]
    assert _file(api, sample, "README.md", "HEAD")["commit_id"] == sample.tip


@pytest.mark.parametrize("path", ["nowhere", "deep", "README.md/x", "module/x", "deep//er", "x" * 4000, "%2F"])
def test_missing_files_are_not_found(api: Api, sample: SampleRepository, path: str) -> None:
    answer = api.get(f"{sample.url}/files/{in_path(path)}", ref="master")

    assert answer.status_code == 404
    assert answer.json() == {"message": "404 File Not Found"}


@pytest.mark.parametrize("path", ["..", "../x", "a/../b", "a/..", "x" * 5000])
@pytest.mark.parametrize("part", ["", "/raw", "/blame"])
def test_path_traversal_is_rejected(api: Api, sample: SampleRepository, path: str, part: str) -> None:
    """Attack: a path with dots addresses files outside the tree."""
    answer = api.get(f"{sample.url}/files/{in_path(path)}{part}", ref="master")

    assert answer.status_code == 400
    assert list(answer.json()["message"]) == ["file_path"]


@pytest.mark.parametrize("ref", HOSTILE_REFS)
@pytest.mark.parametrize("part", ["", "/raw", "/blame"])
def test_a_hostile_ref_is_not_found(api: Api, sample: SampleRepository, ref: str, part: str) -> None:
    """Attack: a ref that looks like an option makes git write a file."""
    answer = api.get(f"{sample.url}/files/README.md{part}", ref=ref)

    assert answer.status_code == 404
    assert answer.json() == {"message": "404 Commit Not Found"}
    assert not Path("/tmp/ingot-pwned").exists()


def test_the_ref_is_required(api: Api, sample: SampleRepository) -> None:
    for part in ("", "/raw", "/blame"):
        answer = api.get(f"{sample.url}/files/README.md{part}")
        assert answer.status_code == 400
        assert answer.json() == {"message": '400 (Bad request) "ref" not given'}


def test_head_returns_all_but_the_content(api: Api, sample: SampleRepository) -> None:
    shown = _file(api, sample, "README.md")

    for method in ("HEAD", "GET"):
        answer = api.request(method, f"{sample.url}/files/README.md?ref=master")
        assert answer.status_code == 200
        for name in shown.keys() - {"content"}:
            value = str(shown[name]).lower() if isinstance(shown[name], bool) else str(shown[name])
            assert answer.headers["x-gitlab-" + name.replace("_", "-")] == value
    assert api.request("HEAD", f"{sample.url}/files/README.md?ref=master").content == b""
    assert api.request("HEAD", f"{sample.url}/files/nowhere?ref=master").status_code == 404


def test_a_file_name_cannot_inject_a_header(api: Api, sample: SampleRepository) -> None:
    """Attack: a file name with a line break."""
    name = "line\r\nX-Evil: yes"
    for part in ("", "/raw"):
        answer = api.get(f"{sample.url}/files/{in_path(name)}{part}", ref="master")
        assert answer.status_code == 200
        assert "x-evil" not in answer.headers
        assert answer.headers["x-gitlab-file-path"] == "line%0D%0AX-Evil: yes"


def test_an_unchanged_file_is_not_sent_again(api: Api, sample: SampleRepository) -> None:
    path = f"{sample.url}/files/README.md?ref=master"
    tag = api.get(path).headers["etag"]

    assert api.request("GET", path, headers={"If-None-Match": tag}).status_code == 304
    assert api.request("GET", path, headers={"If-None-Match": '"other"'}).status_code == 200


def test_permission_to_read(api: Api, instance: Instance, make: Make) -> None:
    guest, reporter, stranger = make.user(), make.user(), make.user()
    members = {guest: Level.GUEST, reporter: Level.REPORTER}
    private = make_sample(instance, make, visibility="private", members=members)
    internal = make_sample(instance, make, visibility="internal")
    for part in ("", "/raw", "/blame"):
        path = f"{private.url}/files/README.md{part}?ref=master"
        statuses = [api.get(path, who).status_code for who in (None, stranger, guest, reporter, make.root)]
        assert statuses == [404, 404, 403, 200, 200]
        path = f"{internal.url}/files/README.md{part}?ref=master"
        assert [api.get(path, who).status_code for who in (None, stranger)] == [404, 200]


def test_a_token_with_repository_scope_reads_files(api: Api, instance: Instance, make: Make) -> None:
    private = make_sample(instance, make, visibility="private")
    narrow = make.root.with_token(make.token(make.root.id, "read_repository"))

    assert api.get(f"{private.url}/files/README.md", narrow, ref="master").status_code == 200
    assert api.get(f"{private.url}/tree", narrow).status_code == 403


def test_an_empty_repository_has_no_files(api: Api, make: Make) -> None:
    project = make_project(make, visibility="public")
    for ref in ("HEAD", "master"):
        answer = api.get(f"{project.url}/repository/files/README.md", ref=ref)
        assert (answer.status_code, answer.json()) == (404, {"message": "404 Commit Not Found"})


def test_a_large_file_is_complete(api: Api, instance: Instance, make: Make) -> None:
    content = bytes(range(251)) * 20_000  # 5 MB, with a period that is no multiple of chunk or Base64 sizes.
    project = make_project(make, visibility="public")
    history = History()
    name = 'large "content":"".bin'
    history.commit(files={name: content})
    history.into(repository_of(instance, project))
    path = f"{project.url}/repository/files/{in_path(name)}?ref=master"

    shown = api.get(path)

    assert shown.json()["size"] == len(content)
    assert b64decode(shown.json()["content"]) == content
    assert shown.json()["content_sha256"] == sha256(content).hexdigest()
    head = api.request("HEAD", path)
    assert head.headers["x-gitlab-content-sha256"] == sha256(content).hexdigest()
    assert head.headers["content-length"] == str(len(shown.content))


def test_the_last_commit_is_found_across_merges_and_long_histories(api: Api, instance: Instance, make: Make) -> None:
    project = make_project(make, visibility="public")
    history = History()
    begun = history.commit(files={"old": "1", "both": "1", "side": "1"})
    for number in range(100):
        history.commit(files={"busy": str(number)})
    tip = history.commit(files={"busy": "end"})
    side = history.commit("side", {"side": "2", "both": "side"}, parents=(begun,))
    merged = history.commit(parents=(tip, side), files={"side": "2", "both": "merged"})
    history.commit(files={"busy": "after"})
    repository = repository_of(instance, project)
    commits = history.into(repository)

    for path, mark in (("old", begun), ("side", side), ("both", merged)):
        answer = api.get(f"{project.url}/repository/files/{path}", ref="master").json()
        assert answer["last_commit_id"] == commits[mark]
        assert answer["last_commit_id"] == run(repository.path, "log", "-1", "--format=%H", "master", "--", path)
