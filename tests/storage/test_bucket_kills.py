"""Killing all processes of a server during pushes to repositories in a bucket."""

import os
import random
import shutil
import subprocess
import time
from pathlib import Path

from tests.faults.push_remote import git_processes, kill_git
from tests.faults.test_kill_push import Pusher
from tests.server.process import Server, until
from tests.storage.repositories_in_bucket import STORAGE, bucket_settings
from tests.storage.s3_server import S3Server

ROUNDS = int(os.environ.get("INGOT_SOAK_ROUNDS", "2"))
SIZE = 200_000


def test_killed_during_pushes(stopped: Server, s3: S3Server, tmp_path: Path) -> None:
    """Acknowledged pushes survive, others happened or not; also when the copies of the machine are lost."""
    chosen = {f"INGOT_{name.upper()}": value for name, value in bucket_settings(s3, f"kill-{time.time_ns()}").items()}
    dice = random.Random(int(os.environ.get("INGOT_SOAK_SEED", "1")))
    server = stopped.start(**chosen)
    weights = {"repository_storages_weighted": {STORAGE: 100, "default": 0}}
    assert server.call("PUT", "/application/settings", json=weights).status_code == 200
    pushers = [Pusher(server, way, tmp_path / way) for way in ("http", "ssh")]
    started = time.monotonic()
    for ended in [pusher.begin(SIZE) for pusher in pushers]:
        ended.communicate(timeout=60)
        assert ended.returncode == 0
    length = time.monotonic() - started
    for pusher in pushers:
        pusher.check(0, b"")
    for number in range(ROUNDS):
        pushing = [pusher.begin(SIZE if number % 2 else 2000) for pusher in pushers]
        try:
            pushing[0].wait(length * dice.random())
        except subprocess.TimeoutExpired:
            pass
        server.kill()
        kill_git(server)
        said = [each.communicate(timeout=60)[0] for each in pushing]
        until("the end of git", lambda: not git_processes(server), 120)
        if dice.random() < 0.5:
            for copies in ("cache/repositories", "run/copies"):
                shutil.rmtree(server.data / copies)
        server.start(**chosen)
        for pusher, process, words in zip(pushers, pushing, said, strict=True):
            pusher.check(process.returncode, words)
    shutil.rmtree(server.data / "cache" / "repositories")
    for pusher in pushers:
        clone = tmp_path / f"clone-{pusher.remote.way}"
        pusher.tree.git("clone", "-q", pusher.remote.url, str(clone), env=pusher.remote.env)
        subprocess.run(["git", "fsck", "--full", "--strict"], cwd=clone, check=True, capture_output=True)
        tip = subprocess.run(["git", "rev-parse", "HEAD"], cwd=clone, check=True, capture_output=True, text=True)
        assert tip.stdout.strip() == pusher.tip
