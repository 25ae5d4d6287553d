"""Patches of commits and merge requests, by the suffix of a URL."""

import subprocess
from pathlib import Path

import pytest

from ingot.git.core.errors import GitOutputTooLarge
from ingot.git.core.repository import Repository
from ingot.git.diffs import patches
from tests.api.merge_requests.factories import commit, filled_project, make_merge_request
from tests.client import Make, User
from tests.factories import Project
from tests.transport.conftest import BASE
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD


@pytest.fixture(scope="module")
def owner(make: Make) -> User:
    return make.user(password=PASSWORD)


@pytest.fixture(scope="module")
def project(make: Make, owner: User) -> Project:
    project = filled_project(make, owner, visibility="private")
    make.api.delete(f"{project.url}/protected_branches/master", owner)
    return project


def _git(folder: Path, *args: str, text: bytes = b"") -> str:
    done = subprocess.run(["git", *args], cwd=folder, env=BASE, input=text, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_git_applies_patches(make: Make, owner: User, project: Project, browser: Browser, tmp_path: Path) -> None:
    """A merge request is applied with ``git am`` and with ``git apply``, with the same files."""
    request = make_merge_request(make, project, owner, title="Two steps")
    commit(make, project, request["source_branch"], {"süß.txt": "second\n"}, owner, message="Ünd noch eins")
    browser.signed_in_as(owner)
    page = f"/{project.path}/-/merge_requests/{request['iid']}"
    shown = browser.get(f"{page}/diffs").text
    assert f'href="{page}.patch">Email patches' in shown
    assert f'href="{page}.diff">Plain diff' in shown

    mails, diff = browser.get(f"{page}.patch"), browser.get(f"{page}.diff")

    for answer, ending in ((mails, "patch"), (diff, "diff")):
        assert answer.status_code == 200
        again = browser.get(f"{page}.{ending}")
        assert again.content == answer.content
        assert again.headers["content-length"] == str(len(answer.content)), "From the cache, as a whole."
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert mails.text.count("Subject: [PATCH ") == 2
    assert diff.text.startswith("diff --git a/")
    url = f"http://{owner.username}:{owner.token}@{browser.url.removeprefix('http://')}/{project.path}.git"
    _git(tmp_path, "clone", "-q", url, "one")
    _git(tmp_path / "one", "am", "-q", text=mails.content)
    by_mail = _git(tmp_path / "one", "rev-parse", "HEAD^{tree}")
    _git(tmp_path / "one", "reset", "-q", "--hard", "origin/master")
    _git(tmp_path / "one", "apply", "--index", text=diff.content)
    assert _git(tmp_path / "one", "write-tree") == by_mail
    assert by_mail.strip() == _git(tmp_path / "one", "rev-parse", f"origin/{request['source_branch']}^{{tree}}").strip()


def test_patch_of_a_commit(make: Make, owner: User, project: Project, browser: Browser) -> None:
    request = make_merge_request(make, project, owner, title="To be merged")
    merged = make.api.put(f"{project.url}/merge_requests/{request['iid']}/merge", owner)
    merge, second = merged.json()["merge_commit_sha"], request["sha"]
    browser.signed_in_as(owner)
    page = f"/{project.path}/-/commit/{second}"
    assert f'href="{page}.patch">Email patches' in browser.get(page).text

    mail = browser.get(f"{page}.patch").text
    assert mail.startswith(f"From {second} ")
    assert mail.count("\nSubject: ") == 1
    diff = browser.get(f"{page}.diff").text
    assert diff.startswith("diff --git a/")
    assert diff in mail
    assert browser.get(f"/{project.path}/commit/{second[:10]}.diff").text == diff, "Also by the address as it was."
    of_merge = browser.get(f"/{project.path}/-/commit/{merge}.patch").text
    assert of_merge.startswith(f"From {merge} ")
    assert diff in of_merge, "Against its first parent."
    (first,) = _firsts(make, owner, project)
    assert browser.get(f"/{project.path}/-/commit/{first}.patch").text.startswith(f"From {first} ")


def test_patches_of_branches_and_tags(make: Make, owner: User, project: Project, browser: Browser) -> None:
    """A ref with the suffix in its name is a page."""
    first, *_ = _firsts(make, owner, project)
    for name in ("a/b.c", "odd.patch"):
        assert make.api.post(f"{project.url}/repository/branches", owner, branch=name, ref=first).status_code == 201
    make.api.post(f"{project.url}/repository/tags", owner, tag_name="v1.0", ref=first)
    browser.signed_in_as(owner)
    here = f"/{project.path}/-/commit"
    for name in ("a%2Fb.c", "v1.0", "odd.patch"):
        assert browser.get(f"{here}/{name}").headers["content-type"].startswith("text/html"), name
        assert browser.get(f"{here}/{name}.patch").text.startswith(f"From {first} "), name
        assert browser.get(f"{here}/{name}.diff").text.startswith("diff --git a/"), name
    assert browser.get(f"{here}/nothing.patch").status_code == 404


def _firsts(make: Make, owner: User, project: Project) -> list[str]:
    commits = make.api.get(f"{project.url}/repository/commits", owner, per_page=100).json()
    return [commit["id"] for commit in commits if not commit["parent_ids"]]


def test_patches_require_permission(make: Make, owner: User, project: Project, browser: Browser) -> None:
    request = make_merge_request(make, project, owner, title="Hidden")
    for ending in ("patch", "diff"):
        for path in (f"commit/{request['sha']}.{ending}", f"merge_requests/{request['iid']}.{ending}"):
            assert browser.get(f"/{project.path}/-/{path}").status_code == 404
    browser.signed_in_as(owner)
    for path in ("commit/0123456789.patch", "merge_requests/999.diff", "merge_requests/ab.patch", "commit/.diff"):
        assert browser.get(f"/{project.path}/-/{path}").status_code == 404, path


def _whole(patch: patches.PatchContent) -> bytes:
    return patch if isinstance(patch, bytes) else b"".join(patch)


def test_a_too_large_patch_is_truncated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _git(tmp_path, "init", "-q")
    (tmp_path / "file").write_text("a\n" * 100)
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-q", "-m", "one")
    head = _git(tmp_path, "rev-parse", "HEAD").strip()
    repository = Repository(tmp_path / ".git")
    assert _whole(patches.read_diff(repository, None, head)).count(b"+a\n") == 100
    monkeypatch.setattr(patches, "MAX_BYTES", 100)
    with pytest.raises(GitOutputTooLarge):
        _whole(patches.read_mails(repository, None, head))
