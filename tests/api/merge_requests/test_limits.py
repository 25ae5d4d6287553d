"""Limits of very large diffs in memory and output."""

import resource
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.api.merge_requests.factories import filled_project
from tests.api.merging.merge_calls import make_branch_merge_request, tip
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project
from tests.git_history import repository_of, run

FILES = 2_000
LINE_BYTES = 50_000_000
AUTHOR = ("-c", "user.name=x", "-c", "user.email=x@example.org")


def _branch(path: Path, name: str, base: str, entries: str) -> None:
    tree = run(path, "mktree", input=entries.encode())
    run(path, "update-ref", f"refs/heads/{name}", run(path, *AUTHOR, "commit-tree", "-p", base, "-m", name, tree))


@pytest.fixture(scope="module")
def huge(make: Make, instance: Instance) -> tuple[Project, dict[str, dict[str, Any]]]:
    """Return a merge request with very many files, and one with a very long line."""
    project = filled_project(make)
    base, path = tip(make.api, project, make.root)["id"], repository_of(instance, project).path
    kept = run(path, "ls-tree", base)
    small = run(path, "hash-object", "-w", "--stdin", input=b"x\n")
    files = "".join(f"100644 blob {small}\tf{number:05}\n" for number in range(FILES))
    _branch(path, "many", base, f"{kept}\n{files}")
    # Built in another process, because the memory of this one is measured.
    making = f"head -c {LINE_BYTES} /dev/zero | tr '\\0' x | git hash-object -w --stdin"
    long = subprocess.run(making, shell=True, cwd=path, capture_output=True, text=True, check=True).stdout.strip()
    _branch(path, "long", base, f"{kept}\n100644 blob {long}\tlong\n")
    return project, {name: make_branch_merge_request(make, project, name) for name in ("many", "long")}


def test_diff_of_very_many_files(api: Api, make: Make, huge: tuple[Project, dict[str, dict[str, Any]]]) -> None:
    """All files are listed, a thousand are shown, and the rest is marked as omitted."""
    project, offered = huge
    one = offered["many"]
    url = f"/projects/{project.id}/merge_requests/{one['iid']}"
    assert one["changes_count"] == "1000+"
    shown = api.get(f"{url}/changes", make.root).json()
    assert shown["overflow"] is True
    assert len(shown["changes"]) == FILES
    told = [change for change in shown["changes"] if change["diff"]]
    assert 0 < len(told) <= 1_000
    assert all(change["collapsed"] for change in shown["changes"] if not change["diff"])
    page = api.get(f"{url}/diffs", make.root, per_page=100)
    assert (len(page.json()), page.headers["x-total"]) == (100, str(FILES))
    version = api.get(f"{url}/versions", make.root).json()[0]
    assert version["real_size"] == "1000+"
    assert len(api.get(f"{url}/versions/{version['id']}", make.root).content) < 1_000_000


@pytest.mark.parametrize("path", ["/changes", "/diffs", "/raw_diffs", ""])
def test_diff_of_a_very_long_line(
    api: Api, make: Make, huge: tuple[Project, dict[str, dict[str, Any]]], path: str
) -> None:
    """It is marked as too large and never held in memory."""
    project, offered = huge
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = api.get(f"/projects/{project.id}/merge_requests/{offered['long']['iid']}{path}", make.root)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert answer.status_code == 200, answer.text
    assert len(answer.content) < 10_000
    assert (after - before) * 1024 < LINE_BYTES // 2
    if path in ("/changes", "/diffs"):
        changes = answer.json()["changes"] if path == "/changes" else answer.json()
        assert [(change["new_path"], change["too_large"], change["diff"]) for change in changes] == [("long", True, "")]
