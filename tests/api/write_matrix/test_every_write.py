"""Every writing operation with a valid body and existing objects, sent by every role below the lowest permitted one.

The project is public, and the lowest permitted role sends the same request with success: neither a 404 nor a 400 can
hide a missing permission check. Objects belong to the owner of the project. Tokens of jobs, deploy tokens, and access
tokens of the project and of its group send it too.
"""

import re
from typing import Any

import pytest

from ingot.server.api_document import api_document
from tests.api.write_matrix.objects import World
from tests.api.write_matrix.other_writers import OTHER_WRITERS
from tests.api.write_matrix.project_writers import PROJECT_WRITERS
from tests.api.write_matrix.token_callers import JOB_TOKEN_OPERATIONS, UNSEEN_BY_BOTS, TokenCallers
from tests.client import Make, User
from tests.conftest import Instance
from tests.roles import UsersByRole

ROLES = ("nobody", "stranger", "guest", "reporter", "developer", "master", "owner", "administrator")
REFUSED = (401, 403, 404)
# The specification demands 400 for callers who may not move an issue; a namespace that may not be used is invalid.
REFUSED_WITH_400 = re.compile(
    r"POST /projects/\{id\}/issues/\{issue_iid\}/move|POST /projects(/import|/remote-import)?"
)
# The lowest permitted role, and its response where a success needs another server or another state of the object.
OTHER_RESPONSES: dict[str, tuple[str, int]] = {
    "POST /groups/{id}/restore": ("owner", 400),
    "POST /projects/{id}/restore": ("owner", 400),
    "POST /users/{id}/approve": ("administrator", 409),
    "POST /users/{id}/reject": ("administrator", 409),
    "POST /import/gitea/cancel": ("master", 400),
    "POST /import/github/cancel": ("master", 400),
    "POST /project_repository_storage_moves": ("administrator", 400),
    "POST /projects/{id}/repository_storage_moves": ("administrator", 400),
    "POST /projects/{id}/merge_requests/{merge_request_iid}/pipelines": ("developer", 400),
    "PUT /projects/{id}/merge_requests/{merge_request_iid}/stack/rebase": ("developer", 409),
    "DELETE /projects/{id}/deployments/{deployment_id}": ("master", 400),
    "DELETE /projects/{id}/environments/review_apps": ("master", 400),
    "PUT /projects/{id}/pages/domains/{domain}/verify": ("master", 503),
    "POST /projects/{id}/remote_mirrors/{mirror_id}/sync": ("master", 400),
    "POST /projects/{id}/catalog/publish": ("developer", 404),
    "PUT /projects/{id}/merge_requests/{merge_request_iid}/cancel_merge_when_pipeline_succeeds": ("master", 406),
    "POST /projects/{id}/merge_requests/{merge_request_iid}/cancel_merge_when_pipeline_succeeds": ("master", 406),
}
# Operations whose rights do not depend on a role, and that other tests call with every credential.
OTHER_RIGHTS = re.compile(
    r"\w+ /jobs/.*|POST /runners(/verify|/reset_authentication_token)?|DELETE /runners(/managers)?"  # Runners
    r"|.*/self(/rotate)?|DELETE /user/(emails|gpg_keys|keys)/.*"  # The caller's own objects
    r"|POST /session|POST /feature_flags/unleash/.*|POST .*/\w+_slash_commands/trigger"  # Credentials in the body
    r"|POST /placeholder_users/.*|POST /groups/\{id\}/placeholder_reassignments"  # Found by the users concerned
    r"|POST /import/(gitea|github)|POST /bulk_imports(/.*)?|POST /groups/import"  # Need another server or an archive
    r"|POST .*/hooks/\{(hook_)?id\}/events/.*/resend"  # Need a receiver
)
_SINGLE_INTEGRATION = re.compile(r"\w+ /(projects|groups)/\{id\}/(services|integrations)/[^{/]+")


def _operations() -> list[str]:
    return sorted(
        f"{method.upper()} {path}"
        for path, operations in api_document()["paths"].items()
        for method in operations
        if method not in ("get", "head")
    )


