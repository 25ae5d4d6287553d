"""Tokens that a caller issues: never with more scopes or for longer than the caller's own credential."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.oauth_client import by_password

PASSWORD = "correct horse battery"
EXPIRY = "2999-01-02"
# Credential: the scopes that it may grant to new tokens, whether it may issue tokens at all, and whether it may see the
# private token, which has all scopes and no expiry.
CREDENTIALS: dict[str, tuple[set[str], bool, bool]] = {
    "private token": ({"api", "read_user", "sudo"}, True, True),
    "personal api": ({"api", "read_user"}, True, False),
    "personal api sudo": ({"api", "read_user", "sudo"}, True, True),
    "personal api sudo, expiring": ({"api", "read_user", "sudo"}, True, False),
    "oauth api": (set(), False, False),
    "oauth api sudo": (set(), False, False),
    "impersonation api": (set(), False, False),
}


@pytest.fixture
def admin(make: Make) -> User:
    """Return an administrator with a password."""
    return make.user(admin=True, password=PASSWORD)


@pytest.fixture
def credential(instance: Instance, api: Api, make: Make, admin: User) -> Callable[[str], User]:
    """Return a function that gives the administrator a credential."""

    def issue(name: str) -> User:
        kind, *scopes = name.partition(",")[0].split()
        if kind == "private":
            session = api.post("/session", login=admin.username, password=PASSWORD)
            return admin.with_token(session.json()["private_token"])
        if kind == "oauth":
            return admin.with_token(by_password(instance.url, admin, scope=" ".join(scopes)).json()["access_token"])
        expiry = {"expires_at": EXPIRY} if "expiring" in name else {}
        path = "impersonation_tokens" if kind == "impersonation" else "personal_access_tokens"
        made = api.post(f"/users/{admin.id}/{path}", make.root, name="x", scopes=scopes, **expiry)
        assert made.status_code == 201, made.text
        return admin.with_token(made.json()["token"])

    return issue


def _token(api: Api, make: Make, user: User, scopes: list[str], **more: Any) -> dict[str, Any]:
    made = api.post(f"/users/{user.id}/personal_access_tokens", make.root, name="x", scopes=scopes, **more)
    assert made.status_code == 201, made.text
    token: dict[str, Any] = made.json()
    return token


@pytest.mark.parametrize("name", CREDENTIALS)
@pytest.mark.parametrize("scopes", [["read_user"], ["api"], ["api", "sudo"]])
def test_no_scope_that_the_caller_lacks(
    api: Api, make: Make, admin: User, credential: Callable[[str], User], name: str, scopes: list[str]
) -> None:
    caller, other = credential(name), make.user()
    grantable, issues, _ = CREDENTIALS[name]
    allowed = issues and set(scopes) <= grantable

    for user in (admin, other):
        created = api.post(f"/users/{user.id}/personal_access_tokens", caller, name="x", scopes=scopes)
        assert created.status_code == (201 if allowed else 403), created.text
        held = _token(api, make, user, scopes)
        rotated = api.post(f"/personal_access_tokens/{held['id']}/rotate", caller)
        assert rotated.status_code == (200 if allowed else 403), rotated.text
        assert api.get("/user", user.with_token(held["token"])).status_code == (401 if allowed else 200)
    if "sudo" not in scopes:
        acting = api.post(f"/users/{other.id}/impersonation_tokens", caller, name="x", scopes=scopes)
        assert acting.status_code == (201 if allowed else 403), acting.text


@pytest.mark.parametrize("name", CREDENTIALS)
def test_no_password_or_administrator_by_a_token_that_issues_none(
    api: Api, make: Make, admin: User, credential: Callable[[str], User], name: str
) -> None:
    """A session of that password would have all scopes, as would one by a new address or identity."""
    caller, other = credential(name), make.user()
    issues = CREDENTIALS[name][1]
    named = {"username": f"new-{other.id}", "name": "New", "email": f"new-{other.id}@example.org"}
    assert api.put(f"/users/{other.id}", caller, admin=True).status_code == (200 if issues else 403)
    assert api.put(f"/users/{other.id}", caller, name="Other").status_code == 200
    created = api.post("/users", caller, password=PASSWORD, **named)
    assert created.status_code == (201 if issues else 403), created.text
    if not issues:
        assert api.post("/users", caller, force_random_password=True, admin=True, **named).status_code == 403
        assert api.post("/users", caller, force_random_password=True, **named).status_code == 201
    address, identity = f"other-{other.id}@example.org", {"provider": "saml", "extern_uid": f"uid-{other.id}"}
    assert api.put(f"/users/{other.id}", caller, email=other.email, bio="Same address").status_code == 200
    for sent in ({"email": address, "skip_reconfirmation": True}, identity):
        changed = api.put(f"/users/{other.id}", caller, **sent)
        assert changed.status_code == (200 if issues else 403), changed.text
    changed = api.put(f"/users/{admin.id}", caller, password="another password of mine")
    assert changed.status_code == (200 if issues else 403), changed.text


@pytest.mark.parametrize("name", CREDENTIALS)
def test_an_application_gets_no_scope_that_the_caller_lacks(
    api: Api, credential: Callable[[str], User], name: str
) -> None:
    caller = credential(name)
    sudo = 201 if "sudo" in name or "private" in name else 403
    for scopes, status in (("api openid email", 201), ("api sudo", sudo)):
        sent = {"name": "x", "redirect_uri": "https://app.example/", "scopes": scopes}
        assert api.post("/applications", caller, **sent).status_code == status


@pytest.mark.parametrize("name", CREDENTIALS)
def test_the_private_token_is_shown_only_to_an_equal(api: Api, credential: Callable[[str], User], name: str) -> None:
    shown = api.get("/user", credential(name)).json()
    assert ("private_token" in shown) == CREDENTIALS[name][2]


def test_no_longer_life_than_the_callers(api: Api, make: Make, admin: User, credential: Callable[[str], User]) -> None:
    caller = credential("personal api sudo, expiring")
    for kind in ("personal_access_tokens", "impersonation_tokens"):
        for asked, given in ((None, EXPIRY), (EXPIRY, EXPIRY), ("2998-01-01", "2998-01-01"), ("2999-01-03", None)):
            sent = {"expires_at": asked} if asked else {}
            made = api.post(f"/users/{admin.id}/{kind}", caller, name="x", scopes=["api"], **sent)
            assert made.status_code == (201 if given else 403)
            assert given is None or made.json()["expires_at"] == given
    held = _token(api, make, admin, ["api"])
    assert api.post(f"/personal_access_tokens/{held['id']}/rotate", caller, expires_at="2999-01-03").status_code == 403
    assert api.post(f"/personal_access_tokens/{held['id']}/rotate", caller, expires_at=EXPIRY).status_code == 200


def test_a_token_rotates_itself_for_longer(api: Api, make: Make) -> None:
    """Rotation of a token by itself is how clients renew tokens before they expire."""
    user = make.user()
    own = user.with_token(_token(api, make, user, ["api"], expires_at="2998-01-01")["token"])
    rotated = api.post("/personal_access_tokens/self/rotate", own, expires_at=EXPIRY)
    assert (rotated.status_code, rotated.json()["expires_at"]) == (200, EXPIRY)


def test_a_user_does_not_rotate_into_more_scopes(api: Api, make: Make) -> None:
    user = make.user()
    narrow = user.with_token(_token(api, make, user, ["read_user", "read_repository", "api"])["token"])
    more = _token(api, make, user, ["api", "sudo"])
    assert api.post(f"/personal_access_tokens/{more['id']}/rotate", narrow).status_code == 403
    equal = _token(api, make, user, ["write_repository", "read_api"])
    assert api.post(f"/personal_access_tokens/{equal['id']}/rotate", narrow).status_code == 200
