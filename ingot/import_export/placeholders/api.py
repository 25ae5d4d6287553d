"""Endpoints of placeholder users."""

from ingot.accounts.users.queries import find_user, user_by_username_or_none
from ingot.accounts.users.tables import User
from ingot.core.access.actor import Actor
from ingot.core.access.levels import NO_ACCESS, Access
from ingot.core.access.rules import require, signed_in
from ingot.core.api.params import MissingParameter, path_number
from ingot.core.api.routes import Call, RawResponse, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Invalid, NotFound
from ingot.core.names import NAMESPACES
from ingot.import_export.placeholders import queries, service
from ingot.import_export.placeholders.params import AssignPlaceholder, AssignPlaceholders, ListPlaceholders
from ingot.import_export.placeholders.views import AssignmentMessage, SourceUserView, source_user_views
from ingot.import_export.tables import SourceUser
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_admin_group
from ingot.projects.namespaces.tables import Namespace

routes = Routes("imports")


def source_user_in_path(call: Call) -> tuple[Access, SourceUser]:
    """Find the source user in the path."""
    number = path_number(call.path, "source_user_id")
    return NO_ACCESS, queries.find_source_user(call.db, call.actor, number)


def may_see_source_user(actor: Actor, access: Access, source_user: SourceUser) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Every caller who finds it: owners of the namespace, the proposed user, and administrators."""
    return True


@routes.get("/placeholder_users", may=signed_in, returns=list[SourceUserView])
def list_placeholder_users(call: Call, params: ListPlaceholders, page: Page) -> Listing[SourceUserView]:
    """List the users of import sources that the caller manages or may claim; all for administrators."""
    listing = queries.list_source_users(call.db, call.actor, page, params.status)
    return listing.of(source_user_views(call.db, call.actor, listing.items, call.origin.base))


@routes.post(
    "/placeholder_users/:source_user_id/assign",
    on=source_user_in_path,
    may=may_see_source_user,
    returns=SourceUserView,
    status=200,
    locks=NAMESPACES,
)
def assign_placeholder(call: Call, source_user: SourceUser, params: AssignPlaceholder) -> SourceUserView:
    """Assign the contributions of a placeholder to a user, who confirms it unless an administrator assigns them."""
    require(queries.manages_source_user(call.db, call.actor, source_user))
    service.propose_assignment(call.db, call.actor, source_user, _chosen_user(call, params))
    return _view(call, source_user)


@routes.post(
    "/placeholder_users/:source_user_id/accept",
    on=source_user_in_path,
    may=may_see_source_user,
    returns=SourceUserView,
    status=200,
    locks=NAMESPACES,
)
def accept_placeholder(call: Call, source_user: SourceUser) -> SourceUserView:
    """Take over the contributions of a placeholder that was proposed to the caller or has the caller's address."""
    require(queries.may_confirm(call.db, call.actor, source_user))
    return source_user_views(
        call.db, call.actor, [service.accept_assignment(call.db, call.actor, source_user)], call.origin.base
    )[0]


@routes.post(
    "/placeholder_users/:source_user_id/reject",
    on=source_user_in_path,
    may=may_see_source_user,
    returns=SourceUserView,
    status=200,
)
def reject_placeholder(call: Call, source_user: SourceUser) -> SourceUserView:
    """Refuse the contributions of a placeholder that was proposed to the caller."""
    require(queries.may_confirm(call.db, call.actor, source_user))
    service.reject_assignment(call.db, source_user)
    return source_user_views(call.db, call.actor, [source_user], call.origin.base)[0]


@routes.get("/groups/:id/placeholder_reassignments", on=group_in_path, may=may_admin_group, returns=RawResponse)
def get_placeholder_table(call: Call, group: Namespace) -> RawResponse:
    """Download a table of the placeholder users of a group, to be filled with usernames."""
    content = service.placeholder_table(queries.placeholders_of(call.db, group.id)).encode()
    name = f'attachment; filename="placeholder_reassignments_for_group_{group.id}.csv"'
    return RawResponse(content, "text/csv; charset=utf-8", ((b"content-disposition", name.encode()),))


@routes.post(
    "/groups/:id/placeholder_reassignments",
    on=group_in_path,
    may=may_admin_group,
    returns=AssignmentMessage,
    locks=NAMESPACES,
)
def assign_placeholders(call: Call, group: Namespace, params: AssignPlaceholders) -> AssignmentMessage:
    """Assign the placeholder users of a group by a filled table."""
    content = params.file.read()
    if len(content) > service.MAX_TABLE_BYTES:
        raise Invalid(file=["is too large"])
    count = service.assign_from_table(call.db, call.actor, queries.placeholders_of(call.db, group.id), content)
    return AssignmentMessage(f"{count} placeholder users were assigned or proposed to users.")


def _chosen_user(call: Call, params: AssignPlaceholder) -> User:
    if params.user_id is not None:
        return find_user(call.db, params.user_id)
    if params.username is None:
        raise MissingParameter("user_id")
    user = user_by_username_or_none(call.db, params.username)
    if user is None:
        raise NotFound("User")
    return user


def _view(call: Call, source_user: SourceUser) -> SourceUserView:
    changed = queries.find_source_user(call.db, call.actor, source_user.id)
    return source_user_views(call.db, call.actor, [changed], call.origin.base)[0]
