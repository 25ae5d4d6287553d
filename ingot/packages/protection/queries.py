"""Queries of protection rules."""

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.packages.records.tables import PackageProtectionRule, package_protection_rules

_rules = package_protection_rules
_OF_PROJECT = select(_rules).where(_rules.c.project_id == bindparam("project"))
_LIST = list_query(_OF_PROJECT, _rules.c.id, _rules.c.id.asc())
_BY_ID = _OF_PROJECT.where(_rules.c.id == bindparam("rule"))


def list_package_rules(db: Connection, project_id: int, page: Page) -> Listing[PackageProtectionRule]:
    """List the protection rules of a project's packages."""
    return fetch_page(db, PackageProtectionRule, _LIST, page, project=project_id)


def find_package_rule(db: Connection, project_id: int, rule_id: int) -> PackageProtectionRule:
    """Return a protection rule of a project; raise NotFound if there is none."""
    rule = db.first(PackageProtectionRule, _BY_ID, project=project_id, rule=rule_id)
    if rule is None:
        raise NotFound("Package protection rule")
    return rule
