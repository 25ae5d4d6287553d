"""Addresses that the browser of a user remembers, resolved to the objects that the user may see now."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from ingot.collaboration.issues.queries import visible_issues_by_iid
from ingot.collaboration.merge_requests.queries import visible_merge_requests_by_iid
from ingot.collaboration.planning.scope import ProjectScope
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.projects.groups.queries import find_group
from ingot.projects.projects.queries import find_project

MAX_VISITED = 12
"""Addresses that are resolved for one request; each project and group is looked up by itself."""
_GROUP = re.compile(r"/groups/([^?#]+)")
_SUBJECT = re.compile(r"/(?P<path>[^?#]+)/-/(?P<kind>issues|merge_requests)/(?P<iid>[1-9][0-9]{0,8})")
_REFERENCE = re.compile(r"(?P<path>[^\s#!]+/[^\s#!]+)(?P<sign>[#!])(?P<iid>[1-9][0-9]{0,8})")
_SubjectKind = Literal["issues", "merge_requests"]
_KINDS = {"#": "issues", "!": "merge_requests"}


class VisitedObject(NamedTuple):
    """Group, project, issue or merge request at an address."""

    kind: Literal["group", "project", "issues", "merge_requests"]
    full_path: str
    """Path of the group or project."""
    title: str
    """Name of a group or project."""
    iid: int = 0


class _Address(NamedTuple):
    """Parsed address of a group, a project, or an issue or merge request of a project."""

    kind: Literal["group", "project", "issues", "merge_requests"]
    path: str
    iid: int = 0


def address_of_reference(text: str) -> str:
    """Return the address that a reference such as ``group/project#1`` names; empty for other texts."""
    found = _REFERENCE.fullmatch(text)
    return f"/{found['path']}/-/{_KINDS[found['sign']]}/{found['iid']}" if found else ""


def resolve_addresses(db: Connection, actor: Actor, addresses: Sequence[str]) -> list[VisitedObject]:
    """Return the objects at the first addresses, in their order, without those that the user may not see."""
    parsed = list(dict.fromkeys(_parse(address) for address in addresses[:MAX_VISITED]))
    groups = {each.path: _group(db, actor, each.path) for each in parsed if each.kind == "group"}
    scopes = {each.path: _scope(db, actor, each.path) for each in parsed if each.kind != "group"}
    subjects = _subjects(db, actor, parsed, scopes)
    return [
        found
        for each in parsed
        if (found := groups.get(each.path) if each.kind == "group" else _found(each, scopes, subjects))
    ]


def _parse(address: str) -> _Address:
    if subject := _SUBJECT.fullmatch(address):
        kind: _SubjectKind = "issues" if subject["kind"] == "issues" else "merge_requests"
        return _Address(kind, subject["path"], int(subject["iid"]))
    if group := _GROUP.fullmatch(address):
        return _Address("group", group[1])
    return _Address("project", address.strip("/"))


def _group(db: Connection, actor: Actor, path: str) -> VisitedObject | None:
    if path.isdigit():
        return None  # An id, which a page has not as its address.
    try:
        _, group = find_group(db, actor, path)
    except NotFound:
        return None
    return VisitedObject("group", group.full_path, group.name)


def _scope(db: Connection, actor: Actor, path: str) -> ProjectScope | None:
    if "/" not in path:
        return None
    try:
        return ProjectScope(*find_project(db, actor, path))
    except NotFound:
        return None


def _subjects(
    db: Connection, actor: Actor, parsed: list[_Address], scopes: dict[str, ProjectScope | None]
) -> dict[_Address, str]:
    """Return the titles of the issues and merge requests that the user may see."""
    found: dict[_Address, str] = {}
    for kind in ("issues", "merge_requests"):
        keys = {
            (scope.project.id, each.iid): each for each in parsed if each.kind == kind and (scope := scopes[each.path])
        }
        if not keys:
            continue
        known = [scope for scope in scopes.values() if scope is not None]
        if kind == "issues":
            issues = visible_issues_by_iid(db, actor, known, keys, to_name_only=True)
            found |= {keys[key]: lookup.issue.title for key, lookup in issues.items()}
        else:
            merge_requests = visible_merge_requests_by_iid(db, actor, known, keys)
            found |= {keys[key]: merge_request.title for key, merge_request in merge_requests.items()}
    return found


def _found(
    address: _Address, scopes: dict[str, ProjectScope | None], subjects: dict[_Address, str]
) -> VisitedObject | None:
    scope = scopes[address.path]
    if scope is None:
        return None
    project = scope.project
    if address.kind == "project":
        return VisitedObject("project", project.full_path, project.name)
    title = subjects.get(address)
    return None if title is None else VisitedObject(address.kind, project.full_path, title, address.iid)
