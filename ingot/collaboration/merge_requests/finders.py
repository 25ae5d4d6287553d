"""Finders of merge requests by the path of a request."""

from ingot.collaboration.merge_requests.policy import MergeRequestLookup
from ingot.collaboration.merge_requests.queries import find_merge_request
from ingot.core.access.levels import Access
from ingot.core.api.routes import Call


def merge_request_in_path(call: Call) -> tuple[Access, MergeRequestLookup]:
    """Find the merge request that the path names."""
    lookup = find_merge_request(call.db, call.actor, call.path["id"], call.path["merge_request_iid"])
    return lookup.access, lookup
