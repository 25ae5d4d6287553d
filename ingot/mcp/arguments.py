"""Tools that call one of several endpoints, chosen by their arguments."""

import re
from typing import Any, NamedTuple
from urllib.parse import unquote

_WORK_ITEM = re.compile(r"/(?P<id>[^?#]+?)/-/(?:issues|work_items)/(?P<iid>[0-9]+)(?:[?#].*)?")
_NOTES = "/projects/:id/issues/:issue_iid"
_DISCUSSION_PREFIX = "gid://gitlab/Discussion/"


class ChosenCall(NamedTuple):
    """An endpoint and its parameters."""

    route: str
    arguments: dict[str, Any]


def search(arguments: dict[str, Any], _: str) -> ChosenCall:
    """Return the search of a project, a group or the instance."""
    rest = {name: value for name, value in arguments.items() if name not in ("project_id", "group_id")}
    if "project_id" in arguments:
        return ChosenCall("GET /projects/:id/search", {**rest, "id": arguments["project_id"]})
    if "group_id" in arguments:
        return ChosenCall("GET /groups/:id/search", {**rest, "id": arguments["group_id"]})
    return ChosenCall("GET /search", rest)


def search_labels(arguments: dict[str, Any], _: str) -> ChosenCall:
    """Return the list of labels of a project or group."""
    rest = {name: value for name, value in arguments.items() if name not in ("full_path", "is_project")}
    parent = "projects" if arguments["is_project"] else "groups"
    return ChosenCall(f"GET /{parent}/:id/labels", {**rest, "id": arguments["full_path"]})


def create_work_item_note(arguments: dict[str, Any], base: str) -> ChosenCall:
    """Return the call that writes a note, or a reply in a discussion."""
    sent = _with_work_item(arguments, base)
    if "discussion_id" not in sent:
        return ChosenCall(f"POST {_NOTES}/notes", sent)
    sent["discussion_id"] = str(sent["discussion_id"]).removeprefix(_DISCUSSION_PREFIX)
    return ChosenCall(f"POST {_NOTES}/discussions/:discussion_id/notes", sent)


def get_work_item_notes(arguments: dict[str, Any], base: str) -> ChosenCall:
    """Return the list of notes; a cursor is the number of a page."""
    sent = _with_work_item(arguments, base)
    for name, parameter in (("first", "per_page"), ("after", "page")):
        if name in sent:
            sent[parameter] = sent.pop(name)
    return ChosenCall(f"GET {_NOTES}/notes", sent)


def _with_work_item(arguments: dict[str, Any], base: str) -> dict[str, Any]:
    """Return the arguments with those of the path; raise ValueError if they name no work item of a project."""
    sent = dict(arguments)
    url = sent.pop("url", None)
    project, iid = sent.pop("project_id", None), sent.pop("work_item_iid", None)
    if url is not None:
        found = _WORK_ITEM.fullmatch(str(url).removeprefix(base)) if str(url).startswith(f"{base}/") else None
        if found is None:
            raise ValueError("The url is not that of an issue on this server")
        project, iid = unquote(found["id"]), found["iid"]
    if project is None or iid is None:
        raise ValueError("Missing arguments: url, or project_id and work_item_iid")
    return {**sent, "id": project, "issue_iid": iid}
