"""Updates of single files."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from ingot.git.writing.commits import commit_actions
from ingot.repositories.commit_writing import write
from tests.api.repository.writable_repository import WritableRepository, message_of
from tests.client import Api, Make

PARAMS = {"branch": "dev", "content": "changed\n", "commit_message": "Change it"}


def test_update_a_file(api: Api, writable: WritableRepository) -> None:
    """The mode does not change."""
    answer = api.put(f"/projects/{writable.project.id}/repository/files/run%2Esh", writable.developer, **PARAMS)
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"file_name": "run.sh", "file_path": "run.sh", "branch": "dev"}
    assert writable.content("run.sh") == b"changed\n"
    assert writable.listed()["run.sh"] == "100755"
    said = {**PARAMS, "content": "changed\n", "execute_filemode": False}
    assert (
        api.put(f"/projects/{writable.project.id}/repository/files/run%2Esh", writable.developer, **said).status_code
        == 200
    )
    assert writable.listed()["run.sh"] == "100644"


def test_a_symlink_stays_a_symlink(api: Api, writable: WritableRepository) -> None:
    """Its target is changed as a text in the tree."""
    said = {**PARAMS, "content": "/etc/hostname"}
    assert (
        api.put(f"/projects/{writable.project.id}/repository/files/link", writable.developer, **said).status_code == 200
    )
    assert writable.listed()["link"] == "120000"
    assert writable.content("link") == b"/etc/hostname"
    assert "submodule" in message_of(
        api.put(f"/projects/{writable.project.id}/repository/files/module", writable.developer, **PARAMS)
    )


@pytest.mark.parametrize(
    "more", [{}, {"start_branch": "dev", "branch": "copy"}, {"encoding": "base64", "content": "aGVsbG8K"}]
)
def test_unchanged_content_is_refused(api: Api, writable: WritableRepository, more: dict[str, str]) -> None:
    """The specification refuses an empty commit; a changed mode is a change."""
    path = f"/projects/{writable.project.id}/repository/files/README.md"
    sent = {**PARAMS, "content": "hello\n", **more}
    tip = writable.git("rev-parse", "dev")
    refused = api.put(path, writable.developer, **sent)
    assert refused.status_code == 400
    assert message_of(refused) == "The file has this content already, so there is nothing to commit"
    assert writable.git("rev-parse", "dev") == tip
    assert writable.git("branch", "--list", "copy") == ""
    assert api.put(path, writable.developer, **sent, execute_filemode=True).status_code == 200


def test_last_commit_id(api: Api, writable: WritableRepository) -> None:
    """An outdated state is rejected, however it is spelled."""
    path = f"/projects/{writable.project.id}/repository/files/README.md"
    for stale in ("stale", "0" * 40, writable.first[:8]):
        refused = api.put(path, writable.developer, **PARAMS, last_commit_id=stale)
        assert message_of(refused) == (
            "You are attempting to update a file that has changed since you started editing it."
        )
    assert api.put(path, writable.developer, **PARAMS, last_commit_id=writable.first).status_code == 200
    newer = {**PARAMS, "content": "newer"}
    assert api.put(path, writable.developer, **newer, last_commit_id=writable.first).status_code == 400
    assert api.put(path, writable.developer, **newer, last_commit_id=writable.tip()).status_code == 200


def test_missing_files_and_branches(api: Api, writable: WritableRepository) -> None:
    """An update creates neither, unless it names a start branch."""
    url = f"/projects/{writable.project.id}/repository/files"
    for path in ("nope", "deep", "deep%2Fer", "README.md%2Fx", "link%2Fx"):
        refused = api.put(f"{url}/{path}", writable.developer, **PARAMS)
        assert message_of(refused) == "A file with this name doesn't exist"
    assert "'..'" in message_of(api.put(f"{url}/..%2F..%2Fconfig", writable.developer, **PARAMS))
    assert "on a branch" in message_of(api.put(f"{url}/README.md", writable.developer, **{**PARAMS, "branch": "nope"}))
    said = {**PARAMS, "branch": "topic", "start_branch": "dev"}
    assert api.put(f"{url}/README.md", writable.developer, **said).status_code == 200
    assert writable.content("README.md", "topic") == b"changed\n"
    assert writable.tip() == writable.first


def test_missing_parameters(api: Api, writable: WritableRepository) -> None:
    """The first missing one is reported."""
    path = f"/projects/{writable.project.id}/repository/files/README.md"
    assert message_of(api.put(path, writable.developer)) == '400 (Bad request) "branch" not given'
    assert message_of(api.put(path, writable.developer, branch="dev")) == '400 (Bad request) "content" not given'
    said = {"branch": "dev", "content": ""}
    assert message_of(api.put(path, writable.developer, **said)) == '400 (Bad request) "commit_message" not given'


def test_permissions(api: Api, make: Make, writable: WritableRepository) -> None:
    """As for a push."""
    path = f"/projects/{writable.project.id}/repository/files/README.md"
    assert api.put(path, None, **PARAMS).status_code == 401
    assert api.put(path, writable.stranger, **PARAMS).status_code == 403
    assert api.put(path, writable.developer, **{**PARAMS, "branch": "master"}).status_code == 403
    api.post(f"/projects/{writable.project.id}/archive", make.root)
    assert api.put(path, writable.master, **PARAMS).status_code == 403
    api.post(f"/projects/{writable.project.id}/unarchive", make.root)
    assert api.put(path, writable.developer, **PARAMS).status_code == 200


def test_concurrent_updates(api: Api, writable: WritableRepository) -> None:
    """Without last_commit_id each change is in the history."""

    def change(number: int) -> httpx.Response:
        said = {**PARAMS, "content": str(number)}
        return api.put(f"/projects/{writable.project.id}/repository/files/README.md", writable.developer, **said)

    with ThreadPoolExecutor(10) as callers:
        answers = list(callers.map(change, range(20)))
    done = [answer for answer in answers if answer.status_code == 200]
    assert {answer.status_code for answer in answers} <= {200, 400}
    assert writable.git("rev-list", "--count", f"{writable.first}..dev") == str(len(done))


def test_a_constantly_moving_branch(api: Api, writable: WritableRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    """When every attempt loses the race, the commit is rejected, and no push is lost."""
    real = commit_actions
    pushes: list[str] = []

    def always_push_first(repository: object, parent: object, actions: object, words: object, **more: object) -> str:
        made: str = real(repository, parent, actions, words, **more)  # type: ignore[arg-type] # Passed on as they came.
        pushes.append(writable.git("commit-tree", "-p", "dev", "-m", f"push {len(pushes)}", "dev^{tree}"))
        writable.git("update-ref", "refs/heads/dev", pushes[-1])
        return made

    monkeypatch.setattr(write, "commit_actions", always_push_first)
    monkeypatch.setattr(write, "PATIENCE_SECONDS", 0.5)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Pusher")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "push@example.org")
    refused = api.put(f"/projects/{writable.project.id}/repository/files/README.md", writable.developer, **PARAMS)
    assert "try again" in message_of(refused)
    assert writable.git("rev-list", f"{writable.first}..dev").split() == pushes[::-1]
