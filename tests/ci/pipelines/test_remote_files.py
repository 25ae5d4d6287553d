"""Limits of files on other servers."""

from contextlib import closing
from itertools import count
from threading import Event

import pytest

from ingot.ci.config.errors import ConfigError
from ingot.ci.pipelines import remote_files
from ingot.ci.pipelines.remote_files import BUSY, TOO_SLOW, RemoteFiles
from ingot.core.outgoing.guard import SsrfGuard
from tests.ci.pipelines.files import commit_files
from tests.client import Api, Make
from tests.factories import make_project
from tests.outgoing.raw_server import OK, answering, responding_with

_users = count(10**9)
GUARD = SsrfGuard(allow_local=True)
FILE = responding_with(OK + b"Content-Length: 16\r\n\r\na: {script: [b]}")


def test_few_configurations_are_read_at_a_time(api: Api, make: Make) -> None:
    """Attack: a user sends many configurations with files of a slow server."""
    project = make_project(make)
    commit_files(make, project, {"README": "text"})
    content = "include: http://files.example.com/a.yml\ntest: {script: make}"
    with answering(FILE, FILE, FILE) as (port, _):
        url = f"http://127.0.0.1:{port}/a.yml"
        first, second, third = (RemoteFiles(GUARD, next(_users)) for _ in range(3))
        with closing(second):
            with closing(first):
                assert first.fetch(url) == second.fetch(url) == "a: {script: [b]}"
                with closing(third), pytest.raises(ConfigError, match=BUSY):
                    third.fetch(url)
                refused = api.post(f"{project.url}/ci/lint", make.root, content=content)
                assert (refused.status_code, refused.json()["errors"]) == (200, [BUSY])
            with closing(third):
                assert third.fetch(url) == "a: {script: [b]}"
    for _ in range(3):  # A failure does not keep the place.
        local = api.post(f"{project.url}/ci/lint", make.root, content=content.replace("files.example.com", "127.0.0.1"))
        assert "Requests to the local network are not allowed" in local.text


def test_time_of_all_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: a push of several branches, each with many files of a slow server, which would never respond."""
    user = next(_users)
    monkeypatch.setattr(remote_files, "FILE_SECONDS", 0.2)
    ended = Event()

    def wait(_: object) -> None:
        ended.wait(60)

    with answering(wait, wait) as (port, heard):
        url = f"http://127.0.0.1:{port}/a.yml"
        with closing(RemoteFiles(GUARD, user)) as files:
            for _ in range(2):
                with pytest.raises(ConfigError, match="took too long"):
                    files.fetch(url)
            monkeypatch.setattr(remote_files, "TOTAL_SECONDS", 0.3)
            for _ in range(20):
                with pytest.raises(ConfigError, match=TOO_SLOW):
                    files.fetch(url)
        with closing(RemoteFiles(GUARD, user)) as files, pytest.raises(ConfigError, match=TOO_SLOW):
            files.fetch(url)
        ended.set()
    assert len(heard) == 2
    monkeypatch.undo()  # The last file needs time on a busy machine.
    remote_files._time_of_users.add(user, remote_files.TOTAL_SECONDS)
    monkeypatch.setattr(remote_files, "WINDOW_SECONDS", 0.0)
    with answering(FILE) as (port, _), closing(RemoteFiles(GUARD, user)) as files:
        assert files.fetch(f"http://127.0.0.1:{port}/a.yml") == "a: {script: [b]}"
