"""Shared parts of the general settings of projects and groups: forms, avatar and deletion."""

from collections.abc import Callable, Mapping
from typing import Any

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.core.db.times import Date
from ingot.core.errors import Invalid, NotFound
from ingot.projects.group_projects import api as group_projects_api
from ingot.projects.groups import api as groups_api
from ingot.projects.namespaces.scheduled_deletion import scheduled_name
from ingot.projects.projects import api as projects_api
from ingot.web.issues.group_context import ProjectOrGroupContext
from ingot.web.page_routes import PageResponse, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext
from ingot.web.projects.deletion import deletion_url
from ingot.web.projects.forms import FormsState, form_values, submit_form, uploaded_picture

FormParts = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
"""Text fields and flags of each form of a page, by form name."""
PageWithErrors = Callable[[FormsState], TemplateResponse]


def submitted_part(visit: Visit, parts: FormParts) -> tuple[str, dict[str, Any]]:
    """Return the name and values of the submitted form; raise ``NotFound`` if it is unknown."""
    part = str(visit.request.form.get("part", ""))
    if part not in parts:
        raise NotFound("Form")
    return part, form_values(visit, part, *parts[part])


def change_picture(parent: ProjectOrGroupContext, show_errors: PageWithErrors) -> PageResponse:
    """Change or remove the avatar."""
    params = {"avatar": uploaded_picture(parent.visit)}
    return submit_form(
        "avatar",
        {},
        lambda: parent.ask(parent.either(projects_api.edit_project, group_projects_api.edit_group), params),
        show_errors,
        f"{parent.url}/-/edit",
    )


def delete(parent: ProjectOrGroupContext, full_path: str, projects: int, show_errors: PageWithErrors) -> PageResponse:
    """Delete a project or group with its content after the user typed its path, and show the progress."""
    typed = form_values(parent.visit, "delete", ("confirm",))
    will_be_scheduled, is_scheduled = schedules_deletion(parent), marked_on(parent) is not None

    def act() -> None:
        if typed["confirm"] != full_path:
            raise Invalid(base=[f"Enter {full_path} to confirm the deletion"])
        params = {"permanently_remove": "true", "full_path": full_path} if is_scheduled else {}
        parent.ask(parent.either(projects_api.delete_project, groups_api.delete_group), params)

    kind = "project" if isinstance(parent, ProjectContext) else "group"
    after = deletion_url(parent.visit, kind, full_path, projects)
    if will_be_scheduled:
        after = f"{_scheduled_url(parent, full_path)}/-/edit"
    return submit_form("delete", typed, act, show_errors, after)


def restore(parent: ProjectOrGroupContext, show_errors: PageWithErrors) -> PageResponse:
    """Take back the scheduled deletion of a project or group."""
    return submit_form(
        "restore",
        {},
        lambda: parent.ask(parent.either(projects_api.restore_project, groups_api.restore_group)),
        show_errors,
        parent.url,
    )


def _scheduled_url(parent: ProjectOrGroupContext, full_path: str) -> str:
    """Return the address of a project or group that has just been scheduled for deletion."""
    above, _, path = full_path.rpartition("/")
    subject = parent.project if isinstance(parent, ProjectContext) else parent.group
    kind = [] if isinstance(parent, ProjectContext) else ["groups"]
    return "/" + "/".join([*kind, *([above] if above else []), scheduled_name(path, subject.id)])


def schedules_deletion(parent: ProjectOrGroupContext) -> bool:
    """Return whether a deletion only marks the project or group, because the instance delays deletions."""
    is_delayed = parent.visit.database.read(cached_all_settings).deletion_adjourned_period > 0
    return is_delayed and marked_on(parent) is None


def marked_on(parent: ProjectOrGroupContext) -> Date | None:
    """Return when a project or group was marked for deletion; None if it was not."""
    subject = parent.project if isinstance(parent, ProjectContext) else parent.group
    marked: Date | None = subject.marked_for_deletion_on  # type: ignore[union-attr]  # Declared as an option.
    return marked
