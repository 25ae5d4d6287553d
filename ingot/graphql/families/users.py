"""Users."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from ingot.accounts.users.views import UserBrief
from ingot.core.access.levels import Access, Level
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page
from ingot.core.errors import Invalid
from ingot.graphql.connections import ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import number_of, to_global_id
from ingot.graphql.loaders import load_users
from ingot.graphql.params import merge_request_filters, order
from ingot.graphql.resolvers import Arguments, Resolvers
from ingot.projects.groups.params import ListGroups
from ingot.projects.groups.policy import may_create_project_in
from ingot.projects.groups.queries import list_groups as list_visible_groups
from ingot.projects.groups.views import GroupView, group_view
from ingot.projects.namespaces.queries import actor_levels_in
from ingot.projects.namespaces.tables import Namespace

resolvers = Resolvers()
USER_TYPES = (
    "UserCore",
    "CurrentUser",
    "MergeRequestAuthor",
    "MergeRequestAssignee",
    "MergeRequestReviewer",
    "MergeRequestParticipant",
)
_PROFILE = ("bio", "createdAt", "linkedin", "location", "organization", "publicEmail", "twitter")
_MAX_PERMITTED_GROUPS = 1_000
resolvers.types[UserBrief] = "UserCore"


def fields_of_users(field: str) -> list[str]:
    """Return a field of all types of users."""
    return [f"{kind}.{field}" for kind in USER_TYPES]


@resolvers.single("Query.currentUser")
def find_current_user(context: QueryContext, _: Any, __: Arguments) -> Any:
    """Return the caller; null for anonymous callers."""
    return context.call("GET /user") if context.actor.known else None


@resolvers.single("Query.user")
def find_user(context: QueryContext, _: Any, arguments: Arguments) -> Any:
    """Return a user by id or username."""
    if arguments.get("id") is not None:
        return context.call("GET /users/:id", id=number_of(arguments["id"], "User"))
    username = arguments.get("username")
    if not username:
        raise Invalid("Provide either a single username or id")
    return next(iter(context.call("GET /users", {"username": username}).items), None)


@resolvers.single("Query.users")
def list_users(context: QueryContext, _: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the users."""
    if arguments.get("ids") is not None:
        numbers = [number_of(each, "User") for each in arguments["ids"]][:100]
        found = load_users(context, numbers)
        return connection_of([found[each] for each in numbers if found[each]], arguments)
    if arguments.get("usernames") is not None:
        names = arguments["usernames"][:100]
        return connection_of([user for name in names for user in _users_named(context, name)], arguments)
    params = {"search": arguments.get("search"), **order(arguments.get("sort"), "id")}
    params |= {name: True for name in ("active", "admins", "humans") if arguments.get(name)}
    return listed(context, "GET /users", arguments, params)


def _users_named(context: QueryContext, username: str) -> list[Any]:
    return list(context.call("GET /users", {"username": username}).items)


@resolvers.value(*fields_of_users("id"))
def user_id(_: QueryContext, user: Any) -> str:
    """Return the global id."""
    return to_global_id("User", user.id)


@resolvers.value(*fields_of_users("webPath"))
def user_path(_: QueryContext, user: Any) -> str:
    """Return the path of the user's page."""
    return urlsplit(str(user.web_url)).path


@resolvers.value(*fields_of_users("active"))
def is_active(_: QueryContext, user: Any) -> bool:
    """Return whether the user may sign in."""
    return bool(user.state == "active")


@resolvers.value(*fields_of_users("gitpodEnabled"))
def uses_gitpod(_: QueryContext, __: Any) -> bool:
    """Return that no user has turned on Gitpod: pages do not offer it."""
    return False


@resolvers.value(*fields_of_users("bot"))
def is_bot(_: QueryContext, user: Any) -> bool:
    """Return whether the user is a bot."""
    return bool(getattr(user, "bot", False))


@resolvers.value(*fields_of_users("human"))
def is_human(context: QueryContext, user: Any) -> bool:
    """Return whether the user is not a bot."""
    return not is_bot(context, user)


def _profile_field(field: str, attribute: str) -> None:
    @resolvers.batch(*fields_of_users(field))
    def profile_field(context: QueryContext, users: Sequence[Any], _: Arguments) -> list[Any]:
        """Return a field of the public profile."""
        unknown = [user.id for user in users if not hasattr(user, attribute)]
        loaded = load_users(context, unknown) if unknown else {}
        return [getattr(loaded.get(user.id, user), attribute, None) for user in users]


for _field, _attribute in zip(
    _PROFILE,
    ("bio", "created_at", "linkedin", "location", "organization", "public_email", "twitter"),
    strict=True,
):
    _profile_field(_field, _attribute)


