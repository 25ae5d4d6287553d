"""Killing a process with SIGKILL at each of its file system calls in turn."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ingot.git.maintenance.store import new_key

ROOT = Path(__file__).parents[2]
# It forks for each step, because starting Python each time would take most of the time.
_SCRIPT = """
import os, signal, sys
from pathlib import Path
from ingot.git.maintenance.store import RepositoryStore
store = RepositoryStore(Path(sys.argv[1]))
for line in sys.stdin:
    step, key = line.split()
    left = int(step)
    def hook(event, args):
        global left
        if event in ("os.mkdir", "open", "os.rename", "os.link", "subprocess.Popen"):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    pid = os.fork()
    if pid == 0:
        sys.addaudithook(hook)
        exec(sys.argv[2])
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


def killed_at_each_step(root: Path, statement: str) -> Iterator[str]:
    """Run a statement on ``store`` and ``key`` repeatedly, killed one step later each time, until it completes.

    Yield the key after each run, including the last, complete one.
    """
    with subprocess.Popen(
        [sys.executable, "-c", _SCRIPT, str(root), statement],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as helper:
        assert helper.stdin
        assert helper.stdout
        step, status = 0, -signal.SIGKILL
        while status == -signal.SIGKILL:
            step += 1
            key = new_key()
            helper.stdin.write(f"{step} {key}\n")
            helper.stdin.flush()
            status = int(helper.stdout.readline())
            yield key
        assert status == 0