def _table() -> dict[str, str]:
    rows = {
        operation.strip(): role
        for table in (PROJECT_WRITERS, OTHER_WRITERS)
        for role, operations in table.items()
        for operation in operations.strip().splitlines()
    }
    singles = {
        operation: "master" if "/projects/" in operation else "owner"
        for operation in _operations()
        if _SINGLE_INTEGRATION.fullmatch(operation)
    }
    return {**rows, **singles, **{name: role for name, (role, _) in OTHER_RESPONSES.items()}}


TABLE = _table()


def test_the_table_lists_exactly_the_writing_operations() -> None:
    """A new operation declares its lowest role here."""
    assert sorted(TABLE) == [operation for operation in _operations() if not OTHER_RIGHTS.fullmatch(operation)]


@pytest.fixture(scope="module")
def world(instance: Instance, make: Make, roles: UsersByRole) -> World:
    """Return the objects on which all roles act."""
    return World(instance, make, roles)


@pytest.fixture(scope="module")
def readers(make: Make, roles: UsersByRole) -> list[User]:
    """Return the owner and an administrator with tokens that may read only."""
    return [user.with_token(make.token(user.id, "read_api")) for user in (roles.owner, make.root)]


@pytest.fixture(scope="module")
def tokens(world: World) -> TokenCallers:
    """Return callers with tokens of jobs, projects and groups."""
    return TokenCallers(world)


@pytest.mark.parametrize("operation", sorted(TABLE))
def test_only_permitted_roles_write(world: World, readers: list[User], tokens: TokenCallers, operation: str) -> None:
    """Attack: every role and every kind of token sends a valid request that only a higher role may send."""
    method, template = operation.split(" ")
    place = world.place_of(method, template)
    request = world.request_of(place)
    lowest = TABLE[operation]
    refused = (*REFUSED, 400) if REFUSED_WITH_400.fullmatch(operation) else REFUSED
    for role in ROLES[: ROLES.index(lowest)]:
        answer = world.send(place, world.roles[role], request)
        assert answer.status_code in refused, f"{role}: {answer.status_code} {answer.text}"
        assert role != "nobody" or answer.status_code == 401
    if lowest != "nobody":
        for reader in readers:
            assert world.send(place, reader, request).status_code in (401, 403)
    for caller in tokens.refused(operation, lowest):
        answer = world.send(place, None, with_headers(request, caller.headers))
        if operation in UNSEEN_BY_BOTS and answer.status_code == 200:
            assert world.get(place.path)
            continue
        allowed = (401,) if caller.is_ignored else refused
        assert answer.status_code in allowed, f"{caller.name}: {answer.status_code} {answer.text}"
    if operation in JOB_TOKEN_OPERATIONS:
        answer = world.send(place, None, with_headers(request, tokens.job_of(lowest)))
    else:
        answer = world.send(place, world.roles[lowest], request)
    if operation in OTHER_RESPONSES:
        assert answer.status_code == OTHER_RESPONSES[operation][1], answer.text
    else:
        assert answer.is_success or answer.status_code == 304, f"{lowest}: {answer.status_code} {answer.text}"


def with_headers(request: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
    """Return a request with further headers."""
    return {**request, "headers": {**request.get("headers", {}), **headers}}


def test_other_secrets_are_no_access_tokens(world: World, tokens: TokenCallers) -> None:
    """Attack: the secret of a trigger, a deploy token or a job is sent as an access token."""
    place = world.place_of("POST", "/projects/{id}/issues")
    request = world.request_of(place)
    for secret in tokens.others:
        for headers in ({"PRIVATE-TOKEN": secret}, {"Authorization": f"Bearer {secret}"}):
            assert world.send(place, None, with_headers(request, headers)).status_code == 401
        assert world.send(place, None, {**request, "params": {"private_token": secret}}).status_code == 401


@pytest.mark.parametrize("collection", ["emails", "gpg_keys", "keys"])
def test_objects_of_other_users_are_not_deleted(world: World, collection: str) -> None:
    """Deleting what the caller does not have is no error, and changes nothing."""
    place = world.place_of("DELETE", f"/user/{collection}/{{key_id}}")
    before = world.get(f"/user/{collection}")
    for role in ROLES[1:6]:
        world.send(place, world.roles[role], {})
    assert world.get(f"/user/{collection}") == before
    assert world.send(place, world.roles.owner, {}).is_success
    assert len(world.get(f"/user/{collection}")) == len(before) - 1
