"""Trees of a repository."""

from pathlib import Path
from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.repository.sample_repository import (
    FILES,
    HOSTILE_REFS,
    MODULE_ID,
    SampleRepository,
    as_shown,
    make_sample,
)
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project, statements_of
from tests.git_history import History, repository_of, run


@pytest.fixture(scope="module")
def sample(instance: Instance, make: Make) -> SampleRepository:
    return make_sample(instance, make)


def _tree(api: Api, sample: SampleRepository, **params: Any) -> list[dict[str, Any]]:
    answer = api.get(f"{sample.url}/tree", **{"per_page": 100, **params})
    assert answer.status_code == 200, answer.text
    entries: list[dict[str, Any]] = answer.json()
    return entries


def _listed_by_git(sample: SampleRepository, *options: str) -> list[tuple[str, str, str, str]]:
    """Return the tree listed by git, in the order of the API: mode, type, id and path."""
    said = run(sample.repository.path, "ls-tree", "-z", *options, "master")
    rows = [line.split("\t", 1) for line in said.split("\0") if line]
    entries = [(*row[0].split(), row[1]) for row in rows]
    return [entry for kind in ("tree", "blob", "commit") for entry in entries if entry[1] == kind]  # type: ignore[misc]


def _rows(entries: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(entry["mode"], entry["type"], entry["id"]) for entry in entries]


def test_directories_are_listed_first(api: Api, sample: SampleRepository) -> None:
    entries = _tree(api, sample)

    assert _rows(entries) == [row[:3] for row in _listed_by_git(sample)]
    by_path = {entry["path"]: entry for entry in entries}
    assert by_path["deep"] == {
        "id": run(sample.repository.path, "rev-parse", "master:deep"),
        "name": "deep",
        "type": "tree",
        "path": "deep",
        "mode": "040000",
    }
    assert (by_path["module"]["id"], by_path["module"]["type"], by_path["module"]["mode"]) == (
        MODULE_ID,
        "commit",
        "160000",
    )
    assert (by_path["link"]["mode"], by_path["run.sh"]["mode"]) == ("120000", "100755")


def test_recursive_tree(api: Api, sample: SampleRepository) -> None:
    entries = _tree(api, sample, recursive=True)

    assert _rows(entries) == [row[:3] for row in _listed_by_git(sample, "-r", "-t")]
    files = [entry["path"] for entry in entries if entry["type"] != "tree"]
    assert sorted(files) == sorted([*map(as_shown, FILES), "other.txt"])
    assert all(entry["name"] == entry["path"].split("/")[-1] for entry in entries)


def test_subdirectory(api: Api, sample: SampleRepository) -> None:
    for path in ("deep", "deep/", "/deep", "/deep/"):
        assert [entry["path"] for entry in _tree(api, sample, path=path)] == ["deep/er"]
    below = _tree(api, sample, path="deep", recursive=1)
    assert [entry["path"] for entry in below] == [
        "deep/er",
        "deep/er/and",
        "deep/er/and/deeper",
        "deep/er/and/deeper/file.txt",
    ]
    assert [entry["path"] for entry in _tree(api, sample, path="ünï")] == ["ünï/cödé.txt"]
    assert [entry["path"] for entry in _tree(api, sample, path="café")] == ["café/naïve.txt"]
    for root in ("", "/", "."):
        assert len(_tree(api, sample, path=root)) == len(_tree(api, sample))


