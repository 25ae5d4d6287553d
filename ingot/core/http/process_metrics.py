"""Metrics of the server's processes: the supervisor lists them in a file, and a scrape reads ``/proc``."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

_PROC = Path("/proc")
_CPU_FIELDS = slice(11, 13)
"""Time in user and in kernel mode, counted from the field after the name of the program."""
_PSS = re.compile(rb"^Pss: +(\d+) kB", re.MULTILINE)


def list_processes(file: Path, pids: Mapping[str, int]) -> None:
    """Write the names and ids of the processes that run."""
    fresh = file.with_suffix(".fresh")
    with suppress(OSError):  # Neither a full disk nor a removed directory stops a supervisor.
        fresh.write_text("".join(f"{name} {pid}\n" for name, pid in pids.items()))
        fresh.replace(file)


def process_families(file: Path) -> Iterator[Any]:
    """Yield the figures of the listed processes that still run; without a list, those of this process alone."""
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    if not (_PROC / "self" / "stat").exists():
        return
    cpu = CounterMetricFamily("ingot_process_cpu_seconds", "Processor time of a process", labels=["process"])
    memory = GaugeMetricFamily(
        "ingot_process_memory_bytes", "Memory of a process with its share of common memory", labels=["process"]
    )
    files = GaugeMetricFamily("ingot_process_open_files", "Files and sockets that a process holds", labels=["process"])
    for name, pid in _listed(file):
        with suppress(OSError):  # It has ended.
            folder = _PROC / str(pid)
            cpu.add_metric([name], _cpu_seconds(folder))
            memory.add_metric([name], _memory_bytes(folder))
            files.add_metric([name], sum(1 for _ in (folder / "fd").iterdir()))
    yield from (cpu, memory, files)


def _listed(file: Path) -> list[tuple[str, int]]:
    try:
        lines = file.read_text().splitlines()
    except FileNotFoundError:
        return [("web", os.getpid())]
    return [(name, int(pid)) for name, pid in map(str.split, lines)]


def _cpu_seconds(folder: Path) -> float:
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[_CPU_FIELDS])) / os.sysconf("SC_CLK_TCK")


def _memory_bytes(folder: Path) -> int:
    """Return the proportional set size: what several processes share counts in each of them by its share."""
    found = _PSS.search((folder / "smaps_rollup").read_bytes())
    return int(found[1]) * 1024 if found else 0
