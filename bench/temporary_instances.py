"""Servers for tests of other programs: cost of a start, memory, and time of a reset."""

import os
import statistics
import subprocess
import sys
import time
import urllib.request
from typing import NamedTuple

from bench.process import cpu_seconds, proportional_memory
from pytest_ingot import Server

_ROUNDS = 3
_SMALL = {"projects": [{"path": f"project-{number}", "issues": [{"title": "One"}]} for number in range(5)]}


class TemporaryServerFigures(NamedTuple):
    """Medians of a few starts."""

    start_seconds: float
    """Processor time until the first response of the API."""
    empty_seconds: float
    """Processor time of an interpreter that does nothing."""
    megabytes: float
    reset_milliseconds: float


def test_server_figures() -> TemporaryServerFigures:
    """Start servers, and reset one between small amounts of data."""
    rounds = [_measure() for _ in range(_ROUNDS)]
    return TemporaryServerFigures(*(statistics.median(values) for values in zip(*rounds, strict=True)))


def _measure() -> TemporaryServerFigures:
    empty = _empty_interpreter_seconds()
    with Server() as server:
        request = urllib.request.Request(f"{server.api_url}/version", headers={"PRIVATE-TOKEN": server.token})
        with urllib.request.urlopen(request, timeout=60) as response:
            response.read()
        used, megabytes = cpu_seconds(server.pid), proportional_memory(server.pid) / 1024
        resets = []
        for _ in range(5):
            server.seed(_SMALL)
            started = time.perf_counter()
            server.reset()
            resets.append(1000 * (time.perf_counter() - started))
    return TemporaryServerFigures(used, empty, megabytes, statistics.median(resets))


def _empty_interpreter_seconds() -> float:
    before = os.times()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system
