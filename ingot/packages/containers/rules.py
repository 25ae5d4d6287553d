"""Protection rules of container repositories."""

from msgspec import UNSET
from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import Conflict, Invalid, NotFound
from ingot.packages.containers.params import CreateContainerRule, EditContainerRule
from ingot.packages.containers.tables import ContainerProtectionRule, container_protection_rules
from ingot.packages.protection.levels import level_number
from ingot.projects.projects.tables import Project

_rules = container_protection_rules
_OF_PROJECT = select(_rules).where(_rules.c.project_id == bindparam("project"))
_LIST = list_query(_OF_PROJECT, _rules.c.id, _rules.c.id.asc())
_BY_ID = _OF_PROJECT.where(_rules.c.id == bindparam("rule"))
_BY_PATTERN = _OF_PROJECT.where(_rules.c.path_pattern == bindparam("pattern"))


def list_container_rules(db: Connection, project_id: int, page: Page) -> Listing[ContainerProtectionRule]:
    """List the protection rules of a project's repositories."""
    return fetch_page(db, ContainerProtectionRule, _LIST, page, project=project_id)


def find_container_rule(db: Connection, project_id: int, rule_id: int) -> ContainerProtectionRule:
    """Return a protection rule of a project; raise NotFound if there is none."""
    rule = db.first(ContainerProtectionRule, _BY_ID, project=project_id, rule=rule_id)
    if rule is None:
        raise NotFound("Protection rule")
    return rule


def create_container_rule(db: Connection, project: Project, params: CreateContainerRule) -> ContainerProtectionRule:
    """Create a rule; raise Invalid without a level or for a foreign path, and Conflict for an existing pattern."""
    push = level_number(params.minimum_access_level_for_push)
    delete = level_number(params.minimum_access_level_for_delete)
    _validate(db, project, params.repository_path_pattern, push, delete)
    pattern = params.repository_path_pattern
    rule_id = db.insert(_rules, project_id=project.id, path_pattern=pattern, push_level=push, delete_level=delete)
    return find_container_rule(db, project.id, rule_id)


def edit_container_rule(
    db: Connection, project: Project, rule: ContainerProtectionRule, params: EditContainerRule
) -> ContainerProtectionRule:
    """Change a rule; raise Invalid or Conflict as on creation."""
    pattern = rule.path_pattern if params.repository_path_pattern is UNSET else params.repository_path_pattern
    push_name, delete_name = params.minimum_access_level_for_push, params.minimum_access_level_for_delete
    push = rule.push_level if push_name is UNSET else level_number(push_name)
    delete = rule.delete_level if delete_name is UNSET else level_number(delete_name)
    _validate(db, project, pattern, push, delete, rule.id)
    db.update(_rules, rule.id, path_pattern=pattern, push_level=push, delete_level=delete)
    return find_container_rule(db, project.id, rule.id)


def _validate(
    db: Connection, project: Project, pattern: str, push: int | None, delete: int | None, own_id: int | None = None
) -> None:
    if push is None and delete is None:
        raise Invalid("A rule must have at least a minimum access role for push or delete.")
    if not pattern.lower().startswith(project.full_path_key):
        raise Invalid(repository_path_pattern=["should start with the project's full path"])
    same = db.first(ContainerProtectionRule, _BY_PATTERN, project=project.id, pattern=pattern)
    if same is not None and same.id != own_id:
        raise Conflict("Repository path pattern has already been taken")
