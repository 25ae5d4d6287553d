"""Job that moves a merge train on.

It compares the rows of the train with the target branch and the pipelines, and does what is due: build the commit of a
car, start its pipeline, remove the car, or merge the first one. Each step is stored by one statement on the condition
that the car is as it was read, so the job may be killed at any moment and may run twice at the same time.
"""

from functools import partial
from typing import Any

import msgspec

from ingot.accounts.users.actors import active_actor
from ingot.ci.pipelines.creation import PipelineRequest, create_pipeline
from ingot.collaboration.merge_requests.merge.context import (
    MergeBlocked,
    MergeContext,
    fetch_head,
    load_merge_context,
    require_ready,
)
from ingot.collaboration.merge_requests.merge.merge_options import MergeOptions, decode_merge_options
from ingot.collaboration.merge_requests.merge.perform import merge_tested_result
from ingot.collaboration.merge_requests.merge.train_commits import build_train_commits
from ingot.collaboration.merge_requests.merge.train_queries import car_or_none, cars_of_train, train_tip
from ingot.collaboration.merge_requests.merge.train_service import (
    drop_car,
    expel_from_train,
    store_pipeline,
    store_result,
)
from ingot.collaboration.merge_requests.mergeability_check import has_source_branch
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.tables import MergeTrainCar
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Denied, Invalid, NotFound
from ingot.core.jobs.handlers import RetryLater
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID, branch_tip
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.merge_commits import MergeResult, TooManyCommits
from ingot.git.writing.merge_request_commits import merge_request_train_ref
from ingot.git.writing.merge_trees import MergeConflict
from ingot.git.writing.ref_updates import RefMoved, RefUpdate, update_refs
from ingot.pipelines.queries import pipelines_by_ids
from ingot.pipelines.tables import Status
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project

_MAX_STEPS = 1_000
_RETRY_SECONDS = 1.0
_REASONS: dict[Status, str] = {
    "failed": "The pipeline failed.",
    "canceled": "The pipeline was canceled.",
    "skipped": "The pipeline was skipped.",
}
_CONFLICT = "The changes conflict with the target branch or with merge requests before this one, or are merged already."
_MOVED = "The source branch has new commits or was deleted."


class _TrainChanged(Exception):
    """A car has left the train or was merged; the train is read again."""


class _CarRemoved(Exception):
    """A car cannot be tested or merged, for the reason of the message."""


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
            except _TrainChanged:
                continue
            return
        raise RetryLater(_RETRY_SECONDS, "The train keeps changing")

    def _pass(self, database: Database, project_id: int, branch: str) -> None:
        """Do what is due for the cars that may run pipelines; raise ``_TrainChanged`` if they must be read again."""
        cars = database.read(partial(cars_of_train, project_id=project_id, branch=branch))
        project = database.read(partial(project_or_none, project_id=project_id))
        if not cars or project is None or project.namespace_id is None:
            return
        repository = self._store.open(project.repository_key)
        base = self._first_base(database, project, cars[0], branch_tip(repository, branch))
        for position, car in enumerate(cars[: project.options.merge_trains_parallel_pipelines]):
            step = _CarStep(database, self._store, repository, project, car)
            try:
                if not project.options.has_merge_trains:
                    raise _CarRemoved("Merge trains were disabled.")
                if base is None:
                    raise _CarRemoved("The target branch was deleted.")
                base = step.advance(base, first=position == 0)
            except _CarRemoved as removal:
                step.expel(str(removal))
                raise _TrainChanged from None

    def _first_base(self, database: Database, project: Project, first: MergeTrainCar, tip: str | None) -> str | None:
        """Return the commit that the first car has to be tested on.

        That is the tip of the target, unless only merges that skip the train have moved it since the car was built.
        """
        if tip is None or first.base_oid in (None, tip):
            return tip
        taken = database.read(partial(train_tip, project=project, branch=first.target_branch, tip=tip))
        return taken if taken == first.base_oid else tip


