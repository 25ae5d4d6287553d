"""Members of projects and groups, groups that they are shared with, and people who would like to belong."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ingot.db.connection import Connection
from ingot.errors import Invalid
from ingot.web.groups.belonging import LEVELS, has_asked, members_url
from ingot.web.groups.place import Ground, ground_page
from ingot.web.issues.group_place import group_place_of
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit
from ingot.web.projects.forms import Forms, texts_of, tried
from ingot.web.projects.place import Place, place_of

pages = Pages()


@pages.get("/-/people")
def find_people(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """People by a part of their name, to choose from while one types."""
    asked = visit.query.get("member")
    text = asked.get("username") if isinstance(asked, dict) else None
    known = isinstance(text, str) and "\0" not in text and len(text.strip()) > 1
    found = visit.get("/users", {"search": text, "per_page": 10, "active": "true"}).items if known else []
    return Page("groups/_people.html", {"people": found})


def _declare(prefix: str, ground_of: Callable[[Visit], Ground]) -> None:
    """The pages of one kind of place."""

    def acting(work: Callable[[Ground], Reply]) -> Callable[[Visit], Reply]:
        return lambda visit: work(ground_of(visit))

    pages.get(prefix, open=True)(lambda visit, db: _page(ground_of(visit), db, Forms()))
    pages.post(prefix)(acting(_add))
    pages.post(f"{prefix}/leave")(acting(_leave))
    pages.post(f"{prefix}/request_access")(acting(_ask))
    pages.delete(f"{prefix}/request_access")(acting(_take_back))
    pages.post(f"{prefix}/groups")(acting(_share))
    pages.delete(f"{prefix}/groups/:group")(acting(_unshare))
    pages.put(f"{prefix}/:user")(acting(_change))
    pages.delete(f"{prefix}/:user")(acting(_remove))
    pages.post(f"{prefix}/:user/approve")(acting(_approve))
    pages.delete(f"{prefix}/:user/request")(acting(_deny))


def _add(ground: Ground) -> Reply:
    typed = texts_of(ground.visit, "member", ("username", "access_level", "expires_at"))

    def act() -> None:
        found = ground.visit.get("/users", {"username": typed["username"].removeprefix("@")}).items
        if not typed["username"] or not found:
            raise Invalid(base=[f"Nobody is called {typed['username'] or 'that'}"])
        ground.call("POST", "/members", {"user_id": found[0].id, **_wish(typed)})

    return _tried(ground, "member", typed, act)


def _change(ground: Ground) -> Reply:
    typed = texts_of(ground.visit, "changed", ("access_level", "expires_at"))
    user = ground.visit.path["user"]
    return _tried(ground, "members", {}, lambda: ground.call("PUT", "/members/:user_id", _wish(typed), user_id=user))


def _remove(ground: Ground) -> Reply:
    user = ground.visit.path["user"]
    return _tried(ground, "members", {}, lambda: ground.call("DELETE", "/members/:user_id", user_id=user))


def _leave(ground: Ground) -> Reply:
    user = ground.visit.signed_in.id
    return _tried(ground, "members", {}, lambda: ground.call("DELETE", "/members/:user_id", user_id=user), "/")


def _ask(ground: Ground) -> Reply:
    return _tried(ground, "request", {}, lambda: ground.call("POST", "/access_requests"))


def _take_back(ground: Ground) -> Reply:
    user = ground.visit.signed_in.id
    return _tried(ground, "request", {}, lambda: ground.call("DELETE", "/access_requests/:user_id", user_id=user))


def _approve(ground: Ground) -> Reply:
    sent = {"access_level": texts_of(ground.visit, "request", ("access_level",))["access_level"] or "30"}
    user = ground.visit.path["user"]
    act = partial(ground.call, "PUT", "/access_requests/:user_id/approve", sent, user_id=user)
    return _tried(ground, "requests", {}, act)


def _deny(ground: Ground) -> Reply:
    user = ground.visit.path["user"]
    return _tried(ground, "requests", {}, lambda: ground.call("DELETE", "/access_requests/:user_id", user_id=user))


def _share(ground: Ground) -> Reply:
    typed = texts_of(ground.visit, "share", ("group", "group_access", "expires_at"))

    def act() -> None:
        path = typed["group"].strip("/ ")
        if not path:
            raise Invalid(base=["Name the group"])
        group = ground.visit.get("/groups/:id", {"with_projects": "false"}, id=path)
        ends = {"expires_at": typed["expires_at"] or None}
        ground.call("POST", "/share", {"group_id": group.id, "group_access": typed["group_access"], **ends})

    return _tried(ground, "share", typed, act)


def _unshare(ground: Ground) -> Reply:
    group = ground.visit.path["group"]
    return _tried(ground, "shares", {}, lambda: ground.call("DELETE", "/share/:group_id", group_id=group))


def _wish(typed: dict[str, Any]) -> dict[str, Any]:
    return {"access_level": typed["access_level"], "expires_at": typed["expires_at"] or None}


def _tried(ground: Ground, form: str, typed: dict[str, Any], act: Callable[[], object], there: str = "") -> Reply:
    def again(forms: Forms) -> Page:
        return ground.visit.database.read(lambda db: _page(ground, db, forms))

    return tried(form, typed, act, again, there or members_url(ground))


def _page(ground: Ground, db: Connection, forms: Forms) -> Page:
    visit, project = ground.visit, isinstance(ground, Place)
    everybody = visit.query.get("with") == "everybody"
    search = visit.query.get("search")
    wanted = {"page": visit.query.get("page", "1"), "query": search if isinstance(search, str) else ""}
    manages = ground.may("GET", "/access_requests")
    members = ground.get("/members/all" if everybody else "/members", wanted)
    about: Any = ground.project if isinstance(ground, Place) else ground.group
    context: dict[str, Any] = {
        "forms": forms,
        "url": members_url(ground),
        "members": members,
        "everybody": everybody,
        "search": wanted["query"],
        "levels": {number: name for number, name in LEVELS.items() if not project or number < 50},
        "names": LEVELS,
        "may_change": ground.may("POST", "/members"),
        "requests": ground.get("/access_requests", {"per_page": 100}).items if manages else [],
        "may_ask": not manages and ground.may("POST", "/access_requests"),
        "asked": has_asked(ground, db),
        "shares": about.shared_with_groups or [],
        "what": "project" if project else "group",
    }
    section = "project_members" if project else "group_members"
    tab = "settings" if manages else "members"
    return ground_page(ground, "groups/members.html", section, context, forms.status, tab)


@pages.get("/groups/:path/-/members", open=True)
def lead_to_members(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """They have two addresses."""
    return Redirect(members_url(group_place_of(visit)))


_declare("/:path/-/project_members", place_of)
_declare("/groups/:path/-/group_members", group_place_of)
