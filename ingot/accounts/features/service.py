"""State changes of feature flags."""

import re

import msgspec
from msgspec import UNSET

from ingot.accounts.features.params import SetFeature
from ingot.accounts.features.queries import lock_feature_or_none
from ingot.accounts.features.tables import FeatureFlag, Gates, feature_flags
from ingot.accounts.users.queries import users_by_usernames
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid

_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,255}")
_PERCENTAGE = re.compile(r"[0-9]{1,3}")
# Targets in higher layers, which this package cannot look up. Ignoring them would enable the flag for everyone.
_UNSUPPORTED_TARGETS = ("group", "namespace", "project", "repository")


def validated_name(name: str) -> str:
    """Return the name; raise Invalid if a flag cannot have it."""
    if not name.strip() or not _NAME.fullmatch(name):
        raise Invalid(name=["is invalid"])
    return name


def set_feature(db: Connection, name: str, params: SetFeature) -> FeatureFlag:
    """Enable or disable a flag for everyone or for targets, or enable it for a percentage of time.

    Disabling it for everyone clears all its gates.
    """
    value = _parse_value(params.value)
    groups, actors = _parse_targets(db, params)
    targeted = bool(groups or actors)
    if targeted and type(value) is int:
        raise Invalid(value=["must be true or false if a target is given"])
    feature = lock_feature_or_none(db, name)
    gates = msgspec.json.decode(feature.gates, type=Gates) if feature else Gates()
    if type(value) is int:
        gates = msgspec.structs.replace(gates, percentage_of_time=value)
    elif targeted:
        change = _with_added if value else _with_removed
        gates = msgspec.structs.replace(gates, groups=change(gates.groups, groups), actors=change(gates.actors, actors))
    else:
        gates = msgspec.structs.replace(gates, boolean=True) if value else Gates()
    return _store(db, feature, name, gates)


def delete_feature(db: Connection, feature: FeatureFlag) -> None:
    """Delete a flag."""
    db.delete(feature_flags, feature.id)


def _parse_value(text: str) -> bool | int:
    """Return True, False or a percentage; zero means False."""
    word = text.strip().lower()
    if word in ("true", "false", "0"):
        return word == "true"
    if not _PERCENTAGE.fullmatch(word) or int(word) > 100:
        raise Invalid(value=["must be true, false or a percentage"])
    return int(word)


def _parse_targets(db: Connection, params: SetFeature) -> tuple[list[str], list[str]]:
    """Return the given groups and actors; raise Invalid for a target that does not exist."""
    errors: dict[str, list[str]] = {
        name: ["is not supported"] for name in _UNSUPPORTED_TARGETS if getattr(params, name) is not UNSET
    }
    groups = [] if params.feature_group is UNSET else [params.feature_group.strip()]
    if not all(_NAME.fullmatch(group) for group in groups):
        errors["feature_group"] = ["is invalid"]
    usernames = [] if params.user is UNSET else [name.strip().lower() for name in params.user.split(",")]
    users = users_by_usernames(db, usernames)
    if not all(username in users for username in usernames):
        errors["user"] = ["is invalid"]
    if errors:
        raise Invalid(**errors)
    return groups, [f"User:{users[username].id}" for username in usernames]


def _with_added(targets: tuple[str, ...], added: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*targets, *added)))


def _with_removed(targets: tuple[str, ...], removed: list[str]) -> tuple[str, ...]:
    return tuple(target for target in targets if target not in removed)


def _store(db: Connection, feature: FeatureFlag | None, name: str, gates: Gates) -> FeatureFlag:
    document = msgspec.json.encode(gates).decode()
    if feature is None:
        return FeatureFlag(db.insert(feature_flags, name=name, gates=document), name, document)
    db.update(feature_flags, feature.id, gates=document)
    return FeatureFlag(feature.id, name, document)
