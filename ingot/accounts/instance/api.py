"""Endpoints of the instance: version, settings, broadcast messages."""

import msgspec

from ingot.accounts.audit_events.service import Entity, record_changes
from ingot.accounts.audit_events.tables import INSTANCE
from ingot.accounts.instance import plan_limits, queries, service
from ingot.accounts.instance.all_settings import all_settings, decode_all_settings
from ingot.accounts.instance.params import CreateBroadcastMessage, ModifySettings, UpdateBroadcastMessage
from ingot.accounts.instance.plan_limits import ChangePlanLimits, GetPlanLimits, PlanLimitsView, plan_limits_view
from ingot.accounts.instance.ports import TermsAcceptance
from ingot.accounts.instance.settings import stored_settings
from ingot.accounts.instance.tables import BroadcastMessage
from ingot.accounts.instance.views import (
    BroadcastMessageView,
    MetadataView,
    NodeView,
    SettingsView,
    VersionView,
    broadcast_message_view,
    metadata_view,
    node_view,
    settings_view,
    version_view,
)
from ingot.core.access.levels import NO_ACCESS, Access
from ingot.core.access.rules import administrators, signed_in
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.nodes.queries import list_nodes

routes = Routes("instance")


@routes.get("/version", may=signed_in, returns=VersionView)
def get_version(call: Call) -> VersionView:
    """Get the version of the server."""
    return version_view(call.settings.reported_version)


@routes.get("/metadata", may=signed_in, returns=MetadataView)
def get_metadata(call: Call) -> MetadataView:
    """Get the version of the server and its components."""
    return metadata_view(call.settings.reported_version)


@routes.get("/admin/nodes", may=administrators, returns=list[NodeView])
def list_instance_nodes(call: Call) -> list[NodeView]:
    """List the machines that serve the instance, with their roles and clocks."""
    return [node_view(node) for node in list_nodes(call.db)]


# Without rate limits, so that an administrator can undo a limit that is too low.
@routes.get("/application/settings", may=administrators, returns=SettingsView, rate_limited=False)
def get_settings(call: Call) -> SettingsView:
    """Get the settings of the instance."""
    return settings_view(call.db, stored_settings(call.db))


@routes.put("/application/settings", may=administrators, returns=SettingsView, rate_limited=False)
def modify_settings(call: Call, params: ModifySettings) -> SettingsView:
    """Modify settings of the instance."""
    storages = ("default", *call.settings.storage_directories)
    before = all_settings(call.db)
    stored = service.modify_settings(call.db, params, storages)
    after = decode_all_settings(stored)
    if after.terms != before.terms:
        call.db.ports[TermsAcceptance].accept(call.db, call.actor.sudo_by or call.actor.user_id)
    values = msgspec.structs.asdict
    record_changes(call, Entity(INSTANCE, 1, "instance"), values(before), values(after))
    return settings_view(call.db, stored)


@routes.get("/application/plan_limits", may=administrators, returns=PlanLimitsView)
def get_plan_limits(call: Call, params: GetPlanLimits) -> PlanLimitsView:  # noqa: ARG001 - The only plan is the default.
    """Get the limits of the default plan that have an effect on this server."""
    return plan_limits_view(all_settings(call.db), call.settings.ci_needs_size_limit)


@routes.put("/application/plan_limits", may=administrators, returns=PlanLimitsView)
def change_plan_limits(call: Call, params: ChangePlanLimits) -> PlanLimitsView:
    """Change limits of the default plan."""
    return plan_limits_view(plan_limits.change_plan_limits(call.db, params), call.settings.ci_needs_size_limit)


def _message_in_path(call: Call) -> tuple[Access, BroadcastMessage]:
    """Return the broadcast message with the id in the path."""
    return NO_ACCESS, queries.find_broadcast_message(call.db, path_number(call.path, "id"))


@routes.get("/broadcast_messages", may=administrators, returns=list[BroadcastMessageView])
def list_broadcast_messages(call: Call, page: Page) -> Listing[BroadcastMessageView]:
    """List the broadcast messages."""
    listing = queries.list_broadcast_messages(call.db, page)
    return listing.of([broadcast_message_view(message, call.db.now) for message in listing.items])


@routes.get("/broadcast_messages/:id", on=_message_in_path, may=administrators, returns=BroadcastMessageView)
def get_broadcast_message(call: Call, message: BroadcastMessage) -> BroadcastMessageView:
    """Get a broadcast message."""
    return broadcast_message_view(message, call.db.now)


@routes.post("/broadcast_messages", may=administrators, returns=BroadcastMessageView)
def create_broadcast_message(call: Call, params: CreateBroadcastMessage) -> BroadcastMessageView:
    """Create a broadcast message."""
    return broadcast_message_view(service.create_broadcast_message(call.db, params), call.db.now)


@routes.put("/broadcast_messages/:id", on=_message_in_path, may=administrators, returns=BroadcastMessageView)
def update_broadcast_message(
    call: Call, message: BroadcastMessage, params: UpdateBroadcastMessage
) -> BroadcastMessageView:
    """Update a broadcast message."""
    return broadcast_message_view(service.update_broadcast_message(call.db, message, params), call.db.now)


@routes.delete("/broadcast_messages/:id", may=administrators, returns=BroadcastMessageView)
def delete_broadcast_message(call: Call) -> BroadcastMessageView | None:
    """Delete a broadcast message."""
    message = queries.broadcast_message_or_none(call.db, path_number(call.path, "id"))
    if message is None:
        return None
    service.delete_broadcast_message(call.db, message)
    return broadcast_message_view(message, call.db.now)
