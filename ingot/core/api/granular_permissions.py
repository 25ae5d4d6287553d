"""Fine-grained permissions: each endpoint needs one, which follows from its method and path.

The permission of ``PUT /projects/:id/issues/:issue_iid/notes/:note_id`` is ``update_issue_note``. There is no other way
in, so a new endpoint is denied to all tokens with fine-grained permissions that do not name its permission.
"""

from functools import lru_cache
from typing import Literal

from msgspec.structs import replace

from ingot.core.access.actor import Actor
from ingot.core.access.restrictions import BoundaryKind
from ingot.core.access.scopes import has_any_scope
from ingot.core.api.responses import InsufficientScope
from ingot.core.api.routes import Endpoint
from ingot.core.module_index import index_lines

Place = Literal["project", "group", "user", "instance"]
READ_REPOSITORY = "read_repository"
"""Permission to clone and fetch, and to download LFS objects."""
PUSH_REPOSITORY = "update_repository"
"""Permission to push, and to upload LFS objects."""
BOUNDARIES: dict[Place, tuple[BoundaryKind, ...]] = {
    "project": ("all_memberships", "personal_projects", "selected_memberships"),
    "group": ("all_memberships", "selected_memberships"),
    "user": ("user",),
    "instance": ("instance",),
}
"""Boundaries in which the permission for an endpoint of each place can be given."""
_PARENTS: dict[str, Place] = {"projects": "project", "groups": "group", "group": "group"}
_OWN = frozenset(
    {"user", "personal_access_tokens", "todos", "notification_settings", "preferences", "user_status", "user_counts"}
)
_ACTIONS = {"GET": "read", "HEAD": "read", "POST": "create", "PUT": "update", "PATCH": "update", "DELETE": "delete"}
_NOUNS = frozenset({"award_emoji", "repository", "avatar", "import", "export", "trace", "pipeline"})
"""Words that name an object although they have no plural."""
_NOT_NOUNS = frozenset({"status", "access", "cancel_merge_when_pipeline_succeeds", "reset_approvals"})
_MAX_NOUNS = 2


@lru_cache(4096)
def permission_of(method: str, path: str) -> tuple[str, Place]:
    """Return the permission that an endpoint needs, and the place of its subject."""
    words = path.strip("/").split("/")
    place: Place = "user" if words[0] in _OWN else "instance"
    subject = ""
    if words[0] in _PARENTS and len(words) > 1 and words[1].startswith(":"):
        place, subject, words = _PARENTS[words[0]], _PARENTS[words[0]], words[2:]
    literals = [word for word in words if not word.startswith(":") and word != "-"]
    nouns = [word for word in literals if _is_noun(word)]
    if len(nouns) > 1 and nouns[0] == "repository":
        nouns = nouns[1:]
    resource = "_".join(_singular(noun) for noun in nouns[:_MAX_NOUNS])
    is_verb = bool(literals) and literals[-1] not in nouns
    action = "update" if is_verb and method != "GET" else _ACTIONS[method]
    return f"{action}_{resource or subject or _singular(literals[0])}", place


@lru_cache(1)
def all_permissions() -> frozenset[str]:
    """Return all permissions."""
    return frozenset(permission_of(*line[:2])[0] for line in index_lines("route")) | {READ_REPOSITORY, PUSH_REPOSITORY}


@lru_cache(1)
def permissions_by_place() -> dict[Place, dict[str, list[str]]]:
    """Return the actions of each resource by the place where they apply."""
    places: dict[Place, dict[str, set[str]]] = {place: {} for place in BOUNDARIES}
    for line in index_lines("route"):
        permission, place = permission_of(*line[:2])
        action, _, resource = permission.partition("_")
        places[place].setdefault(resource, set()).add(action)
    places["project"].setdefault("repository", set()).update(("read", "update"))
    return {
        place: {resource: sorted(actions) for resource, actions in sorted(resources.items())}
        for place, resources in places.items()
    }


def within_permission(actor: Actor, endpoint: Endpoint) -> Actor:
    """Return the caller within the boundaries where the token has the permission for an endpoint.

    Called where no scope of a token suffices, so that other tokens pay nothing; raise InsufficientScope for those.
    """
    if actor.restrictions.granular_scopes is None:
        raise InsufficientScope(endpoint.scopes)
    return with_permission(actor, *permission_of(endpoint.method, endpoint.path))


def has_permission(actor: Actor, endpoint: Endpoint) -> bool:
    """Return whether a scope or a fine-grained permission of a token covers an endpoint somewhere."""
    if has_any_scope(actor, endpoint.scopes):
        return True
    permission, place = permission_of(endpoint.method, endpoint.path)
    return bool(actor.restrictions.scopes_with(permission, BOUNDARIES[place]))


def with_permission(actor: Actor, permission: str, place: Place) -> Actor:
    """Return the caller within the boundaries where the token has a permission; raise InsufficientScope for none."""
    boundary = actor.restrictions.scopes_with(permission, BOUNDARIES[place])
    if not boundary:
        raise InsufficientScope(frozenset({permission}))
    return replace(actor, boundary=boundary)


def _is_noun(word: str) -> bool:
    return word in _NOUNS or (word.endswith("s") and not word.endswith("ss") and word not in _NOT_NOUNS)


def _singular(word: str) -> str:
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith(("ches", "shes", "xes", "uses")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us")):
        word = word[:-1]
    return word.replace("-", "_").replace(".", "_")
