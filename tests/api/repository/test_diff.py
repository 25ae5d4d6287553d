"""Diffs of commits through the API; tests/git/test_diffs.py tests the diffs themselves."""

import pytest

from tests.api.repository.branched_repository import BranchedRepository
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import History

FIELDS = [
    "diff",
    "new_path",
    "old_path",
    "a_mode",
    "b_mode",
    "new_file",
    "renamed_file",
    "deleted_file",
    "too_large",
    "collapsed",
]


@pytest.fixture(scope="module")
def branched(instance: Instance, make: Make) -> BranchedRepository:
    """Return a public project."""
    return BranchedRepository(instance, make_project(make, visibility="public"))


def test_an_edit(api: Api, make: Make, branched: BranchedRepository) -> None:
    """One entry with all fields."""
    answer = api.get(f"/projects/{branched.project.id}/repository/commits/{branched.main}/diff", make.root)
    (entry,) = answer.json()
    assert list(entry) == FIELDS
    assert entry == {
        "diff": "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n 1\n+2\n",
        "new_path": "a.txt",
        "old_path": "a.txt",
        "a_mode": "100644",
        "b_mode": "100644",
        "new_file": False,
        "renamed_file": False,
        "deleted_file": False,
        "too_large": False,
        "collapsed": False,
    }


def test_first_commits_and_merges(api: Api, make: Make, branched: BranchedRepository) -> None:
    """Root commits against the empty tree, merges against their first parent."""
    url = f"/projects/{branched.project.id}/repository/commits"
    first = api.get(f"{url}/{branched.first}/diff", make.root).json()
    assert [(entry["new_path"], entry["new_file"], entry["a_mode"]) for entry in first] == [
        ("a.txt", True, "0"),
        ("lib/x.py", True, "0"),
    ]
    assert [entry["new_path"] for entry in api.get(f"{url}/v1/diff", make.root).json()] == ["b.txt"]


def test_diffs_are_unpaginated_by_default(instance: Instance, api: Api, make: Make) -> None:
    """More files than the default page size; pages are returned on request."""
    project = make_project(make)
    made = History()
    made.commit(files={f"{number:03}": "1\n" for number in range(130)})
    made.fill(instance, project)
    url = f"/projects/{project.id}/repository/commits/master/diff"
    whole = api.get(url, make.root)
    assert [entry["new_path"] for entry in whole.json()] == [f"{number:03}" for number in range(130)]
    assert "link" not in whole.headers
    assert len(api.get(url, make.root, page=1).json()) == 20
    assert len(api.get(url, make.root, per_page=1000).json()) == 100
    assert len(api.get(url, make.root, page=2, per_page=100).json()) == 30


def test_pages(api: Api, make: Make, branched: BranchedRepository) -> None:
    """File by file."""
    url = f"/projects/{branched.project.id}/repository/commits/{branched.first}/diff"
    second = api.get(url, make.root, per_page=1, page=2)
    assert [entry["new_path"] for entry in second.json()] == ["lib/x.py"]
    assert second.headers["x-total"] == "2"
    assert api.get(url, make.root, per_page=1, page=10**18).json() == []


def test_an_empty_commit(instance: Instance, api: Api, make: Make) -> None:
    """It has no diffs."""
    project = make_project(make)
    made = History()
    made.commit(files={"a": "1"})
    made.commit("master")
    made.fill(instance, project)
    assert api.get(f"/projects/{project.id}/repository/commits/master/diff", make.root).json() == []


def test_all_kinds_of_changes(instance: Instance, api: Api, make: Make) -> None:
    """Names that are not UTF-8, binary files, symlinks, submodules, executable files and renames."""
    project = make_project(make)
    text = "".join(f"line {number}\n" for number in range(20))
    made = History()
    made.commit(files={"bin": b"\0", "link": "x\n", "run": "x\n", "old": text, "sub": ("160000", "1" * 40)})
    made.commit(
        files={
            "bin": b"\0\0",
            "link": ("120000", "bin"),
            "run": ("100755", "x\n"),
            "new": text,
            "sub": ("160000", "2" * 40),
            "\udcfc.txt": b"\xfc\n",
        },
        removed=("old",),
    )
    made.fill(instance, project)
    entries = api.get(f"/projects/{project.id}/repository/commits/master/diff", make.root).json()
    by_path: dict[str, list[dict[str, object]]] = {}
    for entry in entries:
        by_path.setdefault(entry["new_path"], []).append(entry)
    assert by_path["bin"][0]["diff"] == "Binary files a/bin and b/bin differ\n"
    assert [(entry["a_mode"], entry["b_mode"]) for entry in by_path["link"]] == [("100644", "0"), ("0", "120000")]
    assert (by_path["run"][0]["b_mode"], by_path["run"][0]["diff"]) == ("100755", "")
    assert (by_path["new"][0]["old_path"], by_path["new"][0]["renamed_file"]) == ("old", True)
    assert f"+Subproject commit {'2' * 40}\n" in str(by_path["sub"][0]["diff"])
    assert str(by_path["ü.txt"][0]["diff"]).endswith("+ü\n")


def test_a_huge_commit(instance: Instance, api: Api, make: Make) -> None:
    """Thousands of files and a line of 5 MB: truncated and marked."""
    project = make_project(make)
    made = History()
    made.commit(files={"a": "1\n"})
    many: dict[str, str] = {f"{number:05}": f"{number}\n" for number in range(20_000)}
    made.commit(files={"0": "x" * 5_000_000, **many})
    made.fill(instance, project)
    url = f"/projects/{project.id}/repository/commits/master/diff"
    first = api.get(url, make.root, per_page=100)
    assert first.status_code == 200
    assert (first.json()[0]["diff"], first.json()[0]["too_large"]) == ("", True)
    assert first.json()[1]["diff"].endswith("+0\n")
    later = api.get(url, make.root, per_page=100, page=50).json()
    assert all(entry["collapsed"] and entry["diff"] == "" for entry in later)
    compared = api.get(f"/projects/{project.id}/repository/compare", make.root, **{"from": "master", "to": "master"})
    assert compared.json()["compare_same_ref"] is True
