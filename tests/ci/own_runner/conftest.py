"""Fixtures: a server of the protocol, a repository and a runner."""

import subprocess
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ingot.runner.client import RunnerClient
from ingot.runner.execution import RunnerPaths
from ingot.runner.worker import RunnerWorker
from tests.ci.own_runner.protocol_server import TOKEN, ProtocolServer, RecordedJob

AddJob = Callable[..., RecordedJob]


@pytest.fixture
def server() -> Iterator[ProtocolServer]:
    """Yield a server of the protocol."""
    protocol_server = ProtocolServer()
    yield protocol_server
    protocol_server.close()


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Return the URL of a repository and its newest commit."""
    folder = tmp_path_factory.mktemp("repository") / "group" / "project"
    folder.mkdir(parents=True)

    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        return subprocess.run(
            ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "-q", "-b", "master")
    (folder / "tracked.txt").write_text("tracked\n")
    git("add", ".")
    git("commit", "-q", "-m", "First")
    return folder.as_uri(), git("rev-parse", "HEAD")


@pytest.fixture
def runner(server: ProtocolServer, tmp_path: Path) -> RunnerWorker:
    """Return a runner of the server."""
    work = tmp_path / "work"
    paths = RunnerPaths(work / "builds", work / "cache", work / "running")
    return RunnerWorker(RunnerClient(server.url, "runner-token", "r_1"), paths, lambda *_, **__: None)


@pytest.fixture
def add_job(server: ProtocolServer, repository: tuple[str, str]) -> AddJob:
    """Return a function that queues a job with a script and other fields."""
    ids = count(1)

    def add(script: list[str], after_script: list[str] | None = None, **fields: Any) -> RecordedJob:
        url, sha = repository
        steps = [{"name": "script", "script": script, "timeout": 60, "when": "on_success", "allow_failure": False}]
        if after_script:
            steps.append(
                {"name": "after_script", "script": after_script, "timeout": 60, "when": "always", "allow_failure": True}
            )
        variables = [
            {"key": "CI_JOB_TOKEN", "value": TOKEN, "public": False, "masked": True},
            *fields.pop("variables", []),
        ]
        payload = {
            "id": next(ids),
            "token": TOKEN,
            "allow_git_fetch": True,
            "job_info": {"name": "test", "stage": "test", "project_id": 1, "project_name": "project"},
            "git_info": {"repo_url": url, "ref": "master", "sha": sha, "ref_type": "branch", "depth": 5},
            "runner_info": {"timeout": 60},
            "variables": variables,
            "steps": steps,
            "features": {"trace_sections": True, "token_mask_prefixes": ["glpat-"]},
            **fields,
        }
        return server.add(RecordedJob(payload))

    return add
