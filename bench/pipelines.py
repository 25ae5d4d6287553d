"""Pipelines: a push with and without CI, reading a large configuration, and creating a pipeline of 100 jobs."""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx

from bench.repositories import Measurement, ratio, timed
from bench.user_data import TOKEN
from ingot.ci.config.compiler import read_config
from tests.ci.config.context import PipelineFacts, RepositoryFiles

JOBS = 100
ROUNDS = 15
_SMALL = "".join(
    f"{name}:\n  stage: {stage}\n  script: [make {name}]\n"
    for name, stage in (("compile", "build"), ("lint", "test"), ("unit", "test"), ("browser", "test"))
)
_BASE = """
.base:
  image: python:3
  before_script: [pip install -e .]
  variables: {LEVEL: "1"}
  retry: 1
  rules:
    - if: $CI_COMMIT_TAG
      when: never
    - when: on_success
"""
_LARGE = "include: [base.yml]\n" + "".join(
    f"job {number}:\n  extends: .base\n  stage: {('build', 'test', 'deploy')[number % 3]}\n  script: [make {number}]\n"
    for number in range(JOBS)
)


def measure_pipelines(port: int) -> Iterator[Measurement]:
    """Measure pushes as a ratio, reading and creation in milliseconds."""
    with httpx.Client(
        base_url=f"http://127.0.0.1:{port}/api/v4", headers={"PRIVATE-TOKEN": TOKEN}, timeout=60
    ) as client:
        yield _push_ratio(client, f"http://root:{TOKEN}@127.0.0.1:{port}/root")
        project_id = _create_project(client, "large-pipelines", {".gitlab-ci.yml": _LARGE, "base.yml": _BASE})
        files, facts = RepositoryFiles({"base.yml": _BASE}), PipelineFacts()
        read = _median_milliseconds(lambda: read_config(_LARGE, files, facts))
        yield Measurement("configuration of 100 jobs, ms", read, "<= 15", read <= 15)
        create = _median_milliseconds(
            lambda: client.post(f"/projects/{project_id}/pipeline", json={"ref": "master"}).raise_for_status()
        )
        yield Measurement("pipeline of 100 jobs, ms", create, "<= 60", create <= 60)


def _create_project(client: httpx.Client, name: str, files: dict[str, str]) -> int:
    project_id: int = client.post("/projects", json={"name": name}).json()["id"]
    actions = [{"action": "create", "file_path": path, "content": content} for path, content in files.items()]
    sent = {"branch": "master", "commit_message": "Add files [ci skip]", "actions": actions}
    client.post(f"/projects/{project_id}/repository/commits", json=sent).raise_for_status()
    return project_id


def _push_ratio(client: httpx.Client, url: str) -> Measurement:
    """Push the same commits to a project with a configuration and to one without."""
    files = {"README.md": "Benchmark\n"}
    built = _create_project(client, "with-ci", {**files, ".gitlab-ci.yml": _SMALL})
    _create_project(client, "without-ci", {**files, "other.yml": _SMALL})
    with tempfile.TemporaryDirectory() as folder:
        trees = {name: Path(folder) / name for name in ("with-ci", "without-ci")}
        for name, tree in trees.items():
            timed(Path(folder), ["clone", "-q", f"{url}/{name}.git", str(tree)], {})

        def push(name: str) -> float:
            timed(trees[name], ["commit", "-q", "--allow-empty", "-m", "Push"], {})
            return timed(trees[name], ["push", "-q", "origin", "HEAD"], {})

        found = ratio(ROUNDS, lambda: push("with-ci"), lambda: push("without-ci"))
    visible = len(client.get(f"/projects/{built}/pipelines", params={"per_page": 100}).json())
    note = f"{visible} pipelines"
    return Measurement("push with CI / without", found, "<= 1.15", found <= 1.15 and visible > ROUNDS, note)


def _median_milliseconds(call: Callable[[], object]) -> float:
    call()
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return 1000 * statistics.median(times)
