"""Creation, settings, transfer and deletion of groups."""

from functools import partial
from typing import Any

from ingot.projects.group_projects import api as group_projects_api
from ingot.projects.groups import api as groups_api
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.groups.settings_parent import find_group_settings, settings_page
from ingot.web.issues.group_context import GroupContext
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects import general_settings
from ingot.web.projects.forms import FormsState, form_values, nonempty_values, submit_form
from ingot.web.projects.general_settings import FormParts, submitted_part
from ingot.web.projects.namespaces import find_typed_namespace, group_options, namespace_path
from ingot.web.projects.option_fields import PART, group_effects, group_fields, save_options
from ingot.web.projects.settings import VISIBILITIES

pages = PageRoutes()
FLAGS = {
    "request_access_enabled": "Users can request access",
    "share_with_group_lock": "Prevent sharing its projects with other groups",
    "lfs_enabled": "Git Large File Storage (LFS)",
    "require_two_factor_authentication": "Members must use two-factor authentication",
}
RULES = {
    "show_diff_preview_in_email": "Emails about comments show the lines of the diff",
    "membership_lock": "No members can be added to projects",
    "prevent_forking_outside_group": "Fork projects only within this group",
    "prevent_sharing_groups_outside_hierarchy": "Share groups and projects only within this group",
}
RUNNERS = {
    "enabled": "Projects may use the runners of the instance",
    "disabled_and_overridable": "Disabled, projects may enable them",
    "disabled_and_unoverridable": "Disabled in all projects",
}
PROTOCOLS = {"": "Setting of the instance", "ssh": "Only SSH", "http": "Only HTTP"}
CREATION = {
    "developer": "Developers and above",
    "maintainer": "Maintainers and above",
    "owner": "Owners",
    "administrator": "Administrators",
    "noone": "No one",
}
_FORM_PARTS: FormParts = {
    "general": (
        ("name", "description", "visibility", "project_creation_level", "two_factor_grace_period"),
        tuple(FLAGS),
    ),
    "rules": (
        ("shared_runners_setting", "enabled_git_access_protocol", "default_branch", "ip_restriction_ranges"),
        tuple(RULES),
    ),
    "path": (("path",), ()),
}


@pages.get("/groups/new")
def show_form(visit: Visit) -> PageResponse:
    """Show the form for a new group; ``parent_id`` preselects the parent group."""
    return _new_group_page(visit, FormsState("group", {"parent_id": str(visit.request.query.get("parent_id", ""))}))


@pages.post("/groups", notice="Group created.")
def create_group(visit: Visit) -> PageResponse:
    """Create a group and redirect to it."""
    typed = form_values(visit, "group", ("name", "path", "parent_id", "parent", "description", "visibility"))
    try:
        group = visit.ask(group_projects_api.create_group, _with_parent(visit, typed, "parent_id"))
    except REQUEST_ERRORS as error:
        return _new_group_page(visit, FormsState("group", typed, error_messages(error)))
    return LocalRedirect(f"/groups/{group.full_path}")


def _with_parent(visit: Visit, typed: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the API parameters, with the id of the parent group if its path was typed instead of selected."""
    params = nonempty_values({field: value for field, value in typed.items() if field != "parent"})
    return params | {name: find_typed_namespace(visit, typed["parent"]).id} if typed["parent"] else params


def _new_group_page(visit: Visit, forms: FormsState) -> TemplateResponse:
    options = group_options(visit)
    parent_path = forms.value("group", "parent")
    if options.more and not parent_path:
        parent_path = namespace_path(visit, forms.value("group", "parent_id"))
    context = {"forms": forms, "options": options, "parent_path": parent_path, "visibilities": VISIBILITIES}
    return TemplateResponse("groups/new.html", context, forms.status)


@pages.get("/groups/:path/-/edit")
def show_settings(visit: Visit) -> PageResponse:
    """Show the general settings of a group."""
    return _settings_page(find_group_settings(visit), FormsState())


@pages.put("/groups/:path/-/edit", notice="Settings saved.")
def change_settings(visit: Visit) -> PageResponse:
    """Save one of the settings forms and redirect to the settings, which may have a new path."""
    group_context = find_group_settings(visit)
    if visit.request.form.get("part") == PART:
        save_changed = partial(group_context.ask, group_projects_api.edit_group)
        fields, shown = group_fields(admin=visit.viewer.actor.admin), partial(_settings_page, group_context)
        return save_options(visit, fields, group_context.group, save_changed, shown, f"{group_context.url}/-/edit")
    part, typed = submitted_part(visit, _FORM_PARTS)
    parent_path = group_context.group.full_path.rpartition("/")[0]
    path = "/".join(filter(None, (parent_path, typed.get("path") or group_context.group.path)))
    save = partial(group_context.ask, group_projects_api.edit_group, typed)
    return submit_form(part, typed, save, partial(_settings_page, group_context), f"/groups/{path}/-/edit")


@pages.post("/groups/:path/-/settings/avatar", notice="Avatar changed.")
def change_picture(visit: Visit) -> PageResponse:
    """Change or remove the avatar of a group."""
    group_context = find_group_settings(visit)
    return general_settings.change_picture(group_context, partial(_settings_page, group_context))


@pages.put("/groups/:path/-/settings/transfer", notice="Group transferred.")
def transfer(visit: Visit) -> PageResponse:
    """Transfer a group to another parent group or to the top level."""
    group_context = find_group_settings(visit)
    typed = form_values(visit, "transfer", ("group_id", "parent"))
    try:
        group = group_context.ask(groups_api.transfer_group, _with_parent(visit, typed, "group_id"))
    except REQUEST_ERRORS as error:
        return _settings_page(group_context, FormsState("transfer", typed, error_messages(error)))
    return LocalRedirect(f"/groups/{group.full_path}")


@pages.post("/groups/:path/-/settings/restore", notice="Group restored.")
def restore(visit: Visit) -> PageResponse:
    """Take back the scheduled deletion of a group."""
    group_context = find_group_settings(visit)
    return general_settings.restore(group_context, partial(_settings_page, group_context))


@pages.delete("/groups/:path/-/edit")
def delete(visit: Visit) -> PageResponse:
    """Delete a group with its content after the user typed its path, and show the progress."""
    group_context = find_group_settings(visit)
    every = {"include_subgroups": "true", "with_shared": "false", "per_page": 1}
    projects = group_context.ask(group_projects_api.list_projects_of_group, every).total or 0
    return general_settings.delete(
        group_context, group_context.group.full_path, projects, partial(_settings_page, group_context)
    )


def _settings_page(group_context: GroupContext, forms: FormsState) -> TemplateResponse:
    group = group_context.group
    options = group_options(group_context.visit)
    prefix = f"{group.full_path}/"
    context: dict[str, Any] = {
        "forms": forms,
        "schedules_deletion": general_settings.schedules_deletion(group_context),
        "effects": group_effects(),
        "flags": FLAGS,
        "rules": RULES,
        "option_fields": group_fields(admin=group_context.visit.viewer.actor.admin),
        "runners": RUNNERS,
        "protocols": PROTOCOLS,
        "creation": CREATION,
        "visibilities": VISIBILITIES,
        "owned": [
            ("", "No parent group"),
            *(
                (each.id, each.full_path)
                for each in options.items
                if each.id != group.id and not each.full_path.startswith(prefix)
            ),
        ],
        "searched": options.items if options.more else [],
    }
    return settings_page(group_context, "groups/edit.html", "edit", context, forms.status)
