"""Queries of merge trains."""

from collections.abc import Collection
from typing import Literal

from sqlalchemy import bindparam, case, func, select

from ingot.collaboration.merge_requests.tables import (
    MERGE_REQUEST_COLUMNS,
    MergeRequest,
    MergeTrainCar,
    merge_request_merges,
    merge_requests,
    merge_train_cars,
)
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list, one_of
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.projects.projects.tables import Project

Scope = Literal["active", "complete"]
_CARS = select(merge_train_cars)
_ACTIVE = one_of(merge_train_cars.c.status, "idle", "fresh")
_OF_USER = _CARS.where(merge_train_cars.c.user_id == bindparam("user"), _ACTIVE)
_OF_TRAIN = (
    merge_train_cars.c.project_id == bindparam("project"),
    merge_train_cars.c.target_branch == bindparam("branch"),
)
_OF_MERGE_REQUEST = _CARS.where(merge_train_cars.c.merge_request_id == bindparam("merge_request"))
_MERGE_REQUESTS = (
    select(*MERGE_REQUEST_COLUMNS).where(in_list(merge_requests.c.id, "ids")).order_by(merge_requests.c.id)
)
_OF_PIPELINE = _CARS.where(merge_train_cars.c.pipeline_id == bindparam("pipeline"), _ACTIVE)
_TRAIN = _CARS.where(*_OF_TRAIN, _ACTIVE).order_by(merge_train_cars.c.id)
_BRANCHES = (
    select(merge_train_cars.c.target_branch)
    .where(
        merge_train_cars.c.project_id == bindparam("project"),
        in_list(merge_train_cars.c.target_branch, "branches"),
        _ACTIVE,
    )
    .distinct()
)
_BRANCHES_OF_PROJECT = (
    select(merge_train_cars.c.target_branch)
    .where(merge_train_cars.c.project_id == bindparam("project"), _ACTIVE)
    .distinct()
)
_TRAINS = (
    select(merge_train_cars.c.target_branch, func.sum(case((_ACTIVE, 1), else_=0)))
    .where(merge_train_cars.c.project_id == bindparam("project"))
    .group_by(merge_train_cars.c.target_branch)
    .order_by(merge_train_cars.c.target_branch)
)
_ORDER = (
    select(merge_train_cars.c.merge_request_id, merge_train_cars.c.target_branch)
    .where(
        merge_train_cars.c.project_id == bindparam("project"),
        in_list(merge_train_cars.c.target_branch, "branches"),
        _ACTIVE,
    )
    .order_by(merge_train_cars.c.id)
)
_CAR_PATH = (
    select(merge_requests.c.target_project_id, merge_requests.c.iid)
    .join(merge_train_cars, merge_train_cars.c.merge_request_id == merge_requests.c.id)
    .where(merge_train_cars.c.id == bindparam("car"))
)
# Of a batch, the last commit is the tested one.
_TESTED_TIP = (
    select(merge_train_cars.c.commit_oid)
    .where(*_OF_TRAIN, merge_train_cars.c.merged_oid == bindparam("tip"))
    .order_by(merge_train_cars.c.id.desc())
    .limit(1)
)
_UNRECORDED = (
    select(merge_request_merges.c.id)
    .join(merge_requests, merge_requests.c.id == merge_request_merges.c.merge_request_id)
    .where(
        merge_request_merges.c.new_oid == bindparam("tip"),
        merge_requests.c.target_project_id == bindparam("project"),
        merge_requests.c.target_branch == bindparam("branch"),
        merge_requests.c.state != "merged",
        merge_requests.c.deleted_at.is_(None),
    )
    .limit(1)
)
_BEFORE = select(func.count()).where(*_OF_TRAIN, _ACTIVE, merge_train_cars.c.id < bindparam("car"))
_LENGTH = select(func.count()).where(*_OF_TRAIN, _ACTIVE)
_SCOPES = {"active": _ACTIVE, "complete": one_of(merge_train_cars.c.status, "merged", "skip_merged")}
_LISTS = {
    (scope, by_branch, sort): list_query(
        _CARS.where(*(_OF_TRAIN if by_branch else _OF_TRAIN[:1]), *([_SCOPES[scope]] if scope is not None else [])),
        merge_train_cars.c.id,
        merge_train_cars.c.id.asc() if sort == "asc" else merge_train_cars.c.id.desc(),
    )
    for scope in (None, "active", "complete")
    for by_branch in (False, True)
    for sort in ("asc", "desc")
}


