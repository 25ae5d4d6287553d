"""Response structs of merge trains."""

from collections.abc import Sequence

from ingot.accounts.users.views import UserBrief, user_briefs_by_ids
from ingot.collaboration.merge_requests.merge.train_queries import merge_requests_by_ids
from ingot.collaboration.merge_requests.queries import target_project_summaries
from ingot.collaboration.merge_requests.tables import CarStatus, MergeTrainCar
from ingot.collaboration.merge_requests.views import SimpleMergeRequestView, simple_views
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, to_datetime
from ingot.pipelines.queries import pipelines_by_ids
from ingot.pipelines.views import PipelineBrief, pipeline_brief
from ingot.projects.projects.tables import Project


class MergeTrainCarView(View):
    """A merge request in a merge train, or merged by one."""

    id: int
    merge_request: SimpleMergeRequestView
    user: UserBrief | None
    pipeline: PipelineBrief | None
    created_at: Timestamp
    updated_at: Timestamp
    target_branch: str
    status: CarStatus
    merged_at: Timestamp | None
    duration: int | None


def car_views(db: Connection, project: Project, cars: Sequence[MergeTrainCar], base: str) -> list[MergeTrainCarView]:
    """Build the views of cars of one project, with one statement for each relation."""
    if not cars:
        return []
    records = merge_requests_by_ids(db, [car.merge_request_id for car in cars])
    shown = {view.id: view for view in simple_views(records, base, target_project_summaries(db, records))}
    users = user_briefs_by_ids(db, {car.user_id for car in cars if car.user_id is not None}, base)
    pipelines = pipelines_by_ids(db, [car.pipeline_id for car in cars if car.pipeline_id is not None])
    url = f"{base}/{project.full_path}"
    views = []
    for car in cars:
        pipeline = pipelines.get(car.pipeline_id or 0)
        views.append(
            MergeTrainCarView(
                car.id,
                shown[car.merge_request_id],
                users.get(car.user_id or 0),
                None if pipeline is None else pipeline_brief(pipeline, url),
                car.created_at,
                car.updated_at,
                car.target_branch,
                car.status,
                car.merged_at,
                _seconds_in_train(car),
            )
        )
    return views


def _seconds_in_train(car: MergeTrainCar) -> int | None:
    if car.merged_at is None:
        return None
    return int((to_datetime(car.merged_at) - to_datetime(car.created_at)).total_seconds())
