"""Prometheus metrics of the queue."""

import re
from functools import partial

import httpx

from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.jobs.admin import delete_job
from ingot.core.jobs.queue import count_failure, enqueue
from ingot.core.jobs.tables import jobs
from tests.conftest import Instance


def _numbers(instance: Instance) -> dict[str, float]:
    text = httpx.get(f"{instance.url}/-/metrics").text
    return {name: float(value) for name, value in re.findall(r"^(ingot_jobs\S+) (\S+)$", text, re.MULTILINE)}


def test_depth_age_and_failures_are_current(instance: Instance) -> None:
    instance.work()
    before = _numbers(instance)
    assert before["ingot_jobs_oldest_seconds"] < 7200
    database = instance.app.database

    def enqueue_in(db: Connection, hours: int) -> int:
        return enqueue(db, "metered", 1, add_duration(db.now, hours=hours))

    overdue, coming, dead = (database.write(partial(enqueue_in, hours=hours)) for hours in (-2, 2, 0))
    database.write(lambda db: db.update(jobs, dead, state="dead"))
    database.write(lambda db: count_failure(db, "metered"))
    try:
        now = _numbers(instance)
    finally:
        for job_id in (overdue, coming, dead):
            database.write(partial(delete_job, job_id=job_id))
    assert now["ingot_jobs_waiting"] - before["ingot_jobs_waiting"] == 2
    assert now["ingot_jobs_dead"] - before["ingot_jobs_dead"] == 1
    assert 7200 <= now["ingot_jobs_oldest_seconds"] < 7260
    failures = 'ingot_jobs_failures_total{kind="metered"}'
    assert now[failures] - before.get(failures, 0) == 1