class _CarStep:
    """The next step of one car."""

    def __init__(
        self, database: Database, store: RepositoryStore, repository: Repository, project: Project, car: MergeTrainCar
    ) -> None:
        self._database = database
        self._store = store
        self._repository = repository
        self._project = project
        self._car = car

    def expel(self, reason: str) -> None:
        """Remove the car, unless it has left or was merged meanwhile."""

        def write(db: Connection) -> None:
            try:
                expel_from_train(db, merge_request_by_id(db, self._car.merge_request_id), reason)
            except NotFound:
                pass  # The merge request was deleted.
            car = car_or_none(db, self._car.merge_request_id)
            if car is not None and not car.has_ended:  # Not scheduled any more, so it cannot leave by that.
                drop_car(db, car)

        self._database.write(write)

    def advance(self, base: str, *, first: bool) -> str:
        """Test or merge the car, and return the commit on which the next car is tested."""
        car = self._car
        if car.base_oid != base or car.commit_oid is None:
            return self._test(base, self._build(base))
        if car.status == "idle":
            return self._test(base, MergeResult(car.commit_oid, car.squash_oid))
        status = self._pipeline_status()
        if status in _REASONS:
            raise _CarRemoved(_REASONS[status])
        if first and status == "success":
            self._merge(MergeResult(car.commit_oid, car.squash_oid))
            raise _TrainChanged
        return car.commit_oid

    def _pipeline_status(self) -> Status:
        pipeline_id = self._car.pipeline_id or 0
        pipelines = self._database.read(partial(pipelines_by_ids, pipeline_ids=[pipeline_id]))
        if pipeline_id not in pipelines:
            raise _CarRemoved("The pipeline was deleted.")
        return pipelines[pipeline_id].status

    def _actor(self) -> Actor:
        user_id = self._car.user_id
        actor = None if user_id is None else self._database.read(partial(active_actor, user_id=user_id))
        if actor is None:
            raise _CarRemoved("The user who added it may no longer merge it.")
        return actor

    def _context(self, actor: Actor) -> tuple[MergeContext, MergeOptions]:
        """Return the state of the merge request; raise ``_CarRemoved`` if it must not be merged."""
        try:
            context = load_merge_context(self._database, self._store, actor, self._car.merge_request_id)
            options = decode_merge_options(context.merge_request.merge_params)
            # The pipeline of the train replaces that of the head.
            require_ready(context._replace(pipeline=None), options, later=True)
        except MergeBlocked as error:
            raise _CarRemoved(str(error)) from None
        except (Conflict, Denied, NotFound):
            raise _CarRemoved("The user who added it may no longer merge it, or it has changed.") from None
        if context.merge_request.head_oid != self._car.head_oid or not has_source_branch(
            context.source, context.merge_request
        ):
            raise _CarRemoved(_MOVED)
        return context, options

    def _build(self, base: str) -> MergeResult:
        """Create the commit of the car and store it."""
        context, options = self._context(self._actor())
        fetch_head(context)
        try:
            result = build_train_commits(context, options, base)
        except MergeConflict:
            raise _CarRemoved(_CONFLICT) from None
        except TooManyCommits:
            raise _CarRemoved("The source branch has too many commits to be rebased.") from None
        self._move_train_ref(context.merge_request.iid, result.commit)
        if not self._database.write(partial(store_result, car=self._car, base=base, result=result)):
            raise _TrainChanged
        return result

    def _move_train_ref(self, iid: int, commit: str) -> None:
        ref = merge_request_train_ref(iid)
        try:
            update_refs(self._repository, [RefUpdate(ref, self._repository.tip(ref) or NO_OID, commit)])
        except RefMoved:
            raise _TrainChanged from None

    def _test(self, base: str, result: MergeResult) -> str:
        """Start the pipeline of the car."""
        merge_request = self._database.read(partial(merge_request_by_id, merge_request_id=self._car.merge_request_id))
        request = PipelineRequest(
            project=self._project,
            ref=merge_request_train_ref(merge_request.iid),
            sha=result.commit,
            source="merge_request_event",
            user_id=self._car.user_id,
            origin_key=f"merge train {self._car.id} {result.commit}",
            merge_request_id=merge_request.id,
            source_sha=self._car.head_oid,
            target_sha=base,
            ignores_skip=True,
        )
        try:
            pipeline = create_pipeline(self._database, self._store, request, save_on_errors=False)
        except Invalid as error:
            raise _CarRemoved(f"The pipeline could not be created: {error}") from None
        if pipeline is not None:
            store = partial(store_pipeline, car=self._car, commit=result.commit, pipeline_id=pipeline.id)
            self._database.write(store)
        # The pipeline may have ended before it was stored.
        raise _TrainChanged

    def _merge(self, result: MergeResult) -> None:
        """Move the target branch to the tested commit."""
        actor = self._actor()
        context, options = self._context(actor)
        train_oid = None
        if context.tip != self._car.base_oid:
            result, train_oid = self._merged_after_skips(context, options), result.commit
        try:
            merge_tested_result(self._database, self._store, actor, context, options, result, train_oid=train_oid)
        except Denied as refusal:
            raise _CarRemoved(f"The target branch cannot be changed: {refusal}") from None
        except Invalid as error:
            raise _CarRemoved(f"The merge failed: {error}") from None

    def _merged_after_skips(self, context: MergeContext, options: MergeOptions) -> MergeResult:
        """Return the merge into a tip that only merges that skip the train have moved; it was not tested as such."""
        branch, tip = context.merge_request.target_branch, context.tip
        taken = self._database.read(partial(train_tip, project=context.project, branch=branch, tip=tip))
        if taken != self._car.base_oid:
            raise _TrainChanged
        fetch_head(context)
        try:
            return build_train_commits(context, options, tip)
        except MergeConflict:
            raise _CarRemoved(_CONFLICT) from None
