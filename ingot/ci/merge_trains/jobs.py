"""Job that moves a merge train on.

It compares the rows of the train with the target branch and the pipelines, and does what is due: build the commits
of a batch, start its pipeline, divide a batch that has failed, remove a car, or merge the first batch. Each step is
stored by one statement on the condition that the cars are as they were read, so the job may be killed at any moment
and may run twice at the same time.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import msgspec

from ingot.ci.merge_trains.batches import TrainBatch, outdated_cars, plan_batches
from ingot.ci.merge_trains.cars import CarRemoved, CarStep, expel
from ingot.ci.pipelines.creation import PipelineRequest, create_pipeline
from ingot.collaboration.merge_requests.merge.perform import PreparedMerge, merge_tested_results
from ingot.collaboration.merge_requests.merge.train_commits import merge_settings
from ingot.collaboration.merge_requests.merge.train_queries import (
    cars_of_train,
    is_merge_unrecorded,
    merge_requests_by_ids,
    train_tip,
)
from ingot.collaboration.merge_requests.merge.train_service import (
    CANCELED,
    TrainOutdated,
    cancel_unused_pipeline,
    discard_pipelines,
    discard_results,
    store_pipeline,
)
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.tables import MergeTrainCar
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Denied, Invalid
from ingot.core.jobs.handlers import RetryLater
from ingot.git.core.repository import Repository
from ingot.git.history.commits import branch_tip
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.merge_request_commits import merge_request_train_ref
from ingot.pipelines.queries import pipelines_by_ids
from ingot.pipelines.tables import Pipeline, Status
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project

_MAX_STEPS = 1_000
_RETRY_SECONDS = 1.0
_FAILED = "The pipeline failed."
_DELETED = "The pipeline was deleted."
_STOPPED: dict[Status, str] = {"canceled": "The pipeline was canceled.", "skipped": "The pipeline was skipped."}


class TrainJob:
    """Moves trains on."""

    def __init__(self, store: RepositoryStore) -> None:
        self._store = store

    def run(self, database: Database, payload: Any) -> None:
        """Run the job for the train into a branch."""
        project_id, branch = msgspec.convert(payload, tuple[int, str])
        for _ in range(_MAX_STEPS):
            try:
                self._pass(database, project_id, branch)
            except CarRemoved as removal:
                database.write(partial(expel, cars=removal.cars, reason=str(removal)))
                continue
            except TrainOutdated:
                continue
            return
        raise RetryLater(_RETRY_SECONDS, "The train keeps changing")

    def _pass(self, database: Database, project_id: int, branch: str) -> None:
        """Do what is due; raise ``TrainOutdated`` if the train must be read again, ``CarRemoved`` if a car leaves."""
        project = database.read(partial(project_or_none, project_id=project_id))
        if project is None or project.namespace_id is None:
            return
        repository = self._store.open(project.repository_key)
        tip = branch_tip(repository, branch)
        cars, pipelines, is_merging = database.read(partial(_read_train, project_id=project_id, branch=branch, tip=tip))
        if branch_tip(repository, branch) != tip:
            raise TrainOutdated
        # The transaction that records the merge enqueues this job again.
        if not cars or is_merging:
            return
        if not project.options.has_merge_trains:
            raise CarRemoved(cars, "Merge trains were disabled.")
        changed = database.read(partial(_with_changed_settings, project=project, cars=cars))
        if changed:
            database.write(partial(discard_results, cars=changed))
            raise TrainOutdated
        base = self._first_base(database, project, cars[0], tip)
        if base is None:
            raise CarRemoved(cars, "The target branch was deleted.")
        size = project.options.merge_trains_batch_size
        batches = plan_batches(cars, pipelines, base, size)
        outdated = outdated_cars(batches)
        if outdated:
            database.write(partial(discard_pipelines, cars=outdated, cancel=True))
            raise TrainOutdated
        for position, batch in enumerate(batches[: project.options.merge_trains_parallel_pipelines]):
            step = _BatchStep(database, self._store, repository, project, batch)
            if batch.was_started:
                step.evaluate(first=position == 0)
                base = batch.cars[-1].commit_oid or base
            elif position == 0 or position + 1 < len(batches) or len(batch.cars) == size:
                base = step.test(base)

    def _first_base(self, database: Database, project: Project, first: MergeTrainCar, tip: str | None) -> str | None:
        """Return the commit that the first car has to be tested on.

        That is the tip of the target, unless only merges that skip the train have moved it since the car was built.
        """
        if tip is None or first.base_oid in (None, tip):
            return tip
        taken = database.read(partial(train_tip, project=project, branch=first.target_branch, tip=tip))
        return taken if taken == first.base_oid else tip


def _read_train(
    db: Connection, project_id: int, branch: str, tip: str | None
) -> tuple[list[MergeTrainCar], dict[int, Pipeline], bool]:
    """Return the cars, their pipelines, and whether the tip is that of a merge which is not recorded yet.

    Between the move of the branch and the transaction that records it, the cars do not match the tip.
    """
    cars = cars_of_train(db, project_id, branch)
    if not cars or tip is None:
        return cars, {}, False
    pipeline_ids = [car.pipeline_id for car in cars if car.pipeline_id is not None]
    return cars, pipelines_by_ids(db, pipeline_ids), is_merge_unrecorded(db, project_id, branch, tip)


def _with_changed_settings(db: Connection, project: Project, cars: Sequence[MergeTrainCar]) -> list[MergeTrainCar]:
    """Return the cars whose commits were built by another merge method, or with another choice of squashing."""
    built = {car.merge_request_id: car for car in cars if car.commit_oid is not None and car.built_by is not None}
    records = merge_requests_by_ids(db, built)
    return [built[each.id] for each in records if built[each.id].built_by != merge_settings(project, each)]


def _half(cars: Sequence[MergeTrainCar]) -> int:
    return (len(cars) + 1) // 2


class _BatchStep:
    """The next step of one batch."""

    def __init__(
        self, database: Database, store: RepositoryStore, repository: Repository, project: Project, batch: TrainBatch
    ) -> None:
        self._database = database
        self._store = store
        self._repository = repository
        self._project = project
        self._batch = batch
        self._steps = [CarStep(database, store, repository, car) for car in batch.cars]

    def evaluate(self, *, first: bool) -> None:
        """Act on the end of the pipeline.

        Only the ``first`` batch can be merged, and only it has failed by itself: one behind it is tested together with
        the cars before it, which may be the reason.
        """
        cars, pipeline = self._batch.cars, self._batch.pipeline
        if pipeline is None:
            raise CarRemoved(cars, _DELETED)
        if pipeline.status in _STOPPED:
            raise CarRemoved(cars, _STOPPED[pipeline.status])
        if first and pipeline.status == "failed":
            self._divide_or_remove(_FAILED)
        if first and pipeline.status == "success":
            self._merge()

    def _divide_or_remove(self, reason: str) -> None:
        """Test the first half of the batch by itself; a single car is removed.

        The pipeline remains that of the second half, because it has tested the last commit.
        """
        cars = self._batch.cars
        if len(cars) == 1:
            raise CarRemoved(cars, reason)
        self._database.write(partial(discard_pipelines, cars=cars[: _half(cars)], cancel=False))
        raise TrainOutdated

    def _first_half(self) -> Self:
        cars = self._batch.cars
        batch = self._batch._replace(cars=cars[: _half(cars)])
        return type(self)(self._database, self._store, self._repository, self._project, batch)

    def test(self, base: str) -> str:
        """Build the commits of the batch on ``base``, start its pipeline, and return the last commit."""
        commits: dict[int, str] = {}
        start = target = base
        for car, step in zip(self._batch.cars, self._steps, strict=True):
            target = base
            base = commits[car.id] = step.build(base)
        last = self._batch.cars[-1]
        merge_request = self._database.read(partial(merge_request_by_id, merge_request_id=last.merge_request_id))
        request = PipelineRequest(
            project=self._project,
            ref=merge_request_train_ref(merge_request.iid),
            sha=base,
            source="merge_request_event",
            user_id=last.user_id,
            origin_key=f"merge train {last.id} {base}",
            merge_request_id=merge_request.id,
            source_sha=last.head_oid,
            target_sha=target,
            ignores_skip=True,
        )
        try:
            pipeline = self._create_pipeline(request)
        except Invalid as error:
            if len(self._batch.cars) == 1:
                reason = " ".join(error.errors.get("base", ())) or str(error)
                raise CarRemoved([last], f"The pipeline could not be created: {reason}") from None
            self._first_half().test(start)
            raise TrainOutdated from None
        if pipeline is None:
            raise TrainOutdated
        try:
            has_ended = self._database.write(partial(store_pipeline, commits=commits, pipeline_id=pipeline.id))
        except TrainOutdated:
            self._database.write(partial(cancel_unused_pipeline, pipeline_id=pipeline.id))
            raise
        if has_ended:
            raise TrainOutdated
        return base

    def _create_pipeline(self, request: PipelineRequest) -> Pipeline | None:
        """Create the pipeline, or find the one of a run that was interrupted, unless it was canceled since then."""
        pipeline = create_pipeline(self._database, self._store, request, save_on_errors=False)
        while pipeline is not None and pipeline.status in CANCELED:
            request = msgspec.structs.replace(request, origin_key=f"{request.origin_key} after {pipeline.id}")
            pipeline = create_pipeline(self._database, self._store, request, save_on_errors=False)
        return pipeline

    def _merge(self) -> None:
        """Move the target branch to the tested commit."""
        merges = [step.prepare() for step in self._steps]
        tip = merges[0].context.tip
        if any(merge.context.tip != tip for merge in merges):
            raise TrainOutdated
        if tip != self._batch.cars[0].base_oid:
            merges = self._moved_after_skips(merges, tip)
        try:
            merge_tested_results(self._database, self._store, merges)
        except Denied as refusal:
            self._divide_or_remove(f"The target branch cannot be changed: {refusal}")
        except Invalid as error:
            self._divide_or_remove(f"The merge failed: {error}")
        raise TrainOutdated

    def _moved_after_skips(self, merges: list[PreparedMerge], tip: str) -> list[PreparedMerge]:
        """Return the merges into a tip that only merges that skip the train have moved; it was not tested as such."""
        car = self._batch.cars[0]
        taken = self._database.read(partial(train_tip, project=self._project, branch=car.target_branch, tip=tip))
        if taken != car.base_oid:
            raise TrainOutdated
        moved = []
        for step, merge in zip(self._steps, merges, strict=True):
            moved.append(step.move(merge, tip))
            tip = moved[-1].result.commit
        return moved
