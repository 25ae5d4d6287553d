"""Division of a merge train into batches: the cars that one pipeline tests together.

The pipeline of a batch tests the commit of its last car. The batches follow from the rows alone: cars with the same
pipeline form one as long as the commit of the last one is the commit of the pipeline.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from ingot.collaboration.merge_requests.tables import MergeTrainCar
from ingot.pipelines.tables import Pipeline


class TrainBatch(NamedTuple):
    """Cars that one pipeline tests together."""

    cars: tuple[MergeTrainCar, ...]
    was_started: bool
    """Whether a pipeline was started for these commits."""
    pipeline: Pipeline | None
    """That pipeline, unless it was deleted."""


def plan_batches(
    cars: Sequence[MergeTrainCar], pipelines: Mapping[int, Pipeline], base: str, size: int
) -> list[TrainBatch]:
    """Return the batches of a train on ``base``; cars whose pipeline does not test them any more have not started."""
    started = _started(cars[: _count_on_base(cars, base)], pipelines)
    batches: list[TrainBatch] = []
    waiting: list[MergeTrainCar] = []
    for car in cars:
        batch = started.get(car.id)
        if batch is None:
            waiting.append(car)
        elif batch.cars[0].id == car.id:
            batches += [*_divide(waiting, size), batch]
            waiting = []
    return batches + _divide(waiting, size)


def outdated_cars(batches: Sequence[TrainBatch]) -> list[MergeTrainCar]:
    """Return the cars with a pipeline that tests another commit than the last one of their batch."""
    return [car for batch in batches if not batch.was_started for car in batch.cars if car.status == "fresh"]


def _count_on_base(cars: Sequence[MergeTrainCar], base: str) -> int:
    """Return the number of cars, from the first one on, that were built on each other and on ``base``."""
    expected: str | None = base
    for count, car in enumerate(cars):
        if car.base_oid != expected or car.commit_oid is None:
            return count
        expected = car.commit_oid
    return len(cars)


def _started(cars: Sequence[MergeTrainCar], pipelines: Mapping[int, Pipeline]) -> dict[int, TrainBatch]:
    """Return the batches with a pipeline, by the ids of their cars."""
    started: dict[int, TrainBatch] = {}
    for _, group in groupby(cars, lambda car: (car.status, car.pipeline_id)):
        batch = tuple(group)
        pipeline = pipelines.get(batch[0].pipeline_id or 0)
        if batch[0].status == "fresh" and (pipeline is None or pipeline.sha == batch[-1].commit_oid):
            started |= {car.id: TrainBatch(batch, True, pipeline) for car in batch}
    return started


def _divide(cars: Sequence[MergeTrainCar], size: int) -> list[TrainBatch]:
    return [TrainBatch(tuple(cars[start : start + size]), False, None) for start in range(0, len(cars), size)]