def merge_requests_by_ids(db: Connection, merge_request_ids: Collection[int]) -> list[MergeRequest]:
    """Return the merge requests of some cars."""
    return db.all(MergeRequest, _MERGE_REQUESTS, ids=sorted(merge_request_ids))


def car_or_none(db: Connection, merge_request_id: int) -> MergeTrainCar | None:
    """Return the car of a merge request, also one that was merged."""
    return db.first(MergeTrainCar, _OF_MERGE_REQUEST, merge_request=merge_request_id)


def find_car(db: Connection, merge_request_id: int) -> MergeTrainCar:
    """Return the car of a merge request; raise NotFound otherwise."""
    car = car_or_none(db, merge_request_id)
    if car is None:
        raise NotFound("Merge Train")
    return car


def car_of_pipeline(db: Connection, pipeline_id: int) -> MergeTrainCar | None:
    """Return the car in a train that a pipeline tests now, if any."""
    return db.first(MergeTrainCar, _OF_PIPELINE, pipeline=pipeline_id)


def cars_of_user(db: Connection, user_id: int) -> list[MergeTrainCar]:
    """Return the cars in trains that a user has added."""
    return db.all(MergeTrainCar, _OF_USER, user=user_id)


def cars_of_train(db: Connection, project_id: int, branch: str) -> list[MergeTrainCar]:
    """Return the cars of the train into a branch, the first one first."""
    return db.all(MergeTrainCar, _TRAIN, project=project_id, branch=branch)


def train_tip(db: Connection, project: Project, branch: str, tip: str) -> str:
    """Return the commit for which the train takes the tip of its branch: another one after merges that skipped it.

    Without the permission to skip, and where commits must be rebased, the tip always counts itself.
    """
    if not project.options.may_skip_merge_trains or project.merge_method != "merge":
        return tip
    return str(db.value(_TESTED_TIP, project=project.id, branch=branch, tip=tip) or tip)


def is_merge_unrecorded(db: Connection, project_id: int, branch: str, tip: str) -> bool:
    """Return whether a merge has moved a branch to its tip, and the transaction that records it is yet to come."""
    return bool(db.rows(_UNRECORDED, project=project_id, branch=branch, tip=tip))


def branches_with_trains(db: Connection, project_id: int, branches: Collection[str]) -> list[str]:
    """Return those of some branches of a project into which a train goes."""
    return [branch for (branch,) in db.rows(_BRANCHES, project=project_id, branches=list(branches))]


def branches_of_trains(db: Connection, project_id: int) -> list[str]:
    """Return the branches of a project into which trains go."""
    return [branch for (branch,) in db.rows(_BRANCHES_OF_PROJECT, project=project_id)]


def list_trains(db: Connection, project_id: int, *, active: bool | None = None) -> list[str]:
    """Return the branches into which trains of a project go (``active``) or went (not ``active``), sorted."""
    rows = db.rows(_TRAINS, project=project_id)
    return [branch for branch, cars in rows if active is None or active == bool(cars)]


def trains_into(db: Connection, project_id: int, branches: Collection[str]) -> dict[str, list[int]]:
    """Return the ids of the merge requests in the trains into some branches of a project, the first ones first."""
    trains: dict[str, list[int]] = {}
    for merge_request_id, branch in db.rows(_ORDER, project=project_id, branches=list(branches)):
        trains.setdefault(branch, []).append(merge_request_id)
    return trains


def path_of_car(db: Connection, car_id: int) -> tuple[int, int] | None:
    """Return the project and the number of the merge request of a car, or None."""
    rows = db.rows(_CAR_PATH, car=car_id)
    return (int(rows[0][0]), int(rows[0][1])) if rows else None


def train_position(db: Connection, car: MergeTrainCar) -> tuple[int, int]:
    """Return the position of a car, from 1, and the length of its train."""
    train = {"project": car.project_id, "branch": car.target_branch}
    return db.value(_BEFORE, **train, car=car.id) + 1, db.value(_LENGTH, **train)


def list_cars(
    db: Connection, project_id: int, branch: str | None, scope: Scope | None, sort: str, page: Page
) -> Listing[MergeTrainCar]:
    """Return a page of cars of a project, or of the trains into one branch."""
    values = {"project": project_id} if branch is None else {"project": project_id, "branch": branch}
    return fetch_page(db, MergeTrainCar, _LISTS[scope, branch is not None, sort], page, **values)
