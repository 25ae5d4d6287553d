"""Page that creates personal access tokens with fine-grained permissions."""

from typing import Any

from ingot.accounts.tokens.granular_scopes import granular_scopes
from ingot.accounts.tokens.service import create_token
from ingot.core.access.restrictions import TokenRestrictions
from ingot.core.api.granular_permissions import Place, permissions_by_place
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, parse_date
from ingot.core.errors import Invalid, NotFound
from ingot.projects.groups.queries import find_group
from ingot.projects.projects.queries import find_project
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit, form_field

pages = PageRoutes()
_ADDRESS = "/profile/personal_access_tokens/fine_grained"
_GROUP = "token"
_BOUNDARIES = {
    "selected_memberships": "Only these projects and groups",
    "all_memberships": "All projects and groups of which I am a member",
    "personal_projects": "Projects in my own namespace",
}
_PLACES: dict[Place, str] = {"project": "Projects", "group": "Groups", "user": "Own account", "instance": "Instance"}
_MAX_PATHS = 100


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
        scopes = granular_scopes(visit.database.read(lambda db: _scopes(visit, db, typed, chosen)))
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
    """Return the chosen permissions, each with its place: ``project:read_issue``."""
    fields = form.get(_GROUP)
    values = fields.get("permissions") if isinstance(fields, dict) else None
    return {value for value in values if isinstance(value, str)} if isinstance(values, list) else set()


def _scopes(visit: Visit, db: Connection, typed: dict[str, str], chosen: set[str]) -> list[dict[str, Any]]:
    """Return the scopes that the form describes: one for projects and groups, and one for each other place."""
    members = sorted({each.partition(":")[2] for each in chosen if each.startswith(("project:", "group:"))})
    scopes: list[dict[str, Any]] = []
    if members:
        access = typed["access"]
        targets = _targets(visit, db, typed["paths"].split()) if access == "selected_memberships" else {}
        scopes.append({"access": access, "permissions": members, **targets})
    for place in ("user", "instance"):
        permissions = sorted(each.partition(":")[2] for each in chosen if each.startswith(f"{place}:"))
        if permissions:
            scopes.append({"access": place, "permissions": permissions})
    if not scopes:
        raise Invalid(permissions=["can't be blank"])
    return scopes


def _targets(visit: Visit, db: Connection, paths: list[str]) -> dict[str, list[int]]:
    """Return the projects and groups with these paths; raise Invalid for one that the user does not see."""
    targets: dict[str, list[int]] = {"project_ids": [], "group_ids": []}
    for path in paths[: _MAX_PATHS + 1]:
        try:
            targets["project_ids"].append(find_project(db, visit.viewer.actor, path.strip("/"))[1].id)
        except NotFound:
            try:
                targets["group_ids"].append(find_group(db, visit.viewer.actor, path.strip("/"))[1].id)
            except NotFound:
                raise Invalid(paths=[f"contain no project or group: {path[:200]}"]) from None
    return targets


def _form(
    typed: dict[str, str] | None = None,
    chosen: set[str] | None = None,
    errors: list[str] | None = None,
    secret: str = "",
) -> TemplateResponse:
    places = [(place, title, permissions_by_place()[place]) for place, title in _PLACES.items()]
    context = {
        "tab": "tokens",
        "address": _ADDRESS,
        "boundaries": _BOUNDARIES,
        "places": places,
        "typed": typed
        or {"name": "", "expires_at": "", "access": "selected_memberships", "paths": "", "mcp_tools": ""},
        "chosen": chosen or set(),
        "errors": errors or [],
        "secret": secret,
    }
    return TemplateResponse("profile/fine_grained_token.html", context, 422 if errors else 200)
