"""Jobs and artifacts: a page of jobs, and the upload, download and single files of a large archive."""

import os
import statistics
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import httpx

from bench.load import get, requests_per_second
from bench.repositories import Measurement
from bench.user_data import TOKEN

BLOBS, SMALL_FILES = 1000, 20_000
JOBS = 30
SINGLE_FILES = 15
_CONFIGURATION = f"build:\n  parallel: {JOBS}\n  script: [make]\n  artifacts: {{paths: [out]}}\n"


class RunningJob(NamedTuple):
    """A job that a runner has taken."""

    project_id: int
    id: int
    token: str


def start_job(port: int) -> RunningJob:
    """Create a project with a pipeline and take one of its jobs."""
    with _client(port) as client:
        client.put("/application/settings", json={"max_artifacts_size": 4096})
        project_id = client.post("/projects", json={"name": "archived"}).json()["id"]
        file = {"branch": "master", "commit_message": "Add CI", "content": _CONFIGURATION}
        client.post(f"/projects/{project_id}/repository/files/.gitlab-ci.yml", json=file).raise_for_status()
        sent = {"runner_type": "project_type", "project_id": project_id, "run_untagged": True}
        runner = client.post("/user/runners", json=sent).json()
        job = client.post("/jobs/request", json={"token": runner["token"]}).json()
    return RunningJob(project_id, job["id"], job["token"])


def measure_artifacts(port: int, pid: int, job: RunningJob, folder: Path, seconds: float) -> Iterator[Measurement]:
    """Measure a page of jobs as a share of F1, memory in MB and single files in milliseconds."""
    page = [get(f"/api/v4/projects/{job.project_id}/jobs", TOKEN)]
    base = requests_per_second(port, [get("/api/v4/bench")], seconds)
    share = requests_per_second(port, page, seconds) / base
    yield Measurement("page of 20 jobs / F1", share, ">= 0.10", share >= 0.10)
    archive = folder / "large.zip"
    size = _write_archive(archive)
    path = f"/projects/{job.project_id}/jobs/{job.id}/artifacts"
    with _client(port) as client:
        for name, transfer in (
            ("upload", lambda: _upload(client, job, archive)),
            ("download", lambda: _download(client, path)),
        ):
            grown, duration = _memory_growth(pid, transfer)
            note = f"{size / duration / 2**20:.0f} MiB/s"
            yield Measurement(f"{name} of 1 GiB, MB more", grown, "<= 32", grown <= 32, note)
        times = [_single_file(client, f"{path}/small/{number % 100}/{number}.txt") for number in range(SINGLE_FILES)]
    median = statistics.median(times) * 1000
    yield Measurement("one file of 1 GiB, ms", median, "<= 50", median <= 50, f"of {BLOBS + SMALL_FILES} files")


def _client(port: int) -> httpx.Client:
    return httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v4", headers={"PRIVATE-TOKEN": TOKEN}, timeout=600)


def _write_archive(file: Path) -> int:
    blob = os.urandom(2**20)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for number in range(BLOBS):
            archive.writestr(f"large/{number}.bin", blob)
        for number in range(SMALL_FILES):
            archive.writestr(f"small/{number % 100}/{number}.txt", b"%d" % number)
    return file.stat().st_size


def _upload(client: httpx.Client, job: RunningJob, archive: Path) -> None:
    def body() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="artifacts.zip"\r\n\r\n'
        with archive.open("rb") as file:
            while chunk := file.read(2**16):
                yield chunk
        yield b"\r\n--b--\r\n"

    headers = {"JOB-TOKEN": job.token, "Content-Type": "multipart/form-data; boundary=b"}
    client.post(f"/jobs/{job.id}/artifacts", content=body(), headers=headers).raise_for_status()


def _download(client: httpx.Client, path: str) -> None:
    with client.stream("GET", path) as answer:
        answer.raise_for_status()
        for _ in answer.iter_raw():
            pass


def _single_file(client: httpx.Client, path: str) -> float:
    started = time.perf_counter()
    client.get(path).raise_for_status()
    return time.perf_counter() - started


def _memory_growth(pid: int, transfer: Callable[[], None]) -> tuple[float, float]:
    """Return the growth of a process's own memory in MB while a transfer runs, and the seconds that it takes."""
    before = highest = _anonymous_megabytes(pid)
    stopped = threading.Event()

    def watch() -> None:
        nonlocal highest
        while not stopped.wait(0.02):
            highest = max(highest, _anonymous_megabytes(pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    started = time.perf_counter()
    try:
        transfer()
    finally:
        duration = time.perf_counter() - started
        stopped.set()
        watcher.join()
    return highest - before, duration


def _anonymous_megabytes(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Anonymous:")) / 1000
