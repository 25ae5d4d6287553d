"""Subscribers that end the deployments of merge requests."""

from ingot.collaboration.merge_requests.events import MergeRequestChanged
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.sites.deployments.service import delete_deployments_of_merge_request

subscriptions = Subscriptions()


@subscriptions.on(MergeRequestChanged)
def end_deployments(db: Connection, event: MergeRequestChanged) -> None:
    """Stop serving the parallel deployments of a merge request that was merged or closed."""
    if event.action in ("merged", "closed"):
        delete_deployments_of_merge_request(db, event.merge_request_id)
