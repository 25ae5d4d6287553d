"""Runners: idle polls, picks from a long queue, the delay of a held poll, and appending to traces."""

import asyncio
import json
import secrets
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import httpx
import uvloop

from bench.load import get, send_load, send_streams
from bench.process import cpu_seconds
from bench.repositories import Measurement
from bench.user_data import TOKEN
from ingot.ci.job_records.tables import JobOptions, ci_jobs, ci_queue
from ingot.ci.runners.tables import runners
from ingot.ci.traces.store import TraceStore
from ingot.core.api.responses import encode
from ingot.core.db.connection import Connection
from ingot.core.settings import Settings
from ingot.pipelines.tables import commit_statuses, pipelines
from ingot.server.app import open_database

RUNNERS = 1_000
POLL_SECONDS = 3.0
POLL_ROUNDS = 4
_HELD_SECONDS = 60
PROJECTS, JOBS_EACH = 100, 100
SINGLE_PICKS = 500
CONCURRENT_RUNNERS = 20
HELD_ROUNDS = 15
APPENDED = b"x" * 4095 + b"\n"
LONG_TRACE_BYTES = 100 * 2**20
TRACES = 8
_SHA = "a" * 40
_INFO = {"name": "gitlab-runner", "version": "17.9.3", "platform": "linux", "features": {"refspecs": True}}


class FilledQueue(NamedTuple):
    """Tokens of idle runners, and the token of a runner for which there are pending jobs."""

    idle: list[str]
    busy: str


def fill_runners(settings: Settings, port: int) -> FilledQueue:
    """Add runners, and pending jobs of many projects."""
    with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v4", headers={"PRIVATE-TOKEN": TOKEN}) as client:
        names = (f"built-{number}" for number in range(PROJECTS))
        project_ids = [client.post("/projects", json={"name": name}).json()["id"] for name in names]
    database = open_database(settings)
    idle = [secrets.token_hex(10) for _ in range(RUNNERS)]
    busy = secrets.token_hex(10)
    # Idle runners accept no job of the queue.
    database.write(lambda db: [_add_runner(db, token, tags='["other"]', run_untagged=False) for token in idle])
    database.write(lambda db: _add_runner(db, busy, tags="[]", run_untagged=True))
    for project_id in project_ids:
        database.write(partial(_add_jobs, project_id=project_id))
    database.close()
    return FilledQueue(idle, busy)


def _add_runner(db: Connection, token: str, *, tags: str, run_untagged: bool) -> int:
    return db.insert(
        runners,
        runner_type="instance_type",
        description="runner",
        created_by_user=False,
        sealed_token=db.vault.seal(token),
        token_digest=db.vault.digest(token),
        active=True,
        locked=False,
        run_untagged=run_untagged,
        access_level="not_protected",
        tags=tags,
        created_at=db.now,
        updated_at=db.now,
    )


def _add_jobs(db: Connection, project_id: int) -> None:
    times = {"created_at": db.now, "updated_at": db.now}
    pipeline_id = db.insert(
        pipelines,
        iid=1,
        project_id=project_id,
        user_id=1,
        sha=_SHA,
        ref="master",
        tag=False,
        source="push",
        status="pending",
        **times,
    )
    options = encode(JobOptions(script=("true",))).decode()
    for number in range(JOBS_EACH):
        job_id = db.insert(
            commit_statuses,
            pipeline_id=pipeline_id,
            user_id=1,
            name=f"job {number}",
            stage="test",
            status="pending",
            allow_failure=False,
            retried=False,
            **times,
        )
        db.insert(
            ci_jobs,
            id=job_id,
            project_id=project_id,
            stage_index=0,
            run_when="on_success",
            options=options,
            variables="[]",
            tags="[]",
            protected=False,
            interruptible=False,
            queued_at=db.now,
            cancel_gracefully=False,
        )
        db.insert(ci_queue, job_id=job_id, project_id=project_id, tags="[]", protected=False, queued_at=db.now)


