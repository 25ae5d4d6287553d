"""Variables of the pipelines of projects and groups, and the triggers of a project; values are never shown again."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ingot.web.groups.place import Ground, ground_page, group_settings_of
from ingot.web.pages import Page, Pages, Reply, Visit
from ingot.web.projects.forms import Forms, filled, texts_of, tried
from ingot.web.projects.place import Place
from ingot.web.projects.settings import settings_of

pages = Pages()
_FLAGS = ("protected", "masked", "raw")
_TEXTS = ("key", "value", "environment_scope", "description")


def _declare(prefix: str, ground_of: Callable[[Visit], Ground]) -> None:
    """The pages of one kind of place."""

    def acting(work: Callable[[Ground], Reply]) -> Callable[[Visit], Reply]:
        return lambda visit: work(ground_of(visit))

    pages.get(f"{prefix}/ci_cd")(lambda visit, db: _page(ground_of(visit), Forms()))  # noqa: ARG005 - Every page to read gets a connection.
    pages.post(f"{prefix}/variables")(acting(_add))
    pages.put(f"{prefix}/variables")(acting(_change))
    pages.delete(f"{prefix}/variables")(acting(_remove))


def _add(ground: Ground) -> Reply:
    typed = texts_of(ground.visit, "variable", _TEXTS, _FLAGS)
    sent = filled(typed) | {"value": typed["value"]}
    return _tried(ground, "variable", typed, partial(ground.call, "POST", "/variables", sent))


def _change(ground: Ground) -> Reply:
    """Change one, which the form names; an empty value stays as it is."""
    typed = texts_of(ground.visit, "changed", ("key", "value", "scope"), _FLAGS)
    sent = {name: typed[name] for name in _FLAGS}
    if typed["value"]:
        sent["value"] = typed["value"]
    act = partial(ground.call, "PUT", "/variables/:key", sent | _scope(typed), key=typed["key"])
    return _tried(ground, "variables", {}, act)


def _remove(ground: Ground) -> Reply:
    typed = texts_of(ground.visit, "changed", ("key", "scope"))
    act = partial(ground.call, "DELETE", "/variables/:key", _scope(typed), key=typed["key"])
    return _tried(ground, "variables", {}, act)


def _scope(typed: dict[str, Any]) -> dict[str, Any]:
    return {"filter": {"environment_scope": typed["scope"]}} if typed["scope"] else {}


@pages.post("/:path/-/settings/triggers")
def add_trigger(visit: Visit) -> Reply:
    """Make a token that starts pipelines."""
    place = settings_of(visit)
    typed = texts_of(visit, "trigger", ("description",))
    return _tried(place, "trigger", typed, partial(place.call, "POST", "/triggers", typed))


@pages.post("/:path/-/settings/triggers/:trigger/take_ownership")
def take_trigger(visit: Visit) -> Reply:
    """Let what it starts run in one's own name."""
    place, route = settings_of(visit), "/triggers/:trigger_id/take_ownership"
    return _tried(place, "triggers", {}, partial(place.call, "POST", route, trigger_id=visit.path["trigger"]))


@pages.delete("/:path/-/settings/triggers/:trigger")
def remove_trigger(visit: Visit) -> Reply:
    """Let it start nothing more."""
    place = settings_of(visit)
    act = partial(place.call, "DELETE", "/triggers/:trigger_id", trigger_id=visit.path["trigger"])
    return _tried(place, "triggers", {}, act)


def _tried(ground: Ground, form: str, typed: dict[str, Any], act: Callable[[], object]) -> Reply:
    return tried(form, typed, act, partial(_page, ground), f"{ground.url}/-/settings/ci_cd")


def _page(ground: Ground, forms: Forms) -> Page:
    project = isinstance(ground, Place)
    known = ground.may("GET", "/variables")
    every = {"per_page": 100}
    context: dict[str, Any] = {
        "forms": forms,
        "known": known,
        "variables": ground.get("/variables", every).items if known else [],
        "triggers": ground.get("/triggers", every).items if project and known else [],
        "has_triggers": project,
        "may_change": ground.may("POST", "/variables"),
        "flags": {
            "protected": "Only for protected branches and tags",
            "masked": "Hidden in logs",
            "raw": "As it is, without replacing other variables in it",
        },
    }
    return ground_page(ground, "groups/variables.html", "settings/ci_cd", context, forms.status)


_declare("/:path/-/settings", settings_of)
_declare("/groups/:path/-/settings", group_settings_of)
