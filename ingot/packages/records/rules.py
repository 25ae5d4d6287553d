"""Checks of the rules that protect packages by their names."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied
from ingot.packages.records.queries import rules_of_type
from ingot.packages.records.tables import Package, PackageType
from ingot.repositories.protection.policy import name_matches

ADMINISTRATOR = 60
"""Level of administrators in rules."""


def required_level(levels: list[int | None]) -> int:
    """Return the highest of the levels that rules demand."""
    return max((level or 0 for level in levels), default=0)


def caller_level(actor: Actor, access: Access) -> int:
    """Return the level of a caller, as rules count it."""
    return ADMINISTRATOR if actor.admin or (actor.job is not None and actor.job.admin) else access.level


def require_push_allowed(
    db: Connection, actor: Actor, access: Access, project_id: int, package_type: PackageType, name: str
) -> None:
    """Raise Denied if a rule protects packages with this name from pushes of the caller."""
    rules = rules_of_type(db, project_id, package_type)
    levels = [rule.push_level for rule in rules if name_matches(rule.name_pattern, name)]
    if caller_level(actor, access) < required_level(levels):
        raise Denied("Package protected.")


def require_deletion_allowed(db: Connection, actor: Actor, access: Access, package: Package) -> None:
    """Raise Denied if a rule protects a package from deletion by the caller."""
    rules = rules_of_type(db, package.project_id, package.package_type)
    levels = [rule.delete_level for rule in rules if name_matches(rule.name_pattern, package.name)]
    if caller_level(actor, access) < required_level(levels):
        raise Denied("Package is deletion protected.")
