"""Garbage collection of a server's processes."""

import subprocess
import sys

PROGRAM = """
import gc, weakref
from ingot.server.allocator import begin_collecting

class Cycle:
    def __init__(self):
        self.itself = self

found = 0

def count(_):
    global found
    found += 1

begin_collecting()
"""
YOUNG = f"""{PROGRAM}
references = [weakref.ref(Cycle(), count) for _ in range(8_000)]
print(found)
"""
OLD = f"""{PROGRAM}
cycle = Cycle()
reference = weakref.ref(cycle, count)
gc.collect(0)
gc.collect(1)
del cycle
objects = [[] for _ in range(250_000)]
print(found)
"""


def _found(program: str) -> int:
    return int(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)


def test_garbage_is_found_after_a_few_thousand_objects() -> None:
    """Otherwise a process with little work holds megabytes of it."""
    assert _found(YOUNG) > 0


def test_garbage_among_old_objects_is_found() -> None:
    """Statements that a cache has evicted are among them."""
    assert _found(OLD) == 1
