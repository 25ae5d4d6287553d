"""Fine-grained permissions of tokens, as requests contain them."""

from typing import Any

import msgspec

from ingot.core.access.restrictions import GranularScope
from ingot.core.api.granular_permissions import BOUNDARIES, Place, all_permissions, permissions_by_place
from ingot.core.errors import Invalid

MAX_SCOPES = 20
MAX_TARGETS = 100
"""Projects and groups of one scope."""


def granular_scopes(sent: list[dict[str, Any]] | None) -> tuple[GranularScope, ...] | None:
    """Return the scopes of a request; raise Invalid for unknown permissions and for boundaries that lack targets."""
    if sent is None:
        return None
    try:
        scopes = msgspec.convert(sent, tuple[GranularScope, ...])
    except msgspec.ValidationError:
        raise Invalid(granular_scopes=["are invalid"]) from None
    if not 0 < len(scopes) <= MAX_SCOPES:
        raise Invalid(granular_scopes=[f"must be 1 to {MAX_SCOPES}"])
    for scope in scopes:
        _validate(scope)
    return scopes


def _validate(scope: GranularScope) -> None:
    unknown = set(scope.permissions) - all_permissions()
    if unknown or not scope.permissions:
        raise Invalid(granular_scopes=[f"have unknown permissions: {', '.join(sorted(unknown))}"[:500]])
    useless = set(scope.permissions) - _permissions_in(scope)
    if useless:
        raise Invalid(
            granular_scopes=[f"have permissions without effect in {scope.access}: {', '.join(sorted(useless))}"]
        )
    targets = len(scope.project_ids) + len(scope.group_ids)
    if (scope.access == "selected_memberships") != bool(targets) or targets > MAX_TARGETS:
        raise Invalid(granular_scopes=[f"need 1 to {MAX_TARGETS} projects and groups in selected_memberships only"])


def _permissions_in(scope: GranularScope) -> set[str]:
    places: list[Place] = [place for place, kinds in BOUNDARIES.items() if scope.access in kinds]
    by_place = permissions_by_place()
    return {
        f"{action}_{resource}"
        for place in places
        for resource, actions in by_place[place].items()
        for action in actions
    }
