"""The schema of a process."""

import subprocess
import sys

CONCURRENT_LOADS = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from ingot.graphql.schema_loader import load_schema

started = Barrier(4)

def load():
    started.wait()
    return load_schema()

with ThreadPoolExecutor(4) as pool:
    schemas = [future.result() for future in [pool.submit(load) for _ in range(4)]]
print(len({id(schema) for schema in schemas}))
"""


def test_concurrent_first_queries_build_one_schema() -> None:
    """A process that was just started is needed: this one may have its schema already."""
    loaded = subprocess.run([sys.executable, "-c", CONCURRENT_LOADS], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "1"
