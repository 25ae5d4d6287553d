"""State changes of merge trains.

A merge request is in a train exactly as long as its merge is scheduled with the strategy ``merge_train``. Every change
that may move a train on enqueues the job that does so, in the same transaction.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import bindparam, delete, func, update

from ingot.collaboration.merge_requests.merge.merge_options import MergeOptions
from ingot.collaboration.merge_requests.merge.service import abort_auto_merge, schedule_auto_merge
from ingot.collaboration.merge_requests.merge.train_queries import car_of_pipeline, car_or_none, train_position
from ingot.collaboration.merge_requests.service import subject_of
from ingot.collaboration.merge_requests.tables import MergeRequest, MergeTrainCar, PendingMerge, merge_train_cars
from ingot.collaboration.notes.service import add_system_note
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list, one_of
from ingot.core.jobs.queue import enqueue
from ingot.git.writing.merge_commits import MergeResult
from ingot.pipelines.queries import lock_pipeline_by_id
from ingot.pipelines.service import CANCEL_PIPELINES
from ingot.pipelines.tables import Status

ADVANCE_TRAIN = "advance_merge_train"
CANCELED: tuple[Status, ...] = ("canceling", "canceled")
ENDED: tuple[Status, ...] = ("success", "failed", "canceled", "skipped")
"""Statuses of pipelines at which trains look."""
_DELETE = delete(merge_train_cars).where(merge_train_cars.c.id == bindparam("car"))
# Of two concurrent runs that build or test the same car, the first one counts.
_STORE_RESULT = (
    update(merge_train_cars)
    .where(
        merge_train_cars.c.id == bindparam("car"),
        ~one_of(merge_train_cars.c.status, "merged", "skip_merged"),
        (merge_train_cars.c.commit_oid == bindparam("before"))
        | (merge_train_cars.c.commit_oid.is_(None) & (bindparam("before") == "")),
    )
    .values(
        status="idle",
        base_oid=bindparam("base"),
        commit_oid=bindparam("commit"),
        squash_oid=bindparam("squash"),
        built_by=bindparam("settings"),
        pipeline_id=None,
        updated_at=bindparam("now"),
    )
)
_DISCARD_RESULTS = (
    update(merge_train_cars)
    .where(
        in_list(merge_train_cars.c.id, "cars"),
        in_list(merge_train_cars.c.commit_oid, "commits"),
        one_of(merge_train_cars.c.status, "idle", "fresh"),
    )
    .values(status="idle", base_oid=None, commit_oid=None, pipeline_id=None, updated_at=bindparam("now"))
)
_STORE_PIPELINE = (
    update(merge_train_cars)
    .where(
        in_list(merge_train_cars.c.id, "cars"),
        in_list(merge_train_cars.c.commit_oid, "commits"),
        merge_train_cars.c.status == "idle",
    )
    .values(status="fresh", pipeline_id=bindparam("pipeline"), updated_at=bindparam("now"))
)
_DISCARD_PIPELINES = (
    update(merge_train_cars)
    .where(
        in_list(merge_train_cars.c.id, "cars"),
        in_list(func.coalesce(merge_train_cars.c.pipeline_id, 0), "pipelines"),
        merge_train_cars.c.status == "fresh",
    )
    .values(status="idle", pipeline_id=None, updated_at=bindparam("now"))
)


class TrainOutdated(Exception):
    """Cars have changed since they were read; the train is read again."""


def join_train(db: Connection, actor: Actor, merge_request: MergeRequest, options: MergeOptions) -> None:
    """Add a merge request to the end of the train into its target branch; raise ``MergeOutdated`` if it has changed."""
    options = msgspec.structs.replace(options, strategy="merge_train", sha=merge_request.head_oid)
    written = schedule_auto_merge(db, actor, merge_request, options)
    if car_or_none(db, written.id) is not None:
        return
    db.insert(merge_train_cars, **_new_row(db, written, written.merge_user_id))
    car = car_or_none(db, written.id)
    position = 1 if car is None else train_position(db, car)[0]
    text = "started a merge train"
    if position > 1:
        text = f"added this merge request to the merge train at position {position}"
    add_system_note(db, actor.user_id, subject_of(written), text, "merge")
    enqueue_advance(db, written.target_project_id, written.target_branch)


def expel_from_train(db: Connection, merge_request: MergeRequest, reason: str) -> None:
    """Remove a merge request from its train with a note and todos that give the reason, a sentence."""
    abort_auto_merge(db, merge_request, reason, from_train=True)


def drop_car(db: Connection, car: MergeTrainCar) -> None:
    """Delete the row of a car that has left its train, and cancel its pipeline."""
    db.run(_DELETE, car=car.id)
    _cancel_pipelines(db, [car.pipeline_id])
    enqueue_advance(db, car.project_id, car.target_branch)


def finish_car(db: Connection, car: MergeTrainCar) -> None:
    """Record that the merge request of a car is merged, by its train or immediately."""
    db.update(merge_train_cars, car.id, status="merged", merged_at=db.now, updated_at=db.now)
    _cancel_pipelines(db, [car.pipeline_id])
    enqueue_advance(db, car.project_id, car.target_branch)


def continue_train(db: Connection, merge_request: MergeRequest, pending: PendingMerge) -> None:
    """Let the train take the tip after a merge for the commit that it has tested: the merge has skipped the train.

    Does the same for a merge by the train onto such a tip; its commit is not the tested one, and a note says so.
    """
    actor_id = pending.actor_id or merge_request.author_id
    car = car_or_none(db, merge_request.id)
    if car is not None and car.commit_oid == pending.train_oid:
        db.update(merge_train_cars, car.id, merged_oid=pending.new_oid)
        text = (
            "merged this merge request together with changes that skipped the merge train and were not tested with it"
        )
        add_system_note(db, actor_id, subject_of(merge_request), text, "merge")
        return
    ended = {"status": "skip_merged", "commit_oid": pending.train_oid, "merged_oid": pending.new_oid}
    if car is not None:
        db.update(merge_train_cars, car.id, **ended)
    else:
        row = _new_row(db, merge_request, pending.actor_id)
        db.insert(merge_train_cars, **{**row, **ended, "merged_at": db.now})
    add_system_note(db, actor_id, subject_of(merge_request), "skipped the merge train", "merge")


def _new_row(db: Connection, merge_request: MergeRequest, user_id: int | None) -> dict[str, Any]:
    return {
        "merge_request_id": merge_request.id,
        "project_id": merge_request.target_project_id,
        "target_branch": merge_request.target_branch,
        "user_id": user_id,
        "status": "idle",
        "head_oid": merge_request.head_oid,
        "created_at": db.now,
        "updated_at": db.now,
    }


def store_result(db: Connection, car: MergeTrainCar, base: str, result: MergeResult, settings: str) -> bool:
    """Store the commit that will be tested; return False if another run was first."""
    commits = {"before": car.commit_oid or "", "base": base, "commit": result.commit, "squash": result.squashed}
    return db.run_counted(_STORE_RESULT, car=car.id, **commits, settings=settings, now=db.now) > 0


def discard_results(db: Connection, cars: Sequence[MergeTrainCar]) -> None:
    """Let cars be built again, by other settings, and cancel their pipelines."""
    commits = [car.commit_oid for car in cars if car.commit_oid is not None]
    db.run(_DISCARD_RESULTS, cars=[car.id for car in cars], commits=commits, now=db.now)
    _cancel_pipelines(db, {car.pipeline_id for car in cars})


def store_pipeline(db: Connection, commits: Mapping[int, str], pipeline_id: int) -> bool:
    """Store the pipeline that tests the commits of cars together; return whether it has ended already.

    Its end later on moves the train. Raises ``TrainOutdated`` if another run was first, or if the pipeline was
    canceled since it was found.
    """
    pipeline = lock_pipeline_by_id(db, pipeline_id)  # A job that cancels it looks for cars after this.
    if pipeline is None or pipeline.status in CANCELED:
        raise TrainOutdated
    cars = {"cars": list(commits), "commits": list(commits.values())}
    if db.run_counted(_STORE_PIPELINE, **cars, pipeline=pipeline_id, now=db.now) != len(commits):
        raise TrainOutdated
    return pipeline.status in ENDED


def discard_pipelines(db: Connection, cars: Sequence[MergeTrainCar], *, cancel: bool) -> None:
    """Let cars be tested again; ``cancel`` their pipelines if nothing else needs these."""
    ids = {car.pipeline_id for car in cars}
    db.run(_DISCARD_PIPELINES, cars=[car.id for car in cars], pipelines=[each or 0 for each in ids], now=db.now)
    if cancel:
        _cancel_pipelines(db, ids)


def cancel_unused_pipeline(db: Connection, pipeline_id: int) -> None:
    """Cancel a pipeline that was created for cars that have changed meanwhile, unless another run has stored it."""
    if car_of_pipeline(db, pipeline_id) is None:
        _cancel_pipelines(db, [pipeline_id])


def enqueue_advance(db: Connection, project_id: int, branch: str) -> None:
    """Enqueue the job that moves a train on."""
    enqueue(db, ADVANCE_TRAIN, (project_id, branch), unique_key=f"{ADVANCE_TRAIN} {project_id} {branch}")


def _cancel_pipelines(db: Connection, pipeline_ids: Collection[int | None]) -> None:
    present = sorted(pipeline_id for pipeline_id in pipeline_ids if pipeline_id is not None)
    if present:
        enqueue(db, CANCEL_PIPELINES, present)
