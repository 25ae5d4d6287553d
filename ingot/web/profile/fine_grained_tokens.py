"""Page that creates personal access tokens with fine-grained permissions."""

from typing import Any

from ingot.accounts.tokens.granular_scopes import MAX_TARGETS, granular_scopes
from ingot.accounts.tokens.service import create_token
from ingot.core.access.restrictions import TokenRestrictions
from ingot.core.api.granular_permissions import permissions_by_place
from ingot.core.db.times import Timestamp, parse_date
from ingot.core.errors import Invalid, NotFound
from ingot.projects.group_projects import api as group_projects_api
from ingot.projects.projects import api as projects_api
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit, form_field

pages = PageRoutes()
_ADDRESS = "/profile/personal_access_tokens/fine_grained"
_GROUP = "token"
_BOUNDARIES = {
    "selected_memberships": "Only these projects and groups",
    "all_memberships": "All projects and groups of which I am a member",
    "personal_projects": "Projects in my own namespace",
}
_MEMBERS = "members"
"""Part of the form with permissions in projects and groups, which have the same names."""


@pages.get("/profile/personal_access_tokens/fine_grained")
def show_fine_grained_form(visit: Visit) -> PageResponse:  # noqa: ARG001 - The signature of a page.
    """Show the form for a token with fine-grained permissions."""
    return _form()


@pages.post("/profile/personal_access_tokens/fine_grained")
def create_fine_grained_token(visit: Visit) -> PageResponse:
    """Create a token with fine-grained permissions and show its value once."""
    form = visit.request.form
    typed = {name: form_field(form, _GROUP, name) for name in ("name", "expires_at", "access", "paths")}
    chosen = _chosen(form)
    tools = form_field(form, _GROUP, "mcp_tools").replace(",", " ").split()
    typed["mcp_tools"] = " ".join(tools)
    try:
        expires_at = Timestamp(f"{parse_date(typed['expires_at'])}T00:00:00.000Z") if typed["expires_at"] else None
        scopes = granular_scopes(_scopes(visit, typed, chosen))
        restrictions = TokenRestrictions(tuple(tools) if tools else None, scopes)
        _, secret = visit.database.write(
            lambda db: create_token(
                db, visit.viewer.signed_in.id, "personal", typed["name"], [], expires_at, restrictions=restrictions
            )
        )
    except ValueError:
        return _form(typed, chosen, ["The expiration date must have the format YYYY-MM-DD."])
    except Invalid as error:
        errors = [f"{name.capitalize()} {reason}." for name, reasons in error.errors.items() for reason in reasons]
        return _form(typed, chosen, errors)
    return _form(secret=secret)


def _chosen(form: dict[str, Any]) -> set[str]:
    """Return the chosen permissions, each with its part of the form: ``members:read_issue``."""
    fields = form.get(_GROUP)
    values = fields.get("permissions") if isinstance(fields, dict) else None
    return {value for value in values if isinstance(value, str)} if isinstance(values, list) else set()


def _scopes(visit: Visit, typed: dict[str, str], chosen: set[str]) -> list[dict[str, Any]]:
    """Return the scopes that the form describes: one for projects and groups, and one for each other place."""
    members = sorted({each.partition(":")[2] for each in chosen if each.startswith(f"{_MEMBERS}:")})
    scopes: list[dict[str, Any]] = []
    if members:
        access = typed["access"]
        targets = _targets(visit, typed["paths"].split()) if access == "selected_memberships" else {}
        scopes.append({"access": access, "permissions": members, **targets})
    for place in ("user", "instance"):
        permissions = sorted(each.partition(":")[2] for each in chosen if each.startswith(f"{place}:"))
        if permissions:
            scopes.append({"access": place, "permissions": permissions})
    if not scopes:
        raise Invalid(permissions=["can't be blank"])
    return scopes


def _targets(visit: Visit, paths: list[str]) -> dict[str, list[int]]:
    """Return the projects and groups with these paths; raise Invalid for one that the user does not see."""
    targets: dict[str, list[int]] = {"project_ids": [], "group_ids": []}
    for path in paths[: MAX_TARGETS + 1]:
        try:
            targets["project_ids"].append(visit.find(projects_api.get_project, id=path.strip("/")).project.id)
        except NotFound:
            targets["group_ids"].append(_group_id(visit, path))
    return targets


def _group_id(visit: Visit, path: str) -> int:
    try:
        return visit.find(group_projects_api.get_group, id=path.strip("/")).id
    except NotFound:
        raise Invalid(paths=[f"contain no project or group: {path[:200]}"]) from None


def _permissions() -> list[tuple[str, str, dict[str, list[str]]]]:
    """Return the parts of the form, each with its title and the actions of each resource."""
    by_place = permissions_by_place()
    members = {
        resource: sorted({*by_place["project"].get(resource, ()), *by_place["group"].get(resource, ())})
        for resource in sorted(by_place["project"].keys() | by_place["group"].keys())
    }
    return [
        (_MEMBERS, "Projects and groups", members),
        ("user", "Own account", by_place["user"]),
        ("instance", "Instance", by_place["instance"]),
    ]


def _form(
    typed: dict[str, str] | None = None,
    chosen: set[str] | None = None,
    errors: list[str] | None = None,
    secret: str = "",
) -> TemplateResponse:
    context = {
        "tab": "tokens",
        "address": _ADDRESS,
        "boundaries": _BOUNDARIES,
        "places": _permissions(),
        "typed": typed
        or {"name": "", "expires_at": "", "access": "selected_memberships", "paths": "", "mcp_tools": ""},
        "chosen": chosen or set(),
        "errors": errors or [],
        "secret": secret,
    }
    return TemplateResponse("profile/fine_grained_token.html", context, 422 if errors else 200)