def test_pages_cover_the_whole_tree(api: Api, sample: SampleRepository) -> None:
    for recursive in (False, True):
        whole = _tree(api, sample, recursive=recursive)
        answers = [
            api.get(f"{sample.url}/tree", recursive=recursive, page=page, per_page=4)
            for page in range(1, len(whole) // 4 + 3)
        ]
        assert [entry for answer in answers for entry in answer.json()] == whole
        assert {answer.headers["x-total"] for answer in answers} == {str(len(whole))}
        assert answers[-1].json() == []
    assert api.get(f"{sample.url}/tree", page=2**62, per_page=100).json() == []


def test_keyset_pagination(api: Api, sample: SampleRepository) -> None:
    """As newer clients request long trees."""
    for recursive in (False, True):
        whole, seen = _tree(api, sample, recursive=recursive), []
        address = f"{sample.url}/tree?pagination=keyset&per_page=5&recursive={recursive}"
        while address:
            answer = api.get(address)
            assert "x-total" not in answer.headers
            seen += answer.json()
            following = answer.links.get("next")
            address = following["url"].partition("/api/v4")[2] if following else ""
        assert seen == whole
    wrong = api.get(f"{sample.url}/tree", pagination="keyset", page_token="x")
    assert (wrong.status_code, wrong.json()) == (400, {"message": {"page_token": ["is invalid"]}})


def test_a_longer_page_needs_no_more_statements(api: Api, make: Make, sample: SampleRepository) -> None:
    short, long = (
        statements_of(make, lambda size=size: api.get(f"{sample.url}/tree", make.root, per_page=size))  # type: ignore[misc]
        for size in (1, 100)
    )
    assert short == long


def test_every_kind_of_ref(api: Api, sample: SampleRepository) -> None:
    first = sample.commits[1]
    for ref in ("v1", "v1-annotated", first, first[:8]):
        assert "other.txt" not in [entry["path"] for entry in _tree(api, sample, ref=ref)]
    assert "only.here" in [entry["path"] for entry in _tree(api, sample, ref="feature/with/slash")]


@pytest.mark.parametrize("ref", [ref for ref in HOSTILE_REFS if ref])
def test_a_hostile_ref_is_not_found(api: Api, sample: SampleRepository, ref: str) -> None:
    """Attack: a ref that looks like an option makes git write a file."""
    answer = api.get(f"{sample.url}/tree", ref=ref, recursive=True)

    assert (answer.status_code, answer.json()) == (404, {"message": "404 Tree Not Found"})
    assert not Path("/tmp/ingot-pwned").exists()


def test_paths_without_a_directory(api: Api, sample: SampleRepository) -> None:
    for path in ("nowhere", "README.md", "module", "link", "deep/x", "x" * 4000, "-r", "*"):
        answer = api.get(f"{sample.url}/tree", path=path)
        assert (answer.status_code, answer.json()) == (404, {"message": "404 Tree Not Found"})
    for path in ("..", "deep/..", "../x", "x" * 5000):
        answer = api.get(f"{sample.url}/tree", path=path)
        assert answer.status_code == 400
        assert list(answer.json()["message"]) == ["path"]


def test_an_empty_repository_has_no_tree(api: Api, make: Make) -> None:
    project = make_project(make, visibility="public")

    answer = api.get(f"{project.url}/repository/tree")

    assert (answer.status_code, answer.json()) == (404, {"message": "404 Tree Not Found"})


def test_permission_to_read(api: Api, instance: Instance, make: Make) -> None:
    guest, reporter, stranger = make.user(), make.user(), make.user()
    members = {guest: Level.GUEST, reporter: Level.REPORTER}
    private = make_sample(instance, make, visibility="private", members=members)
    blob = run(private.repository.path, "rev-parse", "master:README.md")
    for part in ("/tree", f"/blobs/{blob}", f"/blobs/{blob}/raw", "/archive", "/archive.zip"):
        statuses = [
            api.get(private.url + part, who).status_code for who in (None, stranger, guest, reporter, make.root)
        ]
        assert statuses == [404, 404, 403, 200, 200]


def test_a_tree_bomb_is_paginated(api: Api, instance: Instance, make: Make) -> None:
    """Attack: few objects that expand to ten billion files."""
    project = make_project(make, visibility="public")
    history = History()
    history.commit(files={"x": "y"})
    repository = repository_of(instance, project)
    history.into(repository)
    entry = f"100644 blob {run(repository.path, 'rev-parse', 'master:x')}"
    for _ in range(10):
        lines = "".join(f"{entry}\t{name}\n" for name in "abcdefghij")
        entry = f"040000 tree {run(repository.path, 'mktree', input=lines.encode())}"
    commit = run(
        repository.path,
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@example.org",
        "commit-tree",
        "-m",
        "x",
        entry.split()[2],
    )

    first = api.get(f"{project.url}/repository/tree", ref=commit, recursive=True, per_page=3)
    last = api.get(f"{project.url}/repository/tree", ref=commit, recursive=True, per_page=3, page=3_703_703_703)

    folders = sum(10**level for level in range(1, 10))
    assert first.headers["x-total"] == str(folders + 10**10)
    assert [entry["path"] for entry in first.json()] == ["a", "a/a", "a/a/a"]
    assert [entry["path"] for entry in last.json()] == ["j/" * 9 + name for name in "ghi"]
