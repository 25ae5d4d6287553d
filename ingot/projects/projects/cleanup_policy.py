"""Cleanup policy of a project's container images, stored with its options."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params, given_fields
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.errors import Invalid
from ingot.core.late_imports import require_modules

Cadence = Literal["1d", "7d", "14d", "1month", "3month"]
KeptTags = Literal[1, 5, 10, 25, 50, 100]
TagAge = Literal["7d", "14d", "30d", "60d", "90d"]
_CADENCE_DAYS: dict[str, int] = {"1d": 1, "7d": 7, "14d": 14, "1month": 30, "3month": 90}
_PATTERNS = ("name_regex", "name_regex_keep")


class ContainerCleanupPolicy(msgspec.Struct, frozen=True):
    """Which tags of container images are deleted, and how often."""

    cadence: Cadence = "1d"
    enabled: bool = False
    keep_n: KeptTags | None = 10
    older_than: TagAge | None = "90d"
    name_regex: str | None = ".*"
    name_regex_keep: str | None = None
    next_run_at: Timestamp | None = None


class ContainerCleanupParams(Params):
    """Changes of the cleanup policy."""

    cadence: Cadence | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    keep_n: KeptTags | UnsetType | None = UNSET
    older_than: TagAge | UnsetType | None = UNSET
    name_regex: str | UnsetType | None = UNSET
    name_regex_delete: str | UnsetType | None = UNSET
    name_regex_keep: str | UnsetType | None = UNSET


def edited_policy(
    policy: ContainerCleanupPolicy, params: ContainerCleanupParams, now: Timestamp
) -> ContainerCleanupPolicy:
    """Return a policy with changes, next applied after its whole cadence; raise Invalid if it cannot be applied."""
    given: dict[str, Any] = given_fields(params)
    if "name_regex_delete" in given:
        given["name_regex"] = given.pop("name_regex_delete")
    changed = msgspec.structs.replace(policy, **given)
    if changed.enabled:
        _require_valid_patterns(changed)
    if changed == policy:
        return policy
    return msgspec.structs.replace(changed, next_run_at=next_run(changed, now) if changed.enabled else None)


def next_run(policy: ContainerCleanupPolicy, now: Timestamp) -> Timestamp:
    """Return when a policy that is applied now is applied again."""
    return add_duration(now, days=_CADENCE_DAYS[policy.cadence])


def _require_valid_patterns(policy: ContainerCleanupPolicy) -> None:
    require_modules("re2")  # Few processes change policies, and the library takes 4 MB.
    import re2

    if not policy.name_regex:
        raise Invalid(**{"container_expiration_policy.name_regex": ["can't be blank"]})
    options = re2.Options()
    options.log_errors = False
    for name in _PATTERNS:
        try:
            re2.compile(getattr(policy, name) or "", options)
        except re2.error:
            raise Invalid(**{f"container_expiration_policy.{name}": ["is not a valid regular expression"]}) from None
