"""Memory of a process that has started."""

import subprocess
import sys

RELEASE = """
import hashlib, ssl, pygit2
from pathlib import Path
from ingot.operations.allocator import release_code

def mapped():
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()[1:]
    sizes = {name: int(size) for name, size, *_ in map(str.split, lines)}
    return sizes["Rss:"] - sizes["Anonymous:"]

before = mapped()
release_code()
assert mapped() < before, (before, mapped())
print(hashlib.sha256(b"x").hexdigest()[:8], pygit2.hash(b"x"))
"""


def test_released_code_still_runs() -> None:
    """Libraries are mapped again when they are called."""
    done = subprocess.run([sys.executable, "-c", RELEASE], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "2d711642 c1b0730e0133447badcfd47fd144e254807b06e1\n", done.stderr
