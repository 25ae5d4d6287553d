"""Mutations of merge trains."""

from typing import Any

from ingot.collaboration.merge_requests.merge.train_queries import path_of_car
from ingot.core.errors import NotFound
from ingot.graphql.context import QueryContext, RefusedCall
from ingot.graphql.families.merge_trains import CANCELLATION, CAR_MODEL
from ingot.graphql.global_ids import number_of
from ingot.graphql.mutations.inputs import Input
from ingot.graphql.resolvers import Resolvers

resolvers = Resolvers()
_CAR_ROUTE = "GET /projects/:id/merge_trains/merge_requests/:merge_request_iid"


@resolvers.mutation("mergeTrainsDeleteCar")
def delete_car(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Remove a merge request from its train."""
    number = number_of(sent["carId"], CAR_MODEL)
    found = context.read(lambda db: path_of_car(db, number))
    if found is None:
        raise NotFound(CAR_MODEL)
    path = {"id": found[0], "merge_request_iid": found[1]}
    context.call(_CAR_ROUTE, **path)  # Hidden cars answer as if they did not exist.
    try:
        context.call(CANCELLATION, **path)
    except RefusedCall:
        raise RefusedCall("The merge request is not in a merge train") from None
    return {}