def measure_runners(
    settings: Settings, port: int, pid: int, filled: FilledQueue, seconds: float
) -> Iterator[Measurement]:
    """Measure idle polls as a part of a core, picks in milliseconds, and appending to traces as a share of F1."""
    share = uvloop.run(_idle_share(port, pid, filled.idle))
    yield Measurement("1,000 idle runners, answered at once, %", 100 * share, "", True, "not the default")
    jobs, times = uvloop.run(_pick_all(port, filled.busy))
    late = sorted(times[:SINGLE_PICKS])[int(0.95 * SINGLE_PICKS)] * 1000
    median = statistics.median(times[:SINGLE_PICKS]) * 1000
    yield Measurement("pick of 10,000 jobs, p95, ms", late, "<= 20", late <= 20, f"median {median:.1f}")
    twice = sum(count - 1 for count in Counter(job["id"] for job in jobs).values())
    rest = times[SINGLE_PICKS:]
    note = f"{len(jobs)} jobs, {len(rest) / sum(rest) * CONCURRENT_RUNNERS:.0f} a second"
    complete = twice == 0 and len(jobs) == PROJECTS * JOBS_EACH
    yield Measurement("jobs that two runners got", twice, "0", complete, note)
    yield from _measure_traces(settings, port, jobs, seconds)


def _post(path: str, body: dict[str, Any]) -> bytes:
    content = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(content)}"
    )
    return head.encode() + b"\r\n\r\n" + content


def _poll(token: str, last_update: str | None = None) -> bytes:
    body = {"token": token, "info": _INFO, "system_id": "s_1"}
    return _post("/api/v4/jobs/request", body if last_update is None else {**body, "last_update": last_update})


