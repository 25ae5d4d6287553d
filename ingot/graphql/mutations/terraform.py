"""Mutations of Terraform states."""

from typing import Any
from uuid import uuid4

from ingot.ci.terraform.queries import path_of_state
from ingot.core.errors import NotFound
from ingot.graphql.context import QueryContext, RefusedCall
from ingot.graphql.families.terraform import STATE_MODEL
from ingot.graphql.global_ids import number_of
from ingot.graphql.mutations.inputs import Input
from ingot.graphql.resolvers import Resolvers

resolvers = Resolvers()
_STATE = "/projects/:id/terraform/state/:name"


def _path(context: QueryContext, sent: Input) -> dict[str, Any]:
    number = number_of(sent["id"], STATE_MODEL)
    found = context.read(lambda db: path_of_state(db, number))
    if found is None:
        raise NotFound("Terraform State")
    return {"id": found[0], "name": found[1]}


@resolvers.mutation("terraformStateLock")
def lock_state(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Lock a state."""
    path = _path(context, sent)
    try:
        context.call(f"POST {_STATE}/lock", {"ID": str(uuid4())}, **path)
    except RefusedCall:
        raise RefusedCall("state is already locked") from None
    return {}


@resolvers.mutation("terraformStateUnlock")
def unlock_state(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Remove the lock of a state."""
    context.call(f"DELETE {_STATE}/lock", **_path(context, sent))
    return {}


@resolvers.mutation("terraformStateDelete")
def delete_state(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Delete a state with its versions, unless it is locked."""
    context.call(f"DELETE {_STATE}", **_path(context, sent))
    return {}
