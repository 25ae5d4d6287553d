"""Shared parts of the general settings of projects and groups: forms, avatar and deletion."""

from collections.abc import Callable, Mapping
from typing import Any

from ingot.errors import Invalid, NotFound
from ingot.projects.group_projects import api as group_projects_api
from ingot.projects.groups import api as groups_api
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

    def act() -> None:
        if typed["confirm"] != full_path:
            raise Invalid(base=[f"Enter {full_path} to confirm the deletion"])
        parent.ask(parent.either(projects_api.delete_project, groups_api.delete_group))

    kind = "project" if isinstance(parent, ProjectContext) else "group"
    return submit_form("delete", typed, act, show_errors, deletion_url(parent.visit, kind, full_path, projects))
