"""A restart of the server while a runner executes a job."""

import signal
import subprocess
from pathlib import Path

from tests.ci.own_runner.flow_server import FlowServer
from tests.free_ports import free_port
from tests.server.process import INGOT, Server, environment, until

CI_FILE = """
job:
  script:
    - for number in $(seq 1 20); do echo "line $number"; sleep 0.1; done
    - until test -e GO; do sleep 0.1; done
    - echo end
"""


def test_a_job_survives_a_kill_of_the_server(tmp_path: Path) -> None:
    """The log has every line once and in order, and the job succeeds."""
    server = Server(tmp_path / "data")
    go = tmp_path / "go"
    port = free_port()
    server.start("--port", port)
    flow = FlowServer(server)
    token = flow.call("POST", "/runners/reset_registration_token", 201)["token"]
    runner = subprocess.Popen(
        [*INGOT, "runner", "--url", server.url, "--work", str(tmp_path / "work")],
        env=environment(INGOT_RUNNER_REGISTRATION_TOKEN=token),
        stderr=subprocess.DEVNULL,
    )
    try:
        url = flow.project("restart", {".gitlab-ci.yml": CI_FILE.replace("GO", str(go))})
        job = flow.jobs(url, flow.newest_pipeline(url)["id"])["job"]
        until("the first line", lambda: "line 1\n" in flow.trace(url, job))
        server.kill()
        server.start("--port", port)
        go.touch()
        ended = flow.wait_for_job(url, job["id"], lambda job: job["status"] in ("success", "failed"))
        lines = [line for line in flow.trace(url, ended).splitlines() if line.startswith("line ")]
        assert ended["status"] == "success"
        assert lines == [f"line {number}" for number in range(1, 21)]
        runner.send_signal(signal.SIGQUIT)
        assert runner.wait(60) == 0
    finally:
        runner.kill()
        runner.wait()
        server.kill()
