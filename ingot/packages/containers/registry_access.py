"""Authentication and permissions of requests to the container registry."""

import re
from typing import Literal

from ingot.core.access.actor import Actor
from ingot.core.access.scopes import has_any_scope
from ingot.core.api.request_credentials import basic_credentials
from ingot.core.api.responses import Header
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied, Unauthenticated
from ingot.core.http.request import Request
from ingot.packages.containers import policy
from ingot.packages.containers.queries import ImagePath, find_image_path
from ingot.packages.containers.registry_errors import RegistryError
from ingot.packages.containers.registry_tokens import RegistryCredential, actor_of, credential_of
from ingot.packages.containers.service import require_deletion_at_path, require_push_to_path
from ingot.projects.namespaces.ip_restrictions import actor_at

Action = Literal["pull", "push", "delete"]
SERVICE = "container_registry"
_SOURCE = re.compile(r"[a-z0-9][a-z0-9._/-]{0,500}")
_SCOPES: dict[Action, str] = {"pull": "pull", "push": "pull,push", "delete": "delete"}


def request_credential(db: Connection, request: Request) -> RegistryCredential:
    """Return the credential of a request: a token of the registry, basic authentication, or none."""
    scheme, _, value = request.headers.get(b"authorization", b"").partition(b" ")
    if scheme.lower() == b"bearer":
        return credential_of(db, value.strip().decode("latin-1"))
    basic = basic_credentials(request.headers)
    return RegistryCredential() if basic is None else RegistryCredential(*basic)


def authorized_caller(db: Connection, request: Request, action: Action) -> Actor:
    """Return the caller whose token allows an action; raise Unauthenticated or Denied."""
    actor = actor_at(db, actor_of(db, request_credential(db, request)), request.origin.ip)
    scopes = policy.PULL_SCOPES if action == "pull" else policy.PUSH_SCOPES
    if actor.known and not has_any_scope(actor, scopes):
        raise Denied("the token has no scope for the container registry")
    return actor


def require_granted(db: Connection, request: Request, path: str, action: Action) -> None:
    """Raise Unauthenticated if the token was requested for something else: the client then requests another one."""
    granted = request_credential(db, request).granted
    if granted is not None and not {action, "*"} & set(granted.get(path, ())):
        raise Unauthenticated


def authorize(db: Connection, request: Request, path: str, action: Action) -> ImagePath:
    """Return the repository at a path if the caller may act on it; raise Unauthenticated, NotFound or Denied."""
    require_granted(db, request, path, action)
    actor = authorized_caller(db, request, action)
    image = find_image_path(db, actor, path)
    rule = policy.may_read_images if action == "pull" else policy.may_push_images
    if not rule(actor, image.access, image.project):
        raise Denied if actor.known or actor.deploy_token is not None else Unauthenticated
    if action == "push":
        require_push_to_path(db, actor, image.access, image.project, image.name)
    elif action == "delete":
        require_deletion_at_path(db, actor, image.access, image.project, image.name)
    return image


def challenge(request: Request, path: str = "", action: Action = "pull", source: str = "") -> RegistryError:
    """Return the response that tells a client where it gets a token; a blob of a ``source`` may be mounted."""
    scopes = [f"repository:{path}:{_SCOPES[action]}"] if path else []
    if source and _SOURCE.fullmatch(source):
        scopes.append(f"repository:{source}:pull")
    scope = f',scope="{" ".join(scopes)}"' if scopes else ""
    value = f'Bearer realm="{request.origin.base}/jwt/auth",service="{SERVICE}"{scope}'
    header: Header = (b"www-authenticate", value.encode())
    return RegistryError(401, "UNAUTHORIZED", "authentication required", header)
