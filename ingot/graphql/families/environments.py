"""Environments."""

from collections.abc import Sequence
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import msgspec

from ingot.accounts.users.views import UserView
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid
from ingot.graphql.connections import ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import to_global_id
from ingot.graphql.loaders import load_groups, load_projects, load_users
from ingot.graphql.resolvers import Arguments, Resolvers
from ingot.projects.environments.protection.queries import applying_rules, entries_of
from ingot.projects.environments.protection.tables import DeployAccess, ProtectedEnvironment
from ingot.projects.environments.views import EnvironmentView
from ingot.projects.groups.views import GroupView
from ingot.projects.projects.policy import may_admin_project
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.views import ProjectView

resolvers = Resolvers()
_STATES = ("available", "stopping", "stopped")


@resolvers.single("Project.environments")
def list_environments(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the environments of a project."""
    params = {name: arguments.get(name) for name in ("name", "search")}
    params["states"] = _state(arguments.get("states") or [])
    return listed(context, "GET /projects/:id/environments", arguments, params, id=project.id)


def _state(states: list[str]) -> str | None:
    if not states or set(_STATES) <= set(states):
        return None
    if len(set(states)) > 1:
        raise Invalid("states takes one value")
    if states[0] not in _STATES:
        raise Invalid("Requested states are invalid")
    return states[0]


@resolvers.single("Project.environment")
def find_environment(context: QueryContext, project: Any, arguments: Arguments) -> Any:
    """Return an environment by its name."""
    if not arguments["name"]:  # The list would take it for no filter.
        return None
    found = context.call("GET /projects/:id/environments", {"name": arguments["name"]}, id=project.id).items
    return found[0] if found else None


@resolvers.value("Environment.id")
def environment_id(_: QueryContext, environment: EnvironmentView) -> str:
    """Return the global id."""
    return to_global_id("Environment", environment.id)


@resolvers.value("Environment.path")
def environment_path(_: QueryContext, environment: EnvironmentView) -> str:
    """Return the path of the page."""
    return f"{urlsplit(environment.project.web_url).path}/-/environments/{environment.id}"


@resolvers.value("Environment.environmentType")
def environment_folder(_: QueryContext, environment: EnvironmentView) -> str | None:
    """Return the folder in the name; null if it has none."""
    return environment.name.partition("/")[0] if "/" in environment.name else None


class ProtectedEnvironmentNode(msgspec.Struct):
    """A rule that protects an environment, with those who may deploy."""

    rule: ProtectedEnvironment
    entries: list[DeployAccess]

    @property
    def name(self) -> str:
        """Name of the environment in a rule of a project, tier in a rule of a group."""
        return self.rule.name


@resolvers.batch("Environment.protectedEnvironments")
def protecting_rules(
    context: QueryContext, environments: Sequence[EnvironmentView], arguments: Arguments
) -> list[ConnectionPage | None]:
    """Return the rules that protect environments; null for users who may not change the rules of the project."""
    by_project: dict[int, list[EnvironmentView]] = {}
    for environment in environments:
        by_project.setdefault(environment.project.id, []).append(environment)
    found: dict[int, list[ProtectedEnvironmentNode]] = {}
    for project_id, listed_environments in by_project.items():
        found |= context.read(partial(_protecting_rules, context, project_id, listed_environments))
    return [
        connection_of(found[environment.id], arguments) if environment.id in found else None
        for environment in environments
    ]


def _protecting_rules(
    context: QueryContext, project_id: int, environments: Sequence[EnvironmentView], db: Connection
) -> dict[int, list[ProtectedEnvironmentNode]]:
    access, project = find_project(db, context.actor, project_id)
    if not may_admin_project(context.actor, access, project):
        return {}
    rules = applying_rules(db, project_id, {environment.name for environment in environments})
    entries = entries_of(db, list({rule.id: rule for of_name in rules.values() for rule in of_name}.values()))
    return {
        environment.id: [
            ProtectedEnvironmentNode(rule, [entry for entry in entries if entry.rule_id == rule.id])
            for rule in rules.get(environment.name, ())
        ]
        for environment in environments
    }


@resolvers.batch("ProtectedEnvironment.deployAccessLevels")
def deploy_levels(
    _: QueryContext, rules: Sequence[ProtectedEnvironmentNode], arguments: Arguments
) -> list[ConnectionPage]:
    """Return the roles, users and groups that may deploy."""
    return [connection_of(rule.entries, arguments) for rule in rules]


@resolvers.batch("ProtectedEnvironment.project")
def projects_of_rules(
    context: QueryContext, rules: Sequence[ProtectedEnvironmentNode], _: Arguments
) -> list[ProjectView | None]:
    """Return the projects of rules; null for those of groups."""
    loaded = load_projects(context, {rule.rule.project_id for rule in rules if rule.rule.project_id is not None})
    return [loaded.get(rule.rule.project_id) if rule.rule.project_id is not None else None for rule in rules]


@resolvers.batch("ProtectedEnvironment.group")
def groups_of_rules(
    context: QueryContext, rules: Sequence[ProtectedEnvironmentNode], _: Arguments
) -> list[GroupView | None]:
    """Return the groups of rules; null for those of projects."""
    return _groups(context, [rule.rule.group_id for rule in rules])


@resolvers.batch("ProtectedEnvironmentDeployAccessLevel.group")
def groups_of_levels(context: QueryContext, entries: Sequence[DeployAccess], _: Arguments) -> list[GroupView | None]:
    """Return the groups that may deploy."""
    return _groups(context, [entry.group_id for entry in entries])


def _groups(context: QueryContext, numbers: Sequence[int | None]) -> list[GroupView | None]:
    loaded = load_groups(context, {number for number in numbers if number is not None})
    return [None if number is None else loaded.get(number) for number in numbers]


@resolvers.batch("ProtectedEnvironmentDeployAccessLevel.user")
def users_of_levels(context: QueryContext, entries: Sequence[DeployAccess], _: Arguments) -> list[UserView | None]:
    """Return the users who may deploy."""
    loaded = load_users(context, {entry.user_id for entry in entries if entry.user_id is not None})
    return [None if entry.user_id is None else loaded.get(entry.user_id) for entry in entries]
