"""Start of temporary servers: report, processes, SSH, refusals, and the end with the parent process."""

import json
import re
import subprocess
import sys
from pathlib import Path

import httpx

from tests.server.process import INGOT, ROOT, environment, ingot, is_alive, until
from tests.testing.temporary_server import temporary_server

PARENT = """
import os, subprocess, sys
reading, writing = os.pipe()
words = [*sys.argv[1:], "--ready-fd", str(writing)]
subprocess.Popen(words, pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
os.close(writing)
sys.stdout.write(os.fdopen(reading).read())
sys.stdout.flush()
sys.stdin.read()
"""


def test_a_temporary_server_reports_its_address_and_token(tmp_path: Path) -> None:
    with temporary_server(tmp_path / "server") as server:
        assert server.report.keys() == {"url", "token", "ssh", "testing_secret", "pid"}
        assert server.report["ssh"] is None and server.report["testing_secret"] is None
        assert server.api("GET", "/user").json()["username"] == "root"
        assert httpx.get(f"{server.url}/-/readiness").status_code == 200
        assert httpx.get(f"{server.url}/users/sign_in").status_code == 200
        assert httpx.get(f"{server.url}/-/testing/clock").status_code == 404


def test_a_temporary_server_runs_jobs_in_its_only_process(tmp_path: Path) -> None:
    with temporary_server(tmp_path / "server") as server:
        project = server.api("POST", "/projects", json={"name": "parent", "initialize_with_readme": True}).json()
        assert (
            server.api("POST", f"/projects/{project['id']}/fork", json={"path": "copy", "name": "copy"}).status_code
            == 201
        )
        until("the copy", lambda: server.api("GET", "/projects/root%2Fcopy").json()["import_status"] == "finished")
        children = Path(f"/proc/{server.report['pid']}/task/{server.report['pid']}/children")
        until("the end of git", lambda: children.read_text() == "")


def test_ssh_is_served_on_request(tmp_path: Path) -> None:
    with temporary_server(tmp_path / "server", "--ssh-port", 0) as server:
        server.api("POST", "/projects", json={"name": "code", "initialize_with_readme": True})
        key = tmp_path / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        public = key.with_suffix(".pub").read_text()
        assert server.api("POST", "/user/keys", json={"title": "key", "key": public}).status_code == 201
        ssh = f"ssh -i {key} -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -q"
        clone = ["git", "clone", "-q", f"{server.report['ssh']}/root/code.git", str(tmp_path / "clone")]
        subprocess.run(clone, env=environment(GIT_SSH_COMMAND=ssh), check=True)
        assert (tmp_path / "clone" / "README.md").exists()


def test_a_server_ends_with_its_parent(tmp_path: Path) -> None:
    server = [*INGOT, "serve", "--ephemeral", "--port", "0", "--die-with-parent"]
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, *server],
        cwd=ROOT,
        env=environment(TMPDIR=str(tmp_path)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as parent:
        assert parent.stdout is not None
        report = json.loads(parent.stdout.readline())
        assert httpx.get(f"{report['url']}/-/liveness", timeout=60).status_code == 200
        parent.kill()
    until("the end of the server", lambda: not is_alive(report["pid"]))
    assert list(tmp_path.iterdir()) == []


def test_options_of_test_servers_need_testing() -> None:
    for options in (["--ephemeral", "--deterministic"], ["--profile", "current"]):
        done = ingot("serve", *options, "--port", 0)
        assert done.returncode == 1 and re.search(r"needs (--ephemeral or )?--testing", done.stderr)


def test_control_endpoints_are_refused_beyond_loopback() -> None:
    done = ingot("serve", "--testing", "--host", "0.0.0.0", "--port", 0)
    assert done.returncode == 1 and "--testing needs a loopback address" in done.stderr


def test_a_start_copies_the_database_that_an_earlier_one_has_stored(tmp_path: Path) -> None:
    """A file that others could have written is not used, and a cache folder that cannot be written does no harm."""
    stored = tmp_path / "ingot"
    cache = {"XDG_CACHE_HOME": str(tmp_path)}
    stored.mkdir()
    (stored / "schema-of-another-version.db").write_text("")
    for number in range(2):
        with temporary_server(tmp_path / str(number), **cache) as server:
            assert server.api("GET", "/projects").json() == []
        (file,) = stored.iterdir()
    file.write_bytes(b"not a database")
    file.chmod(0o666)
    with temporary_server(tmp_path / "untrusted", **cache) as server:
        assert server.api("GET", "/user").json()["username"] == "root"
    with temporary_server(tmp_path / "without", XDG_CACHE_HOME="/proc/none") as server:
        assert server.api("GET", "/user").json()["username"] == "root"


def test_a_short_secret_is_refused() -> None:
    done = ingot("serve", "--testing", "--port", 0, INGOT_TESTING_SECRET="short")
    assert done.returncode == 1 and "testing_secret must have at least 16 characters" in done.stderr
