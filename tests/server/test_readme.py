"""Commands of the README, copied from it and run against real servers."""

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.server.process import INGOT, ROOT, environment, until

README = (ROOT / "README.md").read_text()
# Without these flags, `curl` and `sh` would go on after a failure.
STRICT = 'set -eu\ncurl() { command curl --fail-with-body -S "$@"; }\n'


def blocks(heading: str, language: str) -> list[str]:
    """Return the code blocks of one language in a section."""
    section = README.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


@contextmanager
def started(command: str, folder: Path, **more: str) -> Iterator[str]:
    """Run a command of the README that starts a server, in a folder; yield the log line with its address."""
    command = re.sub(r"(?:\.venv/bin/)?\bingot (?=serve)", f"exec {' '.join(INGOT)} ", command)
    log = folder / "log"
    with log.open("wb") as stream:
        server = subprocess.Popen(
            ["sh", "-c", command],
            env=environment(PYTHONPATH=str(ROOT), **more),
            cwd=folder,
            stdout=stream,
            stderr=stream,
        )
    try:
        yield until("the line `serving`", lambda: re.search(r'"event": "serving".*', log.read_text()))[0]
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0


@pytest.mark.skipif(shutil.which("curl") is None, reason="The tour needs curl, which is not installed.")
def test_the_quick_start_works(tmp_path: Path) -> None:
    start, tour = blocks("Five-minute tour", "sh")
    (python,) = blocks("Five-minute tour", "python")
    with started(start.replace("--ssh-port 2222", "--ssh-port 0"), tmp_path, INGOT_PORT="0") as line:
        address = re.search(r'"url": "http://([^"]+)"', line)
        data = re.search(r'"data": "([^"]+)"', line)
        assert address is not None and data is not None
        ssh_port = (Path(data[1]) / "run" / "ssh_port").read_text().strip()

        def with_local_ports(text: str) -> str:
            return text.replace("127.0.0.1:8080", address[1]).replace(":2222", f":{ssh_port}")

        author = {
            f"GIT_{role}_{field}": "tour@localhost" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")
        }
        for _ in range(2):  # The tour can be repeated.
            done = subprocess.run(
                ["sh", "-c", STRICT + with_local_ports(tour)],
                env=environment(GIT_CONFIG_GLOBAL="/dev/null", GIT_TERMINAL_PROMPT="0", TMPDIR=str(tmp_path), **author),
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            assert "# Hello\nGood morning!\n" in done.stdout
            assert '"state":"merged"' in done.stdout
            assert 'rel="next"' in done.stdout

        names = subprocess.run(
            [sys.executable, "-c", with_local_ports(python)], capture_output=True, text=True, check=True
        )
        assert "'root'" in names.stdout and "'ada-" in names.stdout
        assert httpx.get(f"http://{address[1]}/api/v4/docs").status_code == 200
        assert httpx.get(f"http://{address[1]}/api/v4/openapi.json").json()["openapi"].startswith("3.1")
    assert not Path(data[1]).exists()


def test_the_test_server_listens_at_its_printed_address(tmp_path: Path) -> None:
    (command,) = blocks("Use Ingot in your tests", "sh")
    # The shell is the parent of the server, and replaces itself with it.
    with started(command.replace(" --die-with-parent", ""), tmp_path):
        ready = json.loads(until("the report", lambda: _text(tmp_path / "ready.json")))
        user = httpx.get(f"{ready['url']}/api/v4/user", headers={"PRIVATE-TOKEN": ready["token"]}, timeout=60)
        assert user.json()["username"] == "root"
        secret = {"X-Ingot-Testing": ready["testing_secret"]}
        assert httpx.post(f"{ready['url']}/-/testing/reset", headers=secret, timeout=60).status_code == 204


def test_the_examples_of_the_testing_page_run(tmp_path: Path) -> None:
    """The example of the class runs as it is, and the server accepts the description."""
    text = (ROOT / "docs" / "testing.md").read_text()
    example = next(block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "Server(" in block)
    description = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[0]
    seeded = f"\nwith Server() as server:\n    server.seed({description!r})\n"
    words = [sys.executable, "-c", example + seeded]
    done = subprocess.run(
        words, cwd=tmp_path, env=environment(PYTHONPATH=str(ROOT)), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def _text(file: Path) -> str | None:
    return file.read_text() if file.exists() else None
