"""What users want to be told, over the API."""

from ingot.access.rules import signed_in
from ingot.api.routes import Call, Routes
from ingot.groups.api import group_in_path
from ingot.groups.namespaces.tables import Namespace
from ingot.notifications import policy
from ingot.notifications.params import SetOwnWishes, SetWishes
from ingot.notifications.queries import EVERYWHERE, addresses_of_user, wish_or_none
from ingot.notifications.service import set_wishes
from ingot.notifications.views import OwnWishView, WishView, own_wish_view, wish_view
from ingot.projects.api import project_in_path
from ingot.projects.tables import Project
from ingot.users.accounts.queries import find_user

routes = Routes("notification settings")


@routes.get("/notification_settings", may=signed_in, returns=OwnWishView)
def get_own_wishes(call: Call) -> OwnWishView:
    """Get how much the caller wants to be told by mail, and where it goes."""
    user = find_user(call.db, call.actor.user_id)
    wish = wish_or_none(call.db, user.id, EVERYWHERE, 0)
    chosen = wish.email if wish else None
    return own_wish_view(wish, chosen if chosen in addresses_of_user(call.db, user) and chosen else user.email)


@routes.put("/notification_settings", may=signed_in, returns=OwnWishView)
def set_own_wishes(call: Call, params: SetOwnWishes) -> OwnWishView:
    """Say how much the caller wants to be told by mail, and where it goes."""
    set_wishes(call.db, find_user(call.db, call.actor.user_id), EVERYWHERE, 0, params)
    return get_own_wishes(call)


@routes.get("/groups/:id/notification_settings", on=group_in_path, may=policy.may_wish_of_group, returns=WishView)
def get_group_wishes(call: Call, group: Namespace) -> WishView:
    """Get how much the caller wants to be told of a group."""
    return wish_view(wish_or_none(call.db, call.actor.user_id, "group", group.id))


@routes.put("/groups/:id/notification_settings", on=group_in_path, may=policy.may_wish_of_group, returns=WishView)
def set_group_wishes(call: Call, group: Namespace, params: SetWishes) -> WishView:
    """Say how much the caller wants to be told of a group."""
    set_wishes(call.db, find_user(call.db, call.actor.user_id), "group", group.id, params)
    return get_group_wishes(call, group)


@routes.get("/projects/:id/notification_settings", on=project_in_path, may=policy.may_wish_of_project, returns=WishView)
def get_project_wishes(call: Call, project: Project) -> WishView:
    """Get how much the caller wants to be told of a project."""
    return wish_view(wish_or_none(call.db, call.actor.user_id, "project", project.id))


@routes.put("/projects/:id/notification_settings", on=project_in_path, may=policy.may_wish_of_project, returns=WishView)
def set_project_wishes(call: Call, project: Project, params: SetWishes) -> WishView:
    """Say how much the caller wants to be told of a project."""
    set_wishes(call.db, find_user(call.db, call.actor.user_id), "project", project.id, params)
    return get_project_wishes(call, project)
