"""Concurrent runners on several nodes: no job is handed out twice."""

import threading
from collections import Counter
from itertools import cycle

from ingot.ci.runner_protocol.assignment import request_job
from ingot.ci.runner_protocol.params import RequestJob
from ingot.core.errors import Conflict, Unavailable
from ingot.projects.projects.api import repository_store
from ingot.server.app import open_database
from tests.ci.runner_client import RunnerClient, RunnerJob, project_runner
from tests.ci.runner_protocol.projects import ci_project, jobs_config
from tests.client import Api, Make
from tests.conftest import Instance

RUNNERS = 20
JOBS = 200


def test_concurrent_runners_never_take_a_job_twice(make: Make, instance: Instance) -> None:
    projects = [ci_project(make, jobs_config(JOBS // 4)) for _ in range(4)]
    runner = project_runner(make, projects[0].id)
    for project in projects[1:]:
        assert make.api.post(f"{project.url}/runners", make.root, runner_id=runner.id).status_code == 201
    nodes = [open_database(instance.settings) for _ in range(2)]
    store = repository_store(instance.settings)
    taken: list[int] = []

    def poll(database_index: int) -> None:
        while True:
            try:
                offer = request_job(nodes[database_index], store, RequestJob(token=runner.token), "http://localhost")
            except (Conflict, Unavailable):
                continue
            if offer.payload is None:
                return
            taken.append(offer.payload.id)

    threads = [threading.Thread(target=poll, args=(index,)) for index, _ in zip(cycle((0, 1)), range(RUNNERS))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for node in nodes:
        node.close()
    assert len(taken) == JOBS
    assert max(Counter(taken).values()) == 1


def test_a_report_and_a_cancellation_at_the_same_time(make: Make, api: Api, instance: Instance) -> None:
    project = ci_project(make, jobs_config(8))
    runner = project_runner(make, project.id)
    jobs = [runner.must_take() for _ in range(8)]

    def finish(job: RunnerJob) -> None:
        with Api(instance.url) as client:
            assert RunnerJob(client, job.payload).finish().status_code == 200

    threads = [threading.Thread(target=finish, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for job in jobs:
        assert api.post(f"{project.url}/jobs/{job.id}/cancel", make.root).status_code in (200, 201, 403)
    for thread in threads:
        thread.join()
    statuses = {job["status"] for job in api.get(f"{project.url}/jobs", make.root).json()}
    assert statuses <= {"success", "canceled"}


def test_two_machines_with_one_token(make: Make, instance: Instance) -> None:
    project = ci_project(make, jobs_config(20))
    runner = project_runner(make, project.id)
    names: list[str] = []

    def work(system_id: str) -> None:
        with Api(instance.url) as client:
            machine = RunnerClient(client, runner.id, runner.token)
            while (answer := machine.poll(system_id=system_id)).status_code == 201:
                names.append(RunnerJob(client, answer.json()).name)

    threads = [threading.Thread(target=work, args=(f"s_{number}",)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(names) == sorted(f"job-{number}" for number in range(20))
