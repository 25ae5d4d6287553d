"""Packages: upload and download of a large file, as a share of the same transfer without storage.

The upload without storage computes the digest too, which takes most of the time on a processor without instructions
for it.
"""

import http.client
import os
import statistics
import time
from collections.abc import Callable, Iterator

from bench.repositories import Measurement
from bench.user_data import TOKEN

FILE_BYTES = 50 * 2**20
REPETITIONS = 9
_HEADERS = {"PRIVATE-TOKEN": TOKEN}
_TRANSFER = "/api/v4/bench/transfer"


def measure_packages(port: int) -> Iterator[Measurement]:
    """Measure a generic package of 50 MiB; the repetitions of both transfers alternate."""
    content = os.urandom(FILE_BYTES)
    made = _call(port, "POST", "/api/v4/projects?name=packaged", b"")
    package = f"/api/v4/projects/{made.decode().partition(':')[2].partition(',')[0]}/packages/generic/large"
    numbers = iter(range(2 * REPETITIONS))

    def seconds(work: Callable[[], object]) -> float:
        started = time.perf_counter()
        work()
        return time.perf_counter() - started

    for name, plain, stored in (
        (
            "upload",
            lambda: _call(port, "POST", _TRANSFER, content),
            lambda: _call(port, "PUT", f"{package}/{next(numbers)}/file", content),
        ),
        ("download", lambda: _call(port, "GET", _TRANSFER), lambda: _call(port, "GET", f"{package}/0/file")),
    ):
        times = [(seconds(plain), seconds(stored)) for _ in range(REPETITIONS)]
        base, measured = (statistics.median(column) for column in zip(*times, strict=True))
        note = f"{FILE_BYTES / measured / 2**20:.0f} MiB/s"
        share = base / measured
        yield Measurement(f"{name} of a package / without storage", share, ">= 0.70", share >= 0.70, note)


def _call(port: int, method: str, path: str, body: bytes | None = None) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request(method, path, body, _HEADERS)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path} answered {answer.status}: {content[:200]!r}")
        return content
    finally:
        connection.close()
