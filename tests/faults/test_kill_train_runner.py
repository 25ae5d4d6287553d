"""Killing the server every few seconds while a real runner tests a merge train: the target is green at every commit."""

import os
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.ci.own_runner.flow_server import BINARY, FlowServer, gitlab_runner
from tests.ci.own_runner.test_merge_train import NAMES, check_train, offer
from tests.faults.load_generator import expire_leases
from tests.server.process import INGOT, Server, environment, until
from tests.storage.switched_proxy import SwitchedProxy, switched_proxy

ROUNDS = int(os.environ.get("INGOT_SOAK_ROUNDS", "1"))
KILLS = 6
WORKERS = ("--workers", 2)
WAIT_SECONDS = 300.0
# A job whose sources cannot be fetched while the server is down fails by no fault of the merge request.
CHECK = """
workflow:
  rules: [{if: $CI_MERGE_REQUEST_EVENT_TYPE == "merge_train"}]
variables:
  GET_SOURCES_ATTEMPTS: "10"
check:
  retry: {max: 2, when: [runner_system_failure]}
  script:
    - test ! -e four -o ! -e six
"""
# gitlab-runner tries ten times within a second at most, and takes that for a failure of the script: the script fetches.
_FETCH = "until git fetch --quiet --depth 1 $CI_REPOSITORY_URL refs/pipelines/$CI_PIPELINE_ID; do sleep 1; done"
CHECK_BY_GITLAB_RUNNER = f"""
workflow:
  rules: [{{if: $CI_MERGE_REQUEST_EVENT_TYPE == "merge_train"}}]
variables:
  GIT_STRATEGY: none
check:
  script:
    - git init --quiet
    - {_FETCH}
    - git checkout --quiet --force FETCH_HEAD
    - git clean --quiet -d -x --force
    - test ! -e four -o ! -e six
"""

pytestmark = pytest.mark.skipif("INGOT_SOAK_ROUNDS" not in os.environ, reason="takes minutes; a part of make soak")


def _start(server: Server, proxy: SwitchedProxy) -> None:
    server.start(*WORKERS, INGOT_EXTERNAL_URL=f"http://127.0.0.1:{proxy.port}", wait=False)
    address = server.run_folder / "address"
    until("the address", lambda: address.exists() and address.read_text().endswith("\n"))
    server.url = address.read_text().strip()
    until("readiness", lambda: server.ready() == 200)
    proxy.target = urlsplit(server.url).port or 0


@contextmanager
def _runner(flow: FlowServer, url: str, folder: Path) -> Iterator[None]:
    """Run gitlab-runner, or the built-in runner as a process of its own, which reaches the server at a fixed URL."""
    if BINARY:
        with gitlab_runner(flow, folder, url):
            yield
        return
    token = flow.call("POST", "/user/runners", 201, runner_type="instance_type", run_untagged=True)["token"]
    words = ["runner", "--url", url, "--token", token, "--concurrency", "4", "--work", str(folder / "work")]
    with (folder / "runner.log").open("wb") as log:
        process = subprocess.Popen([*INGOT, *words], stdout=log, stderr=log, env=environment())
    try:
        yield
    finally:
        process.terminate()
        process.wait(WAIT_SECONDS)


@pytest.mark.parametrize("size", [1, 4])
def test_server_is_killed_every_few_seconds(stopped: Server, tmp_path: Path, size: int) -> None:
    dice = random.Random(int(os.environ.get("INGOT_SOAK_SEED", "1")))
    with switched_proxy(0) as proxy:
        _start(stopped, proxy)
        flow = FlowServer(stopped)
        with _runner(flow, f"http://127.0.0.1:{proxy.port}", tmp_path):
            for number in range(ROUNDS):
                _run_train(flow, proxy, dice, f"train-{number}", size)


def _run_train(flow: FlowServer, proxy: SwitchedProxy, dice: random.Random, name: str, size: int) -> None:
    url = flow.project(name, {".gitlab-ci.yml": CHECK_BY_GITLAB_RUNNER if BINARY else CHECK})
    flow.call("PUT", url, 200, merge_pipelines_enabled=True, merge_trains_enabled=True, merge_trains_batch_size=size)
    start = flow.call("GET", f"{url}/repository/branches/main", 200)["commit"]["id"]
    offered: list[dict[str, Any]] = [offer(flow, url, each) for each in NAMES]
    for each in offered:
        flow.call("POST", f"{url}/merge_trains/merge_requests/{each['iid']}", 201)
    for _ in range(KILLS):
        time.sleep(1 + 3 * dice.random())
        proxy.switch_off()
        flow.server.kill()
        expire_leases(flow.server)
        _start(flow.server, proxy)
        proxy.switch_on()
    until(
        "the end of the train",
        lambda: flow.call("GET", f"{url}/merge_trains", 200, scope="active") == [],
        WAIT_SECONDS,
    )
    check_train(flow, url, start, offered, size)
