"""Endpoints of notification settings."""

from ingot.accounts.users.queries import find_user
from ingot.core.access.rules import signed_in
from ingot.core.api.routes import Call, Routes
from ingot.notifications import policy
from ingot.notifications.params import UpdateGlobalNotificationSettings, UpdateNotificationSettings
from ingot.notifications.queries import GLOBAL, confirmed_emails_of, notification_setting_or_none
from ingot.notifications.service import update_notification_setting
from ingot.notifications.views import (
    GlobalNotificationSettingsView,
    NotificationSettingsView,
    global_notification_settings_view,
    notification_settings_view,
)
from ingot.projects.groups.api import group_in_path
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.tables import Project

routes = Routes("notification settings")


@routes.get("/notification_settings", may=signed_in, returns=GlobalNotificationSettingsView)
def get_global_notification_settings(call: Call) -> GlobalNotificationSettingsView:
    """Get the caller's global notification level and email."""
    user = find_user(call.db, call.actor.user_id)
    setting = notification_setting_or_none(call.db, user.id, GLOBAL, 0)
    email = setting.email if setting else None
    return global_notification_settings_view(
        setting, email if email in confirmed_emails_of(call.db, user) and email else user.email
    )


@routes.put("/notification_settings", may=signed_in, returns=GlobalNotificationSettingsView)
def update_global_notification_settings(
    call: Call, params: UpdateGlobalNotificationSettings
) -> GlobalNotificationSettingsView:
    """Update the caller's global notification level and email."""
    update_notification_setting(call.db, find_user(call.db, call.actor.user_id), GLOBAL, 0, params)
    return get_global_notification_settings(call)


@routes.get(
    "/groups/:id/notification_settings",
    on=group_in_path,
    may=policy.may_set_group_notifications,
    returns=NotificationSettingsView,
)
def get_group_notification_settings(call: Call, group: Namespace) -> NotificationSettingsView:
    """Get the caller's notification settings of a group."""
    return notification_settings_view(notification_setting_or_none(call.db, call.actor.user_id, "group", group.id))


@routes.put(
    "/groups/:id/notification_settings",
    on=group_in_path,
    may=policy.may_set_group_notifications,
    returns=NotificationSettingsView,
)
def update_group_notification_settings(
    call: Call, group: Namespace, params: UpdateNotificationSettings
) -> NotificationSettingsView:
    """Update the caller's notification settings of a group."""
    update_notification_setting(call.db, find_user(call.db, call.actor.user_id), "group", group.id, params)
    return get_group_notification_settings(call, group)


@routes.get(
    "/projects/:id/notification_settings",
    on=project_in_path,
    may=policy.may_set_project_notifications,
    returns=NotificationSettingsView,
)
def get_project_notification_settings(call: Call, project: Project) -> NotificationSettingsView:
    """Get the caller's notification settings of a project."""
    return notification_settings_view(notification_setting_or_none(call.db, call.actor.user_id, "project", project.id))


@routes.put(
    "/projects/:id/notification_settings",
    on=project_in_path,
    may=policy.may_set_project_notifications,
    returns=NotificationSettingsView,
)
def update_project_notification_settings(
    call: Call, project: Project, params: UpdateNotificationSettings
) -> NotificationSettingsView:
    """Update the caller's notification settings of a project."""
    update_notification_setting(call.db, find_user(call.db, call.actor.user_id), "project", project.id, params)
    return get_project_notification_settings(call, project)