class _Client:
    """A connection that sends one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, request: bytes) -> tuple[int, dict[str, str], bytes]:
        """Return the status, headers and body of the response."""
        self._writer.write(request)
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await self._reader.readexactly(int(headers.get("content-length", 0)))
        return int(head[0].split()[1]), headers, body


async def _connect(port: int) -> _Client:
    return _Client(*await asyncio.open_connection("127.0.0.1", port))


async def _idle_share(port: int, pid: int, tokens: list[str]) -> float:
    """Return the processor time of the server per second while idle runners poll."""
    started = asyncio.Event()
    ready = 0

    async def run(number: int, token: str) -> None:
        nonlocal ready
        client = await _connect(port)
        _, headers, _ = await client.send(_poll(token))
        request = _poll(token, headers["x-gitlab-last-update"])
        await client.send(request)
        ready += 1
        await started.wait()
        await asyncio.sleep(POLL_SECONDS * number / len(tokens))
        for _ in range(POLL_ROUNDS):
            sent_at = time.monotonic()
            status, _, _ = await client.send(request)
            assert status == 204
            await asyncio.sleep(max(0.0, sent_at + POLL_SECONDS - time.monotonic()))

    tasks = [asyncio.ensure_future(run(number, token)) for number, token in enumerate(tokens)]
    while ready < len(tokens):
        await asyncio.sleep(0.1)
    await asyncio.sleep(5)  # Their contacts have been stored.
    used, began = cpu_seconds(pid), time.monotonic()
    started.set()
    await asyncio.sleep(POLL_SECONDS * POLL_ROUNDS)
    share = (cpu_seconds(pid) - used) / (time.monotonic() - began)
    await asyncio.gather(*tasks)
    return share


async def _pick_all(port: int, token: str) -> tuple[list[dict[str, Any]], list[float]]:
    """Take all jobs, the first ones one after the other, then by concurrent runners; return the times too."""
    jobs: list[dict[str, Any]] = []
    times: list[float] = []

    async def pick(client: _Client) -> bool:
        sent_at = time.perf_counter()
        status, _, body = await client.send(_poll(token))
        if status == 201:
            times.append(time.perf_counter() - sent_at)
            jobs.append(json.loads(body))
        return status != 204

    first = await _connect(port)
    for _ in range(SINGLE_PICKS):
        await pick(first)

    async def pick_rest() -> None:
        client = await _connect(port)
        while await pick(client):
            pass

    await asyncio.gather(*(pick_rest() for _ in range(CONCURRENT_RUNNERS)))
    return jobs, times


def _parts(job: dict[str, Any], offset: int) -> Iterator[bytes]:
    """Yield requests that append to the trace of a job."""
    while True:
        head = (
            f"PATCH /api/v4/jobs/{job['id']}/trace HTTP/1.1\r\nHost: 127.0.0.1\r\nJob-Token: {job['token']}\r\n"
            f"Content-Type: text/plain\r\nContent-Range: {offset}-{offset + len(APPENDED) - 1}\r\n"
            f"Content-Length: {len(APPENDED)}\r\n\r\n"
        )
        yield head.encode() + APPENDED
        offset += len(APPENDED)


def _measure_traces(settings: Settings, port: int, jobs: list[dict[str, Any]], seconds: float) -> Iterator[Measurement]:
    store = TraceStore(settings.data / "traces")
    for job in jobs[TRACES : 2 * TRACES]:
        store.replace(job["id"], b"y" * LONG_TRACE_BYTES)
    base = send_load(port, [get("/api/v4/bench")], seconds).per_second
    short = send_streams(port, [_parts(job, 0) for job in jobs[:TRACES]], seconds).per_second
    long_traces = [_parts(job, LONG_TRACE_BYTES) for job in jobs[TRACES : 2 * TRACES]]
    long = send_streams(port, long_traces, seconds).per_second
    yield Measurement("append 4 kB to a trace / F1", short / base, ">= 0.15", short >= 0.15 * base, f"{short:.0f}/s")
    yield Measurement("append at 100 MB / at 0", long / short, ">= 0.90", long >= 0.9 * short)


def measure_idle_runners(port: int, pid: int, tokens: list[str]) -> Iterator[Measurement]:
    """Measure idle polls with the default settings, which hold them, as a part of a core."""
    share = uvloop.run(_held_share(port, pid, tokens))
    yield Measurement("1,000 idle runners, % of a core", 100 * share, "<= 15", share <= 0.15)


async def _held_share(port: int, pid: int, tokens: list[str]) -> float:
    """Return the processor time of the server per second while runners poll again 3 seconds after each response."""
    started = asyncio.Event()

    async def run(number: int, token: str) -> None:
        client = await _connect(port)
        _, headers, _ = await client.send(_poll(token))
        started_at = POLL_SECONDS * number / len(tokens)
        await started.wait()
        await asyncio.sleep(started_at)
        while True:
            _, headers, _ = await client.send(_poll(token, headers["x-gitlab-last-update"]))
            await asyncio.sleep(POLL_SECONDS)

    tasks = [asyncio.ensure_future(run(number, token)) for number, token in enumerate(tokens)]
    await asyncio.sleep(10)  # All are connected, and their contacts have been stored.
    used, began = cpu_seconds(pid), time.monotonic()
    started.set()
    await asyncio.sleep(_HELD_SECONDS)
    share = (cpu_seconds(pid) - used) / (time.monotonic() - began)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return share


def measure_held_polls(port: int) -> Iterator[Measurement]:
    """Measure the time from the response to a push until a waiting runner has the job."""
    url, headers = f"http://127.0.0.1:{port}/api/v4", {"PRIVATE-TOKEN": TOKEN}
    delays = []
    with httpx.Client(base_url=url, headers=headers, timeout=60) as client, httpx.Client(base_url=url) as runner:
        project_id = client.post("/projects", json={"name": "held", "shared_runners_enabled": False}).json()["id"]
        created = {"runner_type": "project_type", "project_id": project_id}
        token = client.post("/user/runners", json=created).json()["token"]
        commits = f"/projects/{project_id}/repository/commits"
        config = {"action": "create", "file_path": ".gitlab-ci.yml", "content": '{"job": {"script": "true"}}'}
        client.post(commits, json={"branch": "master", "commit_message": "ci", "actions": [config]})
        while runner.post("/jobs/request", json={"token": token}).status_code == 201:
            pass
        for number in range(HELD_ROUNDS):
            version = runner.post("/jobs/request", json={"token": token}).headers["x-gitlab-last-update"]
            answers: list[tuple[int, float]] = []
            sent = {"token": token, "last_update": version}

            def poll(sent: dict[str, str] = sent, answers: list[tuple[int, float]] = answers) -> None:
                status = runner.post("/jobs/request", json=sent, timeout=60).status_code
                answers.append((status, time.perf_counter()))

            thread = threading.Thread(target=poll)
            thread.start()
            time.sleep(0.3)
            file = {"action": "create", "file_path": f"file-{number}", "content": "x"}
            client.post(commits, json={"branch": "master", "commit_message": "x", "actions": [file]})
            pushed_at = time.perf_counter()
            thread.join()
            ((status, picked_at),) = answers
            assert status == 201
            delays.append(max(0.0, picked_at - pushed_at) * 1000)
    delay = statistics.median(delays)
    yield Measurement("held runner gets a job, ms", delay, "<= 50", delay <= 50, f"slowest {max(delays):.1f}")
