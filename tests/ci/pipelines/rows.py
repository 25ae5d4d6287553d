"""Pipelines and runners that tests write to the database directly."""

import secrets
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec

from ingot.ci.job_records.queries import job_by_id, jobs_of_pipeline, lock_job
from ingot.ci.job_records.tables import CiJob, JobOptions, ci_jobs
from ingot.ci.pipelines.processing import finish_job, process_pipeline, start_job
from ingot.ci.runners.tables import Runner, runners
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.pipelines.queries import find_pipeline, lock_project, next_iid
from ingot.pipelines.tables import Pipeline, commit_statuses, pipelines
from tests.client import Make
from tests.factories import Project, make_project

T = TypeVar("T")
SHA = "a" * 40


class PipelineRows:
    """A pipeline whose jobs are given as ``name stage when? optional? needs=a,b group=name``."""

    def __init__(self, make: Make, *jobs: str, options: dict[str, JobOptions] | None = None, **columns: Any) -> None:
        self.database: Database = make.database
        project = columns.pop("project", None)
        self.project: Project = project or make_project(make)
        self.runner = self.write(_insert_runner)
        self.id = self.write(lambda db: _insert_pipeline(db, self.project.id, jobs, options or {}, columns))

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run work in a transaction."""
        return self.database.write(work)

    def process(self) -> None:
        """Process the pipeline."""
        self.write(lambda db: process_pipeline(db, self.id))

    def job(self, name: str) -> CiJob:
        """Return the newest attempt of a job."""
        return next(job for job in self.jobs() if job.name == name)

    def jobs(self) -> list[CiJob]:
        """Return the newest attempts of all jobs."""
        return self.database.read(lambda db: jobs_of_pipeline(db, self.id))

    def pipeline(self) -> Pipeline:
        """Return the row of the pipeline."""
        return self.database.read(lambda db: find_pipeline(db, self.project.id, self.id))

    def statuses(self) -> str:
        """Return the statuses of the jobs and, last, of the pipeline."""
        return " ".join([*(job.status for job in self.jobs()), self.pipeline().status])

    def start(self, name: str, **options: Any) -> str:
        """Let the runner take a job; return the job's token."""
        return self.write(lambda db: start_job(db, _locked(db, self.job(name).id), self.runner, **options))

    def finish(self, name: str, status: Any = "success", **result: Any) -> None:
        """Let the runner take a job, unless it runs, and report its end."""
        if self.job(name).status == "pending":
            self.start(name)
        self.write(lambda db: finish_job(db, _locked(db, self.job(name).id), status, **result))


def _locked(db: Connection, job_id: int) -> CiJob:
    job = lock_job(db, job_id)
    assert job is not None
    return job


def _insert_runner(db: Connection) -> Runner:
    token = secrets.token_hex(20)
    runner_id = db.insert(
        runners,
        runner_type="instance_type",
        description="runner of a test",
        created_by_user=False,
        sealed_token=db.vault.seal(token),
        token_digest=db.vault.digest(token),
        active=True,
        locked=False,
        run_untagged=True,
        access_level="not_protected",
        tags="[]",
        created_at=db.now,
        updated_at=db.now,
    )
    found = db.first(Runner, runners.select().where(runners.c.id == runner_id))
    assert found is not None
    return found


def _insert_pipeline(
    db: Connection, project_id: int, jobs: tuple[str, ...], options: dict[str, JobOptions], columns: dict[str, Any]
) -> int:
    lock_project(db, project_id)
    pipeline_id = db.insert(
        pipelines,
        **{
            "iid": next_iid(db, project_id),
            "project_id": project_id,
            "sha": SHA,
            "ref": "main",
            "tag": False,
            "source": "push",
            "status": "created",
            "created_at": db.now,
            "updated_at": db.now,
            **columns,
        },
    )
    for text in jobs:
        _insert_job(db, project_id, pipeline_id, text, options)
    return pipeline_id


def _values(words: list[str], key: str) -> Iterator[str]:
    return (word.partition("=")[2] for word in words if word.startswith(f"{key}="))


def _insert_job(db: Connection, project_id: int, pipeline_id: int, text: str, options: dict[str, JobOptions]) -> None:
    name, stage, *words = text.split()
    kinds = ("on_failure", "always", "manual", "delayed")
    job_id = db.insert(
        commit_statuses,
        pipeline_id=pipeline_id,
        name=name,
        stage=f"stage {stage}",
        status="created",
        allow_failure="optional" in words,
        retried=False,
        created_at=db.now,
        updated_at=db.now,
    )
    needs = next((tuple(filter(None, names.split(","))) for names in _values(words, "needs")), None)
    db.insert(
        ci_jobs,
        id=job_id,
        project_id=project_id,
        stage_index=int(stage),
        run_when=next((word for word in words if word in kinds), "on_success"),
        needs=None if needs is None else msgspec.json.encode(needs).decode(),
        options=msgspec.json.encode(options.get(name, JobOptions())).decode(),
        variables="[]",
        tags="[]",
        protected=False,
        interruptible="interruptible" in words,
        resource_group=next(_values(words, "group"), None),
        environment=next(_values(words, "environment"), None),
        cancel_gracefully=False,
    )


def existing_job(database: Database, job_id: int) -> CiJob:
    """Return a job by id."""
    job = database.read(lambda db: job_by_id(db, job_id))
    assert job is not None
    return job
