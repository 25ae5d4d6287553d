"""Processor time per call of this version against that of another commit, on equal data and in alternating rounds."""

import argparse
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from bench.chart import ratio_chart
from bench.compare_calls import ComparedCall, compared_calls
from bench.compare_data import FilledServer, fill_compared
from bench.load import send_streams
from bench.pages import PASSWORD
from bench.process import RunningServer, precise_cpu_seconds, running_server, tree_memory
from bench.user_data import TOKEN

_CONNECTIONS = 4
_IDLE_SECONDS = 10.0


def installed_version(commit: str) -> Path:
    """Install a commit below ``build`` unless it is there; return the path of its ``ingot``."""
    commit = _output("git", "rev-parse", f"{commit}^{{commit}}")
    folder = Path("build/compare", commit)
    command = folder / ".venv/bin/ingot"
    if not command.exists():
        folder.mkdir(parents=True, exist_ok=True)
        archive = subprocess.Popen(["git", "archive", commit], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", folder], stdin=archive.stdout, check=True)
        subprocess.run(["sh", "scripts/setup", "requirements.lock"], cwd=folder, check=True)
    return command.absolute()


def main() -> None:
    """Compare this version with a commit."""
    parser = argparse.ArgumentParser(prog="make bench-compare")
    parser.add_argument("base", help="commit, or the path of an installed ingot")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--chart", type=Path, help="write the ratios to this SVG file")
    parser.add_argument("--calls", default="", help="measure only calls whose names contain one of these, with commas")
    arguments = parser.parse_args()
    chosen = [
        call for call in compared_calls() if any(part in call.name for part in arguments.calls.lower().split(","))
    ]
    base = Path(arguments.base) if "/" in arguments.base else installed_version(arguments.base)
    own = Path(sys.executable).parent / "ingot"
    with tempfile.TemporaryDirectory() as folder:
        found = compare_versions(Path(folder), {"base": base, "this": own}, chosen, arguments.rounds)
    if arguments.chart:
        note = f"This version divided by {arguments.base}; shorter is faster"
        arguments.chart.write_text(ratio_chart("Processor time per call", note, list(found.items())))


def compare_versions(
    folder: Path, commands: dict[str, Path], calls: list[ComparedCall], rounds: int
) -> dict[str, float]:
    """Fill a server of each version, measure all calls, and print the table; return the ratio of each call."""
    filled = {}
    environment = {"INGOT_ROOT_TOKEN": TOKEN, "INGOT_ROOT_PASSWORD": PASSWORD}
    for name, command in commands.items():
        print(f"filling {name}", flush=True)
        with running_server(folder / name, command=command, environment=environment) as server:
            filled[name] = fill_compared(server.port)
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(running_server(folder / name, command=command))
            for name, command in commands.items()
        }
        _print_row("start, processor seconds", *(sum_cpu(servers[name]) for name in commands))
        ratios: defaultdict[str, list[float]] = defaultdict(list)
        ratio_of_call = {}
        for call in calls:
            times = _measure(call, servers, filled, rounds)
            ratio = _print_row(f"{call.name}, ms", *(times[name] for name in commands))
            if ratio is not None:
                ratios[call.kind].append(ratio)
                ratio_of_call[call.name] = ratio
        _print_row("idle, ms of processor time per s", *_idle_cost(servers).values())
        _print_row("memory after all calls, MiB", *(tree_memory(servers[name].pid) for name in commands))
    ratios["all"] = [ratio for found in list(ratios.values()) for ratio in found]
    for kind, values in ratios.items():
        mean = math.exp(statistics.fmean(map(math.log, values)))
        print(f"{kind:34} geometric mean {mean:.2f}, worst {max(values):.2f}")
    return ratio_of_call


def sum_cpu(server: RunningServer) -> float:
    """Return the processor time of all processes of a server so far."""
    return precise_cpu_seconds(server.pid)


def _idle_cost(servers: dict[str, RunningServer]) -> dict[str, float]:
    """Return the milliseconds of processor time that each server takes per second without requests."""
    before = {name: sum_cpu(server) for name, server in servers.items()}
    time.sleep(_IDLE_SECONDS)
    return {name: 1000 * (sum_cpu(server) - before[name]) / _IDLE_SECONDS for name, server in servers.items()}


def _measure(
    call: ComparedCall, servers: dict[str, RunningServer], filled: dict[str, FilledServer], rounds: int
) -> dict[str, float | None]:
    """Return the least milliseconds of each version, since other programs only add to it; None if the call fails."""
    times: dict[str, list[float]] = {name: [] for name in servers}
    failed = set()
    for round_number in range(rounds + 1):  # The first one warms caches.
        for name, server in servers.items():
            if name in failed:
                continue
            how_many = call.calls if round_number else max(8, call.calls // 5)
            requests = list(islice(call.requests(filled[name]), how_many))
            before = sum_cpu(server)
            try:
                send_streams(server.port, [iter(requests[part::_CONNECTIONS]) for part in range(_CONNECTIONS)])
            except RuntimeError:
                failed.add(name)
                continue
            if round_number:
                times[name].append(1000 * (sum_cpu(server) - before) / how_many)
    return {name: min(values, default=None) for name, values in times.items()}


def _print_row(name: str, base: float | None, own: float | None) -> float | None:
    """Print two figures and their ratio; return the ratio, if both are known."""
    ratio = own / base if base and own else None
    texts = ["-" if value is None else f"{value:.2f}" for value in (base, own, ratio)]
    print(f"{name:34} {texts[0]:>9} {texts[1]:>9} {texts[2]:>7}", flush=True)
    return ratio


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
