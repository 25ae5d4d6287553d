"""Approval settings of the instance, which projects cannot relax."""

from functools import lru_cache

import msgspec

from ingot.accounts.instance.settings import cached_stored_settings
from ingot.core.db.connection import Connection
from ingot.projects.projects.options import ProjectOptions


class ApprovalLimits(msgspec.Struct, frozen=True):
    """Settings of the instance about approvals; ``AllSettings`` declares them."""

    prevent_merge_requests_author_approval: bool = False
    prevent_merge_requests_committers_approval: bool = False
    disable_overriding_approvers_per_merge_request: bool = False


_NO_LIMITS = ApprovalLimits()
_decode = msgspec.json.Decoder(ApprovalLimits).decode


@lru_cache(16)
def _limits(document: str) -> ApprovalLimits:
    return _decode(document)


def options_in_force(db: Connection, options: ProjectOptions) -> ProjectOptions:
    """Return the options of a project with the stricter settings of the instance."""
    limits = _limits(cached_stored_settings(db).document)
    if limits == _NO_LIMITS:
        return options
    return msgspec.structs.replace(
        options,
        merge_requests_author_approval=False
        if limits.prevent_merge_requests_author_approval
        else options.merge_requests_author_approval,
        merge_requests_disable_committers_approval=options.merge_requests_disable_committers_approval
        or limits.prevent_merge_requests_committers_approval,
        disable_overriding_approvers_per_merge_request=options.disable_overriding_approvers_per_merge_request
        or limits.disable_overriding_approvers_per_merge_request,
    )
