"""General settings, archiving, transfer and deletion of a project."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ingot.ci.catalog import api as catalog_api
from ingot.ci.catalog.views import is_in_catalog
from ingot.core.errors import NotFound
from ingot.projects.forks import api as forks_api
from ingot.projects.projects import api as projects_api
from ingot.repositories.protection import api as protection_api
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects import general_settings
from ingot.web.projects.context import ProjectContext, project_context
from ingot.web.projects.forms import FormsState, form_values, submit_form
from ingot.web.projects.general_settings import FormParts, submitted_part
from ingot.web.projects.namespaces import find_typed_namespace, namespace_options
from ingot.web.projects.option_fields import PART, OptionField, project_effects, project_fields, save_options

pages = PageRoutes()
FEATURES = {
    "public_jobs": "Public pipelines: visible to everyone with access to the project",
    "lfs_enabled": "Git Large File Storage (LFS)",
    "request_access_enabled": "Users can request access",
    "emails_enabled": "Emails about the project",
    "warn_about_potentially_unwanted_characters": "Warnings of invisible characters in code",
    "show_diff_preview_in_email": "Emails about comments show the lines of the diff",
    "show_default_award_emojis": "Thumbs up and down are always offered as reactions",
    "enforce_auth_checks_on_uploads": "Uploaded images need a sign-in where the project does",
    "printing_merge_request_link_enabled": "Show a link to create a merge request after a push",
}
REPOSITORY = {"enabled": "Everyone with access", "private": "Only project members", "disabled": "Disabled"}
MERGING = {
    "only_allow_merge_if_pipeline_succeeds": "Pipelines must succeed",
    "only_allow_merge_if_all_discussions_are_resolved": "All threads must be resolved",
    "rebase_stacked_merge_requests": "Rebase the merge requests stacked on one whose commits the merge has rewritten",
    "remove_source_branch_after_merge": "Delete the source branch by default",
    "autoclose_referenced_issues": "Close issues that merge requests and commits name",
    "resolve_outdated_diff_discussions": "Resolve threads on lines that a push changes",
    "mr_default_target_self": "Merge requests of a fork target the fork by default",
    "merge_pipelines_enabled": "Merged results pipelines: test merge requests as merged into their target",
    "merge_trains_enabled": "Merge trains: merge one after the other, each tested with those before it",
    "merge_trains_skip_train_allowed": "Merge trains can be skipped: a merge may leave their pipelines running",
}
TEXTS = {
    "issue_branch_template": "Names of branches for issues",
    "merge_request_title_regex": "Expression that titles must match before a merge",
    "merge_request_title_regex_description": "What titles must look like",
    "merge_requests_template": "Description of new merge requests",
    "issues_template": "Description of new issues",
}
LONG_TEXTS = {"merge_requests_template", "issues_template"}
NUMBERS = {
    "merge_trains_parallel_pipelines": ("Merge train pipelines at the same time", 100),
    "merge_trains_batch_size": ("Merge requests tested by one pipeline of a merge train", 20),
}
METHODS = {
    "merge": "Merge commit",
    "rebase_merge": "Merge commit with semi-linear history",
    "ff": "Fast-forward merge",
}
SQUASHING = {
    "default_off": "Allow (off by default)",
    "default_on": "Encourage (on by default)",
    "always": "Require",
    "never": "Do not allow",
}
VISIBILITIES = {
    "private": "Visible to members only",
    "internal": "Visible to all signed-in users",
    "public": "Visible to everyone",
}
_FORM_PARTS: FormParts = {
    "general": (("name", "description", "topics"), ()),
    "features": (("repository_access_level",), tuple(FEATURES)),
    "merging": (("merge_method", "squash_option", *TEXTS, *NUMBERS), tuple(MERGING)),
    "visibility": (("visibility",), ()),
    "path": (("path",), ()),
}


def find_project_settings(visit: Visit) -> ProjectContext:
    """Return the project; raise ``NotFound`` unless the user has permission to administer it."""
    parent = project_context(visit)
    if not parent.may(protection_api.list_protected_branches):
        raise NotFound("Page")
    return parent


@pages.get("/:path/-/edit")
def show_settings(visit: Visit) -> PageResponse:
    """Show the general settings of a project."""
    return _settings_page(find_project_settings(visit), FormsState())


@pages.put("/:path/-/edit", notice="Settings saved.")
def change_settings(visit: Visit) -> PageResponse:
    """Save one of the settings forms and redirect to the settings, which may have a new path."""
    parent = find_project_settings(visit)
    if visit.request.form.get("part") == PART:
        save, shown = partial(parent.ask, projects_api.edit_project), partial(_settings_page, parent)
        fields = _option_fields(visit)
        return save_options(visit, fields, parent.project, save, shown, f"{parent.url}/-/edit")
    part, typed = submitted_part(visit, _FORM_PARTS)
    params = {name: value for name, value in typed.items() if value != "" or name != "repository_access_level"}
    if "topics" in params:
        params["topics"] = [topic.strip() for topic in typed["topics"].split(",") if topic.strip()]
    path = typed.get("path") or parent.project.path
    url = f"/{parent.project.namespace.full_path}/{path}/-/edit"
    return submit_form(
        part, typed, lambda: parent.ask(projects_api.edit_project, params), partial(_settings_page, parent), url
    )


@pages.post("/:path/-/settings/avatar", notice="Avatar changed.")
def change_picture(visit: Visit) -> PageResponse:
    """Change or remove the avatar of a project."""
    parent = find_project_settings(visit)
    return general_settings.change_picture(parent, partial(_settings_page, parent))


@pages.post("/:path/-/settings/archive", notice="Project archived.")
def archive(visit: Visit) -> PageResponse:
    """Archive a project, which makes it read-only."""
    return _submit_action(find_project_settings(visit), projects_api.archive_project, "archive")


@pages.post("/:path/-/settings/unarchive", notice="Project unarchived.")
def unarchive(visit: Visit) -> PageResponse:
    """Unarchive a project."""
    return _submit_action(find_project_settings(visit), projects_api.unarchive_project, "archive")


@pages.post("/:path/-/settings/catalog", notice="Project added to the CI/CD catalog.")
def add_to_catalog(visit: Visit) -> PageResponse:
    """Let a project publish components in the CI/CD catalog."""
    return _submit_action(find_project_settings(visit), catalog_api.create_catalog_resource, "catalog")


@pages.delete("/:path/-/settings/catalog", notice="Project removed from the CI/CD catalog.")
def remove_from_catalog(visit: Visit) -> PageResponse:
    """Remove a project with its published versions from the CI/CD catalog."""
    return _submit_action(find_project_settings(visit), catalog_api.delete_catalog_resource, "catalog")


@pages.delete("/:path/-/settings/fork", notice="Fork relationship removed.")
def remove_fork_relation(visit: Visit) -> PageResponse:
    """Remove the fork relationship of a project."""
    return _submit_action(find_project_settings(visit), forks_api.delete_fork_relation, "fork")


@pages.put("/:path/-/settings/transfer", notice="Project transferred.")
def transfer(visit: Visit) -> PageResponse:
    """Transfer a project to another namespace and redirect to it."""
    parent = find_project_settings(visit)
    typed = form_values(visit, "transfer", ("namespace",))
    try:
        namespace = find_typed_namespace(visit, typed["namespace"]).full_path
        parent.ask(projects_api.transfer_project, {"namespace": namespace})
    except REQUEST_ERRORS as error:
        return _settings_page(parent, FormsState("transfer", typed, error_messages(error)))
    return LocalRedirect(f"/{namespace}/{parent.project.path}")


@pages.post("/:path/-/settings/restore", notice="Project restored.")
def restore(visit: Visit) -> PageResponse:
    """Take back the scheduled deletion of a project."""
    parent = find_project_settings(visit)
    return general_settings.restore(parent, partial(_settings_page, parent))


@pages.delete("/:path/-/edit")
def delete(visit: Visit) -> PageResponse:
    """Delete a project with its content after the user typed its path, and show the progress."""
    parent = find_project_settings(visit)
    return general_settings.delete(parent, parent.project.path_with_namespace, 1, partial(_settings_page, parent))


def _submit_action(parent: ProjectContext, endpoint: Callable[..., object], form: str) -> PageResponse:
    return submit_form(form, {}, lambda: parent.ask(endpoint), partial(_settings_page, parent), f"{parent.url}/-/edit")


def _option_fields(visit: Visit) -> tuple[OptionField, ...]:
    storages = tuple(projects_api.repository_store(visit.settings).roots)
    return project_fields(admin=visit.viewer.actor.admin, storages=storages)


def _settings_page(parent: ProjectContext, forms: FormsState) -> TemplateResponse:
    options = namespace_options(parent.visit)
    context: dict[str, Any] = {
        "section": "edit",
        "forms": forms,
        "effects": project_effects(),
        "features": FEATURES,
        "option_fields": _option_fields(parent.visit),
        "repository": REPOSITORY,
        "merging": MERGING,
        "texts": TEXTS,
        "long_texts": LONG_TEXTS,
        "numbers": NUMBERS,
        "methods": METHODS,
        "squashing": SQUASHING,
        "visibilities": VISIBILITIES,
        "schedules_deletion": general_settings.schedules_deletion(parent),
        "may_change": parent.may(projects_api.edit_project),
        "may_own": parent.may(projects_api.archive_project),
        "may_publish": parent.may(catalog_api.create_catalog_resource),
        "in_catalog": parent.visit.database.read(lambda db: is_in_catalog(db, parent.project.id)),
        "may_unlink": parent.may(forks_api.delete_fork_relation) and bool(parent.project.forked_from_project),
        "namespaces": [
            (each.full_path, each.full_path) for each in options.items if each.id != parent.project.namespace.id
        ],
        "searched": options.items if options.more else [],
    }
    return parent.page("projects/edit.html", "settings", context, forms.status)


@pages.get("/:path/-/settings")
def redirect_to_settings(visit: Visit) -> PageResponse:
    """Redirect to the general settings."""
    return LocalRedirect(f"{find_project_settings(visit).url}/-/edit")
