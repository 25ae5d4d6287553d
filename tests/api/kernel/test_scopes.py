"""Token scopes; test_every_scope.py covers all routes."""

from typing import Any

import pytest

from tests.client import Api, Make

REFUSAL = {
    "message": "403 Forbidden - insufficient_scope",
    "error": "insufficient_scope",
    "error_description": "The request requires higher privileges than provided by the access token.",
}

ROWS: list[tuple[tuple[str, ...], str, str, int]] = [
    (("read_user",), "GET", "/user", 200),
    (("read_user",), "GET", "/users", 200),
    (("read_user",), "GET", "/user/keys", 200),
    (("read_user",), "GET", "/namespaces", 403),
    (("read_user",), "GET", "/version", 403),
    (("read_user",), "PUT", "/user/status", 403),
    (("read_api",), "GET", "/namespaces", 200),
    (("read_api",), "PUT", "/user/status", 403),
    (("read_repository",), "GET", "/user", 403),
    (("write_repository",), "GET", "/version", 403),
    (("sudo",), "GET", "/user", 403),
    (("sudo",), "PUT", "/user/status", 403),
    (("api",), "GET", "/namespaces", 200),
    (("api",), "PUT", "/user/status", 200),
    (("read_user", "read_repository"), "GET", "/user", 200),
    (("read_user", "read_api"), "GET", "/namespaces", 200),
]


@pytest.mark.parametrize("kind", ["personal_access_tokens", "impersonation_tokens"])
@pytest.mark.parametrize(("scopes", "method", "path", "status"), ROWS)
def test_a_token_reaches_the_routes_of_its_scopes(
    api: Api, make: Make, kind: str, scopes: tuple[str, ...], method: str, path: str, status: int
) -> None:
    if "sudo" in scopes and kind == "impersonation_tokens":
        pytest.skip("There are no impersonation tokens with this scope.")
    user = make.user()
    made = api.post(f"/users/{user.id}/{kind}", make.root, name="x", scopes=list(scopes))

    answer = api.request(method, path, user.with_token(made.json()["token"]))

    assert answer.status_code == status
    if status == 403:
        body: dict[str, Any] = answer.json()
        assert set(body.pop("scope").split()) >= {"api"}
        assert body == REFUSAL


def test_the_scope_is_checked_before_permissions(api: Api, make: Make) -> None:
    """An administrator's token of a narrow scope has no administrator rights, and reveals nothing else."""
    narrow = make.root.with_token(make.token(make.root.id, "read_user"))

    assert api.post(f"/users/{make.user().id}/block", narrow).json()["error"] == "insufficient_scope"
    assert api.get("/application/settings", narrow).json()["error"] == "insufficient_scope"


@pytest.mark.parametrize(
    ("scopes", "shown"), [(("api", "sudo"), True), (("api",), False), (("read_user",), False), (("read_api",), False)]
)
def test_a_narrow_token_cannot_read_the_private_token(
    api: Api, make: Make, scopes: tuple[str, ...], shown: bool
) -> None:
    administrator = make.user(admin=True)
    caller = administrator.with_token(make.token(administrator.id, *scopes))

    assert ("private_token" in api.get("/user", caller).json()) is shown
