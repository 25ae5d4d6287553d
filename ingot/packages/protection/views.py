"""Response structs of protection rules."""

from ingot.core.api.views import View
from ingot.packages.protection.levels import level_name
from ingot.packages.records.tables import PackageProtectionRule


class PackageRuleView(View):
    """Protection rule of packages."""

    id: int
    project_id: int
    package_name_pattern: str
    package_type: str
    minimum_access_level_for_delete: str | None
    minimum_access_level_for_push: str | None


def package_rule_view(rule: PackageProtectionRule) -> PackageRuleView:
    """Return the view of a rule."""
    return PackageRuleView(
        rule.id,
        rule.project_id,
        rule.name_pattern,
        rule.package_type,
        level_name(rule.delete_level),
        level_name(rule.push_level),
    )
