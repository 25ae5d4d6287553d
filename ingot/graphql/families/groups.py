"""Groups and namespaces."""

from collections.abc import Sequence
from typing import Any

from ingot.core.access.levels import Level
from ingot.core.errors import NotFound
from ingot.graphql.connections import ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import number_of, to_global_id
from ingot.graphql.loaders import load_groups, render_html
from ingot.graphql.params import issue_filters, merge_request_filters, order
from ingot.graphql.resolvers import Arguments, Resolvers
from ingot.projects.groups.views import GroupView
from ingot.projects.namespaces.queries import actor_levels_in
from ingot.projects.projects.views import SimpleProjectView

resolvers = Resolvers()
resolvers.types[GroupView] = "Group"


@resolvers.single("Query.group")
def find_group(context: QueryContext, _: Any, arguments: Arguments) -> Any:
    """Return a group by its path."""
    return context.call("GET /groups/:id", {"with_projects": False}, id=arguments["fullPath"])


@resolvers.single("Query.groups")
def list_groups(context: QueryContext, _: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the groups that the caller may see."""
    if arguments.get("ids") is not None:
        numbers = [number_of(each, "Group") for each in arguments["ids"]][:50]
        found = load_groups(context, numbers)
        return connection_of([found[each] for each in numbers if found[each]], arguments)
    params = {
        "search": arguments.get("search"),
        "owned": arguments.get("ownedOnly"),
        "top_level_only": arguments.get("topLevelOnly"),
        "all_available": arguments.get("allAvailable", True),
        **order(arguments.get("sort"), "name"),
    }
    if arguments.get("parentPath"):
        return listed(context, "GET /groups/:id/subgroups", arguments, params, id=arguments["parentPath"])
    return listed(context, "GET /groups", arguments, params)


@resolvers.value("Group.id")
def group_id(_: QueryContext, group: Any) -> str:
    """Return the global id."""
    return to_global_id("Group", group.id)


@resolvers.batch("Group.descriptionHtml", "Namespace.descriptionHtml")
def description_html(context: QueryContext, groups: Sequence[Any], _: Arguments) -> list[str | None]:
    """Return the descriptions as HTML."""
    return render_html(context, groups, lambda group: getattr(group, "description", ""), lambda _: None)


@resolvers.batch("Group.maxAccessLevel")
def max_access_levels(context: QueryContext, groups: Sequence[Any], _: Arguments) -> list[int]:
    """Return the caller's levels of access."""
    if context.actor.admin:
        return [int(Level.OWNER)] * len(groups)
    levels = context.read(lambda db: actor_levels_in(db, context.actor, sorted({group.id for group in groups})))
    return [levels.get(group.id, 0) for group in groups]


@resolvers.batch("Group.parent")
def find_parents(context: QueryContext, groups: Sequence[Any], _: Arguments) -> list[Any]:
    """Return the parents of groups."""
    parents = load_groups(context, {group.parent_id for group in groups if group.parent_id})
    return [parents.get(group.parent_id) for group in groups]


@resolvers.single("Group.projects")
def list_projects(context: QueryContext, group: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the projects of a group."""
    params = {
        "include_subgroups": arguments.get("includeSubgroups"),
        "search": arguments.get("search"),
        "with_issues_enabled": arguments.get("withIssuesEnabled"),
        "with_merge_requests_enabled": arguments.get("withMergeRequestsEnabled"),
        "with_shared": False,
        **order(arguments.get("sort"), "id"),
    }
    return listed(context, "GET /groups/:id/projects", arguments, params, id=group.id)


@resolvers.single("Group.descendantGroups")
def list_descendants(context: QueryContext, group: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the groups below a group."""
    params = {"search": arguments.get("search"), "owned": arguments.get("owned")}
    return listed(context, "GET /groups/:id/descendant_groups", arguments, params, id=group.id)


@resolvers.single("Group.groupMembers")
def list_members(context: QueryContext, group: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the members of a group, with inherited ones unless only direct ones are requested."""
    direct = arguments.get("relations") == ["DIRECT"]
    route = "GET /groups/:id/members" if direct else "GET /groups/:id/members/all"
    return listed(context, route, arguments, {"query": arguments.get("search")}, id=group.id)


@resolvers.single("Group.issues")
def list_issues(context: QueryContext, group: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the issues in a group."""
    return listed(
        context, "GET /groups/:id/issues", arguments, {"scope": "all", **issue_filters(arguments)}, id=group.id
    )


@resolvers.single("Group.mergeRequests")
def list_merge_requests(context: QueryContext, group: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the merge requests in a group."""
    params = {"scope": "all", **merge_request_filters(arguments)}
    return listed(context, "GET /groups/:id/merge_requests", arguments, params, id=group.id)


@resolvers.value("Group.userPermissions")
def find_permissions(_: QueryContext, group: Any) -> Any:
    """Return the group as the parent of its permissions."""
    return group


def _permission(field: str, route: str) -> None:
    @resolvers.single(f"GroupPermissions.{field}")
    def may_call(context: QueryContext, group: Any, _: Arguments) -> bool:
        """Return whether the endpoint of an action allows it to the caller."""
        return context.allows(route, id=group.id)


for _field, _route in {
    "createProjects": "PUT /groups/:id",
    "readGroup": "GET /groups/:id",
    "removeGroup": "DELETE /groups/:id",
    "viewEditPage": "PUT /groups/:id",
}.items():
    _permission(_field, _route)


@resolvers.single("Query.namespace")
def find_namespace(context: QueryContext, _: Any, arguments: Arguments) -> Any:
    """Return a namespace by its path; a project is one, too."""
    path = arguments["fullPath"]
    if context.actor.known:
        try:
            return context.call("GET /namespaces/:id", id=path)
        except NotFound:
            pass
    return context.call("GET /projects/:id", id=path)


def is_project(namespace: Any) -> bool:
    """Return whether a namespace is a project."""
    return isinstance(namespace, SimpleProjectView)


@resolvers.value("Namespace.id")
def namespace_id(_: QueryContext, namespace: Any) -> str:
    """Return the global id."""
    if is_project(namespace):
        return to_global_id("Namespaces::ProjectNamespace", namespace.id)
    model = "Group" if namespace.kind == "group" else "Namespaces::UserNamespace"
    return to_global_id(model, namespace.id)


@resolvers.value("Namespace.fullPath")
def namespace_path(_: QueryContext, namespace: Any) -> str:
    """Return the path with those of all parents."""
    return str(namespace.path_with_namespace if is_project(namespace) else namespace.full_path)


@resolvers.value("Namespace.fullName")
def namespace_name(_: QueryContext, namespace: Any) -> str:
    """Return the name of a namespace."""
    if is_project(namespace):
        return str(namespace.name_with_namespace)
    return str(getattr(namespace, "full_name", namespace.name))


@resolvers.single("Namespace.projects")
def list_namespace_projects(context: QueryContext, namespace: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the projects of a namespace."""
    if is_project(namespace):
        return connection_of([], arguments)
    if namespace.kind == "group":
        return list_projects(context, namespace, arguments)
    params = {"search": arguments.get("search"), **order(arguments.get("sort"), "id")}
    return listed(context, "GET /users/:user_id/projects", arguments, params, user_id=namespace.path)