@resolvers.single(*fields_of_users("status"))
def find_status(context: QueryContext, user: Any, _: Arguments) -> Any:
    """Return the status that the user has set."""
    return context.call("GET /users/:id/status", id=user.id)


@resolvers.value(*fields_of_users("userPermissions"))
def user_permissions(context: QueryContext, _: Any) -> dict[str, Any]:
    """Return what the caller may do with personal resources."""
    return {"create_snippet": context.actor.known and (not context.actor.external or context.actor.admin)}


@resolvers.single(*fields_of_users("namespace"))
def find_namespace(context: QueryContext, user: Any, _: Arguments) -> Any:
    """Return the personal namespace."""
    return context.call("GET /namespaces/:id", id=user.username)


@resolvers.single(*fields_of_users("groups"))
def list_groups(context: QueryContext, user: Any, arguments: Arguments) -> ConnectionPage | None:
    """Return the groups of the caller, or those in which the caller has a permission."""
    if user.id != context.actor.user_id:
        return None
    if arguments.get("permissionScope"):
        return connection_of(_permitted_groups(context, arguments), arguments)
    params = {"search": arguments.get("search"), "min_access_level": 10}
    return listed(context, "GET /groups", arguments, params)


def _permitted_groups(context: QueryContext, arguments: Arguments) -> list[GroupView]:
    """Return the groups, up to 1,000, into which the caller may create, import or transfer projects."""
    creates = arguments["permissionScope"] == "CREATE_PROJECTS"
    params = ListGroups(search=arguments.get("search") or "", min_access_level=30 if creates else 40)

    def find(db: Connection) -> list[Namespace]:
        groups = list_visible_groups(db, context.actor, params, Page(size=_MAX_PERMITTED_GROUPS)).items
        if not creates:
            return groups
        levels = actor_levels_in(db, context.actor, [group.id for group in groups])
        access = {group.id: Access(level=Level(levels.get(group.id, 0))) for group in groups}
        return [group for group in groups if may_create_project_in(context.actor, access[group.id], group)]

    return [group_view(group, context.origin.base) for group in context.read(find)]


@resolvers.value(
    "CurrentUser.duoChatAvailable", "CurrentUser.duoCodeSuggestionsAvailable", "Project.duoFeaturesEnabled"
)
def has_duo(_: QueryContext, __: Any) -> bool:
    """Return that there are no AI features; editor extensions ask for them when they start."""
    return False


@resolvers.value("CurrentUser.ide")
def find_ide_settings(_: QueryContext, __: Any) -> dict[str, bool]:
    """Return the settings of editors."""
    return {"code_suggestions_enabled": False}


@resolvers.single(*fields_of_users("starredProjects"))
def list_starred_projects(context: QueryContext, user: Any, arguments: Arguments) -> ConnectionPage:
    """Return the projects that the user has starred."""
    params = {"search": arguments.get("search")}
    return listed(context, "GET /users/:user_id/starred_projects", arguments, params, user_id=user.id)


@resolvers.single(*fields_of_users("authoredMergeRequests"))
def list_authored_merge_requests(context: QueryContext, user: Any, arguments: Arguments) -> ConnectionPage:
    """Return the merge requests that the user has created."""
    return _merge_requests(context, arguments, author_id=user.id)


@resolvers.single(*fields_of_users("assignedMergeRequests"))
def list_assigned_merge_requests(context: QueryContext, user: Any, arguments: Arguments) -> ConnectionPage:
    """Return the merge requests that are assigned to the user."""
    return _merge_requests(context, arguments, assignee_id=user.id)


@resolvers.single(*fields_of_users("reviewRequestedMergeRequests"))
def list_requested_reviews(context: QueryContext, user: Any, arguments: Arguments) -> ConnectionPage:
    """Return the merge requests that the user is asked to review."""
    return _merge_requests(context, arguments, reviewer_id=user.id)


def _merge_requests(context: QueryContext, arguments: Arguments, **of_user: int) -> ConnectionPage:
    params = {"scope": "all", **merge_request_filters(arguments), **of_user}
    project = arguments.get("projectPath")
    if arguments.get("projectId") is not None:
        project = number_of(arguments["projectId"], "Project")
    if project is not None:
        return listed(context, "GET /projects/:id/merge_requests", arguments, params, id=project)
    if arguments.get("groupId") is not None:
        group = number_of(arguments["groupId"], "Group")
        return listed(context, "GET /groups/:id/merge_requests", arguments, params, id=group)
    return listed(context, "GET /merge_requests", arguments, params)
