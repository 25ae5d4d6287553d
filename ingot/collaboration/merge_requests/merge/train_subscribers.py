"""Subscribers that take merge requests off merge trains, and move trains on."""

import msgspec

from ingot.collaboration.merge_requests.events import MergeRequestChanged
from ingot.collaboration.merge_requests.merge.merge_options import decode_merge_options, encode_merge_options
from ingot.collaboration.merge_requests.merge.train_queries import (
    branches_of_trains,
    branches_with_trains,
    car_of_pipeline,
    car_or_none,
)
from ingot.collaboration.merge_requests.merge.train_service import (
    ENDED,
    drop_car,
    enqueue_advance,
    expel_from_train,
    finish_car,
)
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.service import lock_merge_request_row, subject_of, write_merge_request
from ingot.collaboration.notes.service import add_system_note
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.pipelines.events import PipelineChanged
from ingot.pipelines.tables import TRAIN_SUFFIX
from ingot.projects.projects.events import ProjectEdited
from ingot.repositories.ref_changes.events import RefsChanged

subscriptions = Subscriptions()


@subscriptions.on(MergeRequestChanged)
def update_car(db: Connection, event: MergeRequestChanged) -> None:
    """Take a merge request off its train when its merge is canceled or has happened, or its target has changed."""
    unscheduled = event.changes.get("merge_when_pipeline_succeeds") == (True, False)
    retargeted = "target_branch" in event.changes
    if not (unscheduled or retargeted or event.action in ("merged", "closed", "deleted")):
        return
    car = car_or_none(db, event.merge_request_id)
    if car is None or car.has_ended:
        return
    if event.action == "merged":
        finish_car(db, car)
        return
    if retargeted:
        merge_request = merge_request_by_id(db, event.merge_request_id)
        expel_from_train(db, merge_request, "The target branch was changed.")
        return
    drop_car(db, car)
    if event.action in ("updated", "closed"):
        merge_request = merge_request_by_id(db, event.merge_request_id)
        # An error has a note of its own, with the reason.
        if merge_request.merge_error is None:
            text = "removed this merge request from the merge train"
            if event.action == "closed":
                text += " because it was closed"
            add_system_note(db, event.actor_id, subject_of(merge_request), text, "merge")


@subscriptions.on(MergeRequestChanged)
def apply_squash(db: Connection, event: MergeRequestChanged) -> None:
    """Let an edit replace the choice made for a scheduled merge, and build a car again whose commits differ then."""
    if "squash" not in event.changes:
        return
    merge_request = merge_request_by_id(db, event.merge_request_id)
    options = decode_merge_options(merge_request.merge_params)
    if options.squash is not None:
        edited = encode_merge_options(msgspec.structs.replace(options, squash=None))
        write_merge_request(db, lock_merge_request_row(db, merge_request), {"merge_params": edited})
    car = car_or_none(db, event.merge_request_id)
    if car is not None and not car.has_ended:
        enqueue_advance(db, car.project_id, car.target_branch)


@subscriptions.on(RefsChanged)
def restart_trains(db: Connection, event: RefsChanged) -> None:
    """Test the trains into pushed branches again, on the new tips."""
    moved = [update.branch for update in event.updates if update.branch is not None]
    for branch in branches_with_trains(db, event.project_id, moved) if moved else ():
        enqueue_advance(db, event.project_id, branch)


@subscriptions.on(ProjectEdited)
def apply_settings(db: Connection, event: ProjectEdited) -> None:
    """Look at the trains of a project again: they may have been disabled, or may merge in another way."""
    for branch in branches_of_trains(db, event.project_id):
        enqueue_advance(db, event.project_id, branch)


@subscriptions.on(PipelineChanged)
def advance_tested_train(db: Connection, event: PipelineChanged) -> None:
    """Move a train on when the pipeline of a car has ended."""
    if event.status in ENDED and event.ref.endswith(TRAIN_SUFFIX):
        car = car_of_pipeline(db, event.pipeline_id)
        if car is not None:
            enqueue_advance(db, car.project_id, car.target_branch)
