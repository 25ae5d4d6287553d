"""Suggestions of editors: users, issues, merge requests, labels, milestones, emoji and quick actions.

Each request calls one list endpoint of the project or group as the current user, which returns a few rows that the user
may see.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.labels import api as labels_api
from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.collaboration.milestones import api as milestones_api
from ingot.core.errors import Denied, NotFound
from ingot.core.markup.emoji import search_emoji
from ingot.projects.groups import api as groups_api
from ingot.projects.sharing import api as sharing_api
from ingot.web.discussions.awards import SUGGESTED_EMOJI, emoji_character
from ingot.web.discussions.quick_actions import QUICK_ACTIONS
from ingot.web.page_routes import JsonResponse, PageResponse, PageRoutes, Visit, text_field

pages = PageRoutes()
_MAX_SUGGESTIONS = 10
_MAX_SEARCH_LENGTH = 64


class Suggestion(msgspec.Struct, frozen=True, omit_defaults=True):
    """Text that completes what the user types."""

    value: str
    """Inserted text."""
    name: str
    hint: str = ""
    color: str = ""


class _Search(msgspec.Struct, frozen=True):
    """Search of one editor."""

    visit: Visit
    root: str
    """``projects`` or ``groups``; empty for a text outside of both."""
    path: str
    text: str

    def first_rows(self, of_project: Callable[..., Any], of_group: Callable[..., Any], **params: Any) -> list[Any]:
        """Return the first rows of a list of the project or group."""
        endpoint = of_project if self.root == "projects" else of_group
        params = {"per_page": _MAX_SUGGESTIONS} | {name: value for name, value in params.items() if value}
        items: list[Any] = self.visit.client.ask(endpoint, params, {"id": self.path}, self.root).items
        return items


@pages.get("/-/completions")
def complete(visit: Visit) -> PageResponse:
    """Return suggestions for the text after a character such as ``@``."""
    query = visit.request.query
    trigger, text = text_field(query, "trigger"), text_field(query, "search")[:_MAX_SEARCH_LENGTH]
    if trigger == "/":
        return JsonResponse(_quick_actions(text_field(query, "subject"), text))
    if trigger == ":":
        return JsonResponse(_emoji(text))
    search = _Search(visit, text_field(query, "root"), text_field(query, "path"), text)
    suggest = _SUGGESTIONS.get(trigger)
    if suggest is None or search.root not in ("projects", "groups"):
        return JsonResponse([])
    try:
        return JsonResponse(suggest(search))
    except Denied:  # A list that the user may not see, such as merge requests of a project without code.
        raise NotFound("Page") from None


def _users(search: _Search) -> list[Suggestion]:
    users = search.first_rows(
        sharing_api.list_all_project_members, groups_api.list_all_group_members, query=search.text
    )
    return [Suggestion(f"@{user.username}", user.name, f"@{user.username}") for user in users]


def _issues(search: _Search) -> list[Suggestion]:
    rows = search.first_rows(
        issues_api.list_project_issues, issues_api.list_group_issues, **_subject_filters(search.text)
    )
    return [_subject_suggestion(search, "#", row) for row in rows]


def _merge_requests(search: _Search) -> list[Suggestion]:
    rows = search.first_rows(
        merge_requests_api.list_project_merge_requests,
        merge_requests_api.list_group_merge_requests,
        **_subject_filters(search.text),
    )
    return [_subject_suggestion(search, "!", row) for row in rows]


def _subject_filters(text: str) -> dict[str, Any]:
    """Return filters by number or title; without a text the rows that changed last."""
    if text.isascii() and text.isdecimal() and len(text) < 10:
        return {"iids": [int(text)]}
    return {"search": text, "in": "title" if text else "", "order_by": "updated_at", "scope": "all"}


def _subject_suggestion(search: _Search, sign: str, row: Any) -> Suggestion:
    # Another project needs its path in the reference.
    reference = f"{sign}{row.iid}" if search.root == "projects" else row.references.full
    return Suggestion(reference, row.title, reference if row.state == "opened" else f"{reference}, {row.state}")


def _labels(search: _Search) -> list[Suggestion]:
    rows = search.first_rows(
        labels_api.list_project_labels, labels_api.list_group_labels, search=search.text, with_counts="false"
    )
    return [Suggestion(_quoted("~", row.name), row.name, color=row.color) for row in rows]


def _milestones(search: _Search) -> list[Suggestion]:
    rows = search.first_rows(
        milestones_api.list_project_milestones,
        milestones_api.list_group_milestones,
        search=search.text,
        state="active",
        include_parent_milestones="true",
    )
    due = {row.id: f"due {row.due_date}" if row.due_date else "" for row in rows}
    return [Suggestion(_quoted("%", row.title), row.title, due[row.id]) for row in rows]


def _quoted(sign: str, name: str) -> str:
    """Return a reference by name, in quotes unless it is one word."""
    return f"{sign}{name}" if name.isidentifier() else f'{sign}"{name}"'


def _emoji(text: str) -> list[Suggestion]:
    found = (
        search_emoji(text, _MAX_SUGGESTIONS) if text else [(name, emoji_character(name)) for name in SUGGESTED_EMOJI]
    )
    return [Suggestion(f":{name}:", name, character) for name, character in found]


def _quick_actions(subject: str, text: str) -> list[Suggestion]:
    actions = QUICK_ACTIONS.get(subject, {})
    found = [(name, action) for name, action in actions.items() if text.lower() in name]
    found.sort(key=lambda pair: not pair[0].startswith(text.lower()))
    return [
        Suggestion(f"/{name} {action.argument}", f"/{name}", action.description)
        for name, action in found[:_MAX_SUGGESTIONS]
    ]


_SUGGESTIONS: dict[str, Callable[[_Search], list[Suggestion]]] = {
    "@": _users,
    "#": _issues,
    "!": _merge_requests,
    "~": _labels,
    "%": _milestones,
}
