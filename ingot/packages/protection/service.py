"""State changes of protection rules."""

from msgspec import UNSET
from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict, Invalid
from ingot.packages.protection.levels import level_number
from ingot.packages.protection.params import CreatePackageRule, EditPackageRule
from ingot.packages.protection.queries import find_package_rule
from ingot.packages.records.tables import PackageProtectionRule, package_protection_rules
from ingot.projects.projects.tables import Project

_rules = package_protection_rules
_SAME = select(_rules.c.id).where(
    _rules.c.project_id == bindparam("project"),
    _rules.c.package_type == bindparam("type"),
    _rules.c.name_pattern == bindparam("pattern"),
)


def create_package_rule(db: Connection, project: Project, params: CreatePackageRule) -> PackageProtectionRule:
    """Create a rule; raise Invalid without a level, and Conflict if there is one with the pattern."""
    push = level_number(params.minimum_access_level_for_push)
    delete = level_number(params.minimum_access_level_for_delete)
    _validate(db, project, params.package_type, params.package_name_pattern, push, delete)
    rule_id = db.insert(
        _rules,
        project_id=project.id,
        package_type=params.package_type,
        name_pattern=params.package_name_pattern,
        push_level=push,
        delete_level=delete,
    )
    return find_package_rule(db, project.id, rule_id)


def edit_package_rule(
    db: Connection, project: Project, rule: PackageProtectionRule, params: EditPackageRule
) -> PackageProtectionRule:
    """Change a rule; raise Invalid or Conflict as on creation."""
    pattern = rule.name_pattern if params.package_name_pattern is UNSET else params.package_name_pattern
    kind = rule.package_type if params.package_type is UNSET else params.package_type
    push_name, delete_name = params.minimum_access_level_for_push, params.minimum_access_level_for_delete
    push = rule.push_level if push_name is UNSET else level_number(push_name)
    delete = rule.delete_level if delete_name is UNSET else level_number(delete_name)
    _validate(db, project, kind, pattern, push, delete, rule.id)
    db.update(_rules, rule.id, package_type=kind, name_pattern=pattern, push_level=push, delete_level=delete)
    return find_package_rule(db, project.id, rule.id)


def _validate(
    db: Connection,
    project: Project,
    package_type: str,
    pattern: str,
    push: int | None,
    delete: int | None,
    own_id: int | None = None,
) -> None:
    if push is None and delete is None:
        raise Invalid("A rule must have at least a minimum access role for push or delete.")
    if db.value(_SAME, project=project.id, type=package_type, pattern=pattern) not in (None, own_id):
        raise Conflict("Package name pattern has already been taken")
