"""Feature flags of a project, its lists of users, and the configuration of applications that read the flags."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ingot.core.errors import NotFound
from ingot.projects.feature_flags import api as feature_flags_api
from ingot.projects.feature_flags.service import reset_instance_id
from ingot.projects.feature_flags.views import client_instance_id
from ingot.projects.projects import api as projects_api
from ingot.web.ci.sections import ci_page
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext, project_context
from ingot.web.projects.forms import FormsState, form_values, nonempty_values, submit_form

pages = PageRoutes()
STRATEGIES = {
    "default": "All users",
    "flexibleRollout": "Percentage of users",
    "userWithId": "User IDs",
    "gitlabUserList": "User list",
}
_FLAG_FIELDS = ("name", "description", "strategy", "percentage", "user_ids", "user_list", "environment_scope")


@pages.get("/:path/-/feature_flags")
def show_feature_flags(visit: Visit) -> PageResponse:
    """List the feature flags and the lists of users."""
    return _page(project_context(visit), FormsState())


@pages.post("/:path/-/feature_flags", notice="Feature flag created.")
def create_feature_flag(visit: Visit) -> PageResponse:
    """Create a feature flag with one strategy."""
    typed = form_values(visit, "flag", _FLAG_FIELDS, ("active",))
    params = nonempty_values({name: typed[name] for name in ("name", "description")})
    params |= {"active": typed["active"], "strategies": [_strategy(typed)]}
    return _submit(visit, "flag", typed, feature_flags_api.create_feature_flag, params)


@pages.put("/:path/-/feature_flags/:name", notice="Feature flag saved.")
def change_feature_flag(visit: Visit) -> PageResponse:
    """Enable or disable a feature flag."""
    params = form_values(visit, "flag", (), ("active",))
    name = visit.request.path["name"]
    return _submit(visit, "flags", {}, feature_flags_api.edit_feature_flag, params, feature_flag_name=name)


@pages.delete("/:path/-/feature_flags/:name", notice="Feature flag deleted.")
def delete_feature_flag(visit: Visit) -> PageResponse:
    """Delete a feature flag."""
    name = visit.request.path["name"]
    return _submit(visit, "flags", {}, feature_flags_api.delete_feature_flag, feature_flag_name=name)


@pages.post("/:path/-/feature_flags_user_lists", notice="User list created.")
def create_user_list(visit: Visit) -> PageResponse:
    """Create a list of users."""
    typed = form_values(visit, "list", ("name", "user_xids"))
    return _submit(visit, "list", typed, feature_flags_api.create_user_list, typed)


@pages.delete("/:path/-/feature_flags_user_lists/:iid", notice="User list deleted.")
def delete_user_list(visit: Visit) -> PageResponse:
    """Delete a list of users."""
    return _submit(visit, "lists", {}, feature_flags_api.delete_user_list, iid=visit.request.path["iid"])


@pages.post("/:path/-/feature_flags_client", notice="Instance ID reset.")
def reset_client(visit: Visit) -> PageResponse:
    """Replace the instance id with which applications authenticate."""
    parent = project_context(visit)
    if not parent.may(projects_api.edit_project):
        raise NotFound("Page")

    def reset() -> None:
        visit.database.write(partial(reset_instance_id, project_id=parent.project.id))

    return submit_form("client", {}, reset, partial(_page, parent), _url(parent))


def _strategy(typed: dict[str, Any]) -> dict[str, Any]:
    name = typed["strategy"] or "default"
    strategy: dict[str, Any] = {"name": name, "scopes": [{"environment_scope": typed["environment_scope"] or "*"}]}
    if name == "flexibleRollout":
        rollout = typed["percentage"].strip() or "100"
        strategy["parameters"] = {"groupId": "default", "rollout": rollout, "stickiness": "default"}
    elif name == "userWithId":
        users = [user.strip() for user in typed["user_ids"].split(",")]
        strategy["parameters"] = {"userIds": ",".join(user for user in users if user)}
    elif name == "gitlabUserList":
        strategy |= nonempty_values({"user_list_id": typed["user_list"]})
    return strategy


def _submit(
    visit: Visit,
    form: str,
    typed: dict[str, Any],
    endpoint: Callable[..., object],
    params: dict[str, Any] | None = None,
    **path: object,
) -> PageResponse:
    parent = project_context(visit)
    return submit_form(form, typed, lambda: parent.ask(endpoint, params, **path), partial(_page, parent), _url(parent))


def _url(parent: ProjectContext) -> str:
    return f"{parent.url}/-/feature_flags"


def _page(parent: ProjectContext, forms: FormsState) -> TemplateResponse:
    visit, every = parent.visit, {"per_page": 100}
    flags = parent.ask(feature_flags_api.list_feature_flags, {**every, "page": visit.request.page})
    secret = ""
    if parent.may(projects_api.edit_project):
        secret = visit.database.read(partial(client_instance_id, project_id=parent.project.id))
    context: dict[str, Any] = {
        "forms": forms,
        "flags": flags,
        "lists": parent.ask(feature_flags_api.list_user_lists, every).items,
        "strategies": STRATEGIES,
        "secret": secret,
        "api_url": f"{visit.settings.base_url}/api/v4/feature_flags/unleash/{parent.project.id}",
        "may_change": parent.may(feature_flags_api.create_feature_flag),
    }
    return ci_page(parent, "ci/feature_flags.html", "feature_flags", context, forms.status)
