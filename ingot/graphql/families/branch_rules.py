"""Branch rules: the protected branches of a project."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ingot.core.db.times import Timestamp
from ingot.git.core.refs import HEADS
from ingot.git.core.sorted_refs import sorted_refs
from ingot.graphql.connections import ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import to_global_id
from ingot.graphql.resolvers import Arguments, Resolvers
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import projects_by_ids
from ingot.repositories.protection.policy import name_matches
from ingot.repositories.protection.queries import branch_rules_of_projects
from ingot.repositories.protection.views import ProtectedBranchView

resolvers = Resolvers()


class BranchRule(msgspec.Struct):
    """Protection rule with its project."""

    project: Any
    rule: ProtectedBranchView

    @property
    def name(self) -> str:
        """Name of the rule, with wildcards."""
        return self.rule.name


@resolvers.single("Project.branchRules")
def list_branch_rules(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the protection rules of a project."""
    page = listed(context, "GET /projects/:id/protected_branches", arguments, id=project.id)
    page.nodes = [BranchRule(project, rule) for rule in page.nodes]
    return page


@resolvers.value("BranchRule.id")
def rule_id(_: QueryContext, rule: BranchRule) -> str:
    """Return the global id; rules of projects and of groups have the same numbers."""
    return to_global_id("Groups::BranchRule" if rule.rule.inherited else "Projects::BranchRule", rule.rule.id)


@resolvers.value("BranchRule.isDefault")
def is_default(_: QueryContext, rule: BranchRule) -> bool:
    """Return whether the rule is that of the default branch."""
    return bool(rule.name == rule.project.default_branch)


@resolvers.value("BranchRule.isProtected")
def is_protected(_: QueryContext, __: BranchRule) -> bool:
    """Return that every rule protects branches."""
    return True


@resolvers.batch("BranchRule.createdAt")
def created_at(context: QueryContext, rules: Sequence[BranchRule], _: Arguments) -> list[Timestamp | None]:
    """Return the times when rules were created."""
    numbers = {rule.project.id for rule in rules}
    records = context.read(lambda db: branch_rules_of_projects(db, numbers))
    times = {
        (project, record.inherited, record.id): record.created_at
        for project, listed_records in records.items()
        for record in listed_records
    }
    return [times.get((rule.project.id, rule.rule.inherited, rule.rule.id)) for rule in rules]


@resolvers.batch("BranchRule.matchingBranchesCount")
def count_matching_branches(context: QueryContext, rules: Sequence[BranchRule], _: Arguments) -> list[int]:
    """Return the numbers of branches that rules match."""
    projects = context.read(lambda db: projects_by_ids(db, sorted({rule.project.id for rule in rules})))
    store = repository_store(context.settings)
    names = {
        number: [branch.name.decode("utf-8", "replace") for branch in sorted_refs(repository, HEADS, generation)]
        for number, repository, generation in (
            (number, store.open(project.repository_key), project.generation) for number, project in projects.items()
        )
    }
    return [sum(name_matches(rule.name, name) for name in names.get(rule.project.id, ())) for rule in rules]


@resolvers.value("BranchRule.branchProtection")
def find_protection(_: QueryContext, rule: BranchRule) -> ProtectedBranchView:
    """Return the permissions of a rule."""
    return rule.rule


@resolvers.batch("BranchProtection.mergeAccessLevels")
def merge_levels(
    _: QueryContext, protections: Sequence[ProtectedBranchView], arguments: Arguments
) -> list[ConnectionPage]:
    """Return the levels that may merge."""
    return [connection_of(protection.merge_access_levels, arguments) for protection in protections]


@resolvers.batch("BranchProtection.pushAccessLevels")
def push_levels(
    _: QueryContext, protections: Sequence[ProtectedBranchView], arguments: Arguments
) -> list[ConnectionPage]:
    """Return the levels that may push."""
    return [connection_of(protection.push_access_levels, arguments) for protection in protections]
