"""Overload: more requests than can be served, and endless requests."""

import base64
import subprocess
from pathlib import Path

import pytest

from ingot.core.http import transfer_slots
from ingot.core.http.deferred_component import DeferredComponent
from ingot.transport import git_http, git_services
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import History, repository_of
from tests.transport.conftest import Tree, over_http
from tests.transport.wire import advertised, auth_of, exchange, packet


@pytest.fixture
def owner(make: Make) -> User:
    return make.user()


@pytest.fixture
def project(instance: Instance, make: Make, owner: User) -> Project:
    made = make_project(make, owner)
    history = History()
    history.commit(files={"a": "a\n"})
    history.fill(instance, made)
    return made


def test_no_slot_is_free(
    instance: Instance, owner: User, project: Project, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests without a slot in time get 503 with a message and Retry-After; later ones succeed."""
    deferred = [each.component for each in instance.app.components if isinstance(each, DeferredComponent)]
    (component,) = [each for each in deferred if isinstance(each, git_http.GitHttp)]
    monkeypatch.setattr(transfer_slots, "WAIT_SECONDS", 0.1)
    monkeypatch.setattr(component, "_slots", transfer_slots.TransferSlots(0))
    answer = advertised(instance, f"{project.path}.git", "upload", auth_of(owner))
    assert (answer.status_code, answer.text) == (503, "The server is busy with other transfers. Retry later.\n")
    assert int(answer.headers["retry-after"]) > 0
    assert "503" in tree.git("ls-remote", over_http(instance, project, owner), fails=True)
    monkeypatch.undo()
    tree.git("ls-remote", over_http(instance, project, owner))


def test_endless_wants(instance: Instance, owner: User, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: too many or too long wants are cut off, independent of the declared length."""
    monkeypatch.setattr(git_services, "_MAX_FETCH_REQUEST_BYTES", 100_000)
    tip = repository_of(instance, project).tip("refs/heads/master")
    want = packet(f"want {tip}\n")
    path, auth = f"{project.path}.git", auth_of(owner)
    assert exchange(instance, path, "upload", want * 10_000, auth).status_code == 413

    assert exchange(instance, path, "upload", iter([want] * 10_000), auth).status_code == 413
    few = packet(f"want {tip} no-progress\n") + want * 10 + b"0000" + packet("done\n")
    assert b"PACK" in exchange(instance, path, "upload", few, auth).content


def test_expect_continue(instance: Instance, owner: User, project: Project, tmp_path: Path) -> None:
    """Clients with uncertain credentials send the head first, and the body when it was accepted."""
    body = tmp_path / "body"
    body.write_bytes(b"0000")
    token = base64.b64encode(f"{owner.username}:{owner.token}".encode()).decode()
    for proof, status in ((f"Basic {token}", "200"), ("Basic bm86Ym9keQ==", "401")):
        said = subprocess.run(
            [
                *("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Expect: 100-continue"),
                *("-H", f"Authorization: {proof}", "-H", "Content-Type: application/x-git-upload-pack-request"),
                *("--data-binary", f"@{body}", f"{instance.url}/{project.path}.git/git-upload-pack"),
            ],
            capture_output=True,
            check=True,
            text=True,
        )
        assert said.stdout == status
