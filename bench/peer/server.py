"""A Gitea or Forgejo server in a new folder, with an administrator and a token."""

import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.process import RunningServer, until_ready

OWNER = "tidewatch"
_CONFIGURATION = """\
APP_NAME = Peer
RUN_MODE = prod
{unsafe}
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = {port}
ROOT_URL = http://127.0.0.1:{port}/
DISABLE_SSH = true
OFFLINE_MODE = true

[database]
DB_TYPE = sqlite3
PATH = {folder}/peer.db
SQLITE_JOURNAL_MODE = WAL

[repository]
ROOT = {folder}/repositories
DEFAULT_BRANCH = master

[security]
INSTALL_LOCK = true
SECRET_KEY = {secret}

[service]
DISABLE_REGISTRATION = true

[indexer]
ISSUE_INDEXER_TYPE = db

[log]
LEVEL = Warn
ROOT_PATH = {folder}/log
"""


class PeerServer(NamedTuple):
    """A running server and the token of its administrator."""

    running: RunningServer
    token: str
    version: str


def configuration(folder: Path, port: int) -> str:
    """Return the text of ``app.ini``: SQLite with a write-ahead log, as here, and nothing that calls the network."""
    # Run as root, for example in a container, it starts only if told so; the key has to precede the sections.
    unsafe = "I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true\n" if os.geteuid() == 0 else ""
    return _CONFIGURATION.format(folder=folder, port=port, secret=secrets.token_hex(32), unsafe=unsafe)


@contextmanager
def running_peer(program: Path, folder: Path) -> Iterator[PeerServer]:
    """Prepare and start a server, for the length of a block."""
    folder.mkdir(parents=True, exist_ok=True)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    settings = folder / "app.ini"
    settings.write_text(configuration(folder, port))
    environment = {**os.environ, "GITEA_WORK_DIR": str(folder), "FORGEJO_WORK_DIR": str(folder), "HOME": str(folder)}

    def run(*words: str) -> str:
        line = [str(program), *words, "--config", str(settings)]
        return subprocess.run(line, env=environment, capture_output=True, text=True, check=True).stdout

    run("migrate")
    person = ("--username", OWNER)
    about = ("--password", secrets.token_hex(12), "--email", f"{OWNER}@example.org", "--must-change-password=false")
    run("admin", "user", "create", "--admin", *person, *about)
    scopes = ("--token-name", "bench", "--scopes", "all", "--raw")
    token = run("admin", "user", "generate-access-token", *person, *scopes).split()[-1]
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    started = time.perf_counter()
    process = subprocess.Popen(
        [program, "web", "--config", settings], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        seconds = until_ready(port, started, "/api/healthz")
        yield PeerServer(RunningServer(process.pid, port, seconds), token, version)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
