"""Creating users: permissions, defaults, and invalid names and addresses."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import make_project


def _attributes(make: Make, **more: Any) -> dict[str, Any]:
    username = make.name("new")
    sent = {"username": username, "email": f"{username}@example.org", "name": "New One", "password": "long-enough"}
    return {**sent, **more}


@pytest.mark.parametrize(("who", "status"), [("nobody", 401), ("user", 403), ("admin", 201)])
def test_administrators_create_users(api: Api, make: Make, who: str, status: int) -> None:
    sent = _attributes(make)
    caller = {"nobody": None, "user": make.user(), "admin": make.root}[who]

    made = api.post("/users", caller, **sent)

    assert made.status_code == status
    assert len(api.get("/users", make.root, username=sent["username"]).json()) == (status == 201)


def test_a_user_has_the_sent_values_and_defaults(api: Api, make: Make) -> None:
    sent = _attributes(make, bio="Baker", location="Bern", organization="Bakery", website_url="https://a.example")
    sent |= {"skype": "s", "linkedin": "l", "twitter": "t", "projects_limit": 7, "admin": True}

    made = api.post("/users", make.root, **sent).json()

    shown = {name: value for name, value in sent.items() if name not in ("password", "admin")}
    assert {**made, **shown} == made
    assert (made["is_admin"], made["state"], made["external"]) == (True, "active", False)
    plain = api.post("/users", make.root, **_attributes(make)).json()
    assert (plain["is_admin"], plain["can_create_group"], plain["external"]) == (False, True, False)


@pytest.mark.parametrize("missing", ["email", "name", "username", "password"])
def test_missing_parameters_are_named(api: Api, make: Make, missing: str) -> None:
    sent = _attributes(make)
    del sent[missing]

    answer = api.post("/users", make.root, **sent)

    assert (answer.status_code, answer.json()) == (400, {"message": f'400 (Bad request) "{missing}" not given'})


TAKEN = [
    ("email", lambda user: user.email, "Email has already been taken"),
    ("email", lambda user: user.email.upper(), "Email has already been taken"),
    ("username", lambda user: user.username, "Username has already been taken"),
    ("username", lambda user: user.username.upper(), "Username has already been taken"),
]


@pytest.mark.parametrize(("field", "taken", "message"), TAKEN)
def test_taken_values_get_409(api: Api, make: Make, field: str, taken: Any, message: str) -> None:
    user = make.user()
    sent = _attributes(make)

    refused = api.post("/users", make.root, **{**sent, field: taken(user)})

    assert (refused.status_code, refused.json()) == (409, {"message": message})
    assert api.post("/users", make.root, **sent).status_code == 201


def test_a_secondary_address_of_another_user_is_taken(api: Api, make: Make) -> None:
    user, address = make.user(), f"{make.name()}@example.org"
    api.post(f"/users/{user.id}/emails", make.root, email=address, skip_confirmation=True)

    assert api.post("/users", make.root, **_attributes(make, email=address)).status_code == 409


FORBIDDEN_NAMES = [
    *["api", "API", "users", "admin", "profile", "explore", "groups", "oauth", "assets", "uploads", "-", "v2"],
    *["roоt", "rööt", "a b", "a/b", "-a", "a.", "a.git", "A.GIT", "a.atom", "a.wiki", ".", "..", "a%", "a@b", "a\n"],
    *["", "x" * 256, "a​b"],
]


@pytest.mark.parametrize("username", FORBIDDEN_NAMES)
def test_forbidden_usernames_are_rejected(api: Api, make: Make, username: str) -> None:
    """Attack: look-alikes, reserved paths, and names that git or browsers interpret differently."""
    answer = api.post("/users", make.root, **_attributes(make, username=username))

    assert answer.status_code == 400
    assert set(answer.json()["message"]) == {"username"}


@pytest.mark.parametrize("username", ["user", "metrics", "static"])
def test_names_that_are_not_reserved(api: Api, make: Make, username: str) -> None:
    """GitLab does not reserve them; the user and a project below the name have pages."""
    created = api.post("/users", make.root, **_attributes(make, username=username))
    assert (created.status_code, created.json()["username"]) == (201, username)
    user = User(created.json()["id"], username, created.json()["email"], make.token(created.json()["id"]))
    project = make_project(make, user, name="ingot.css", path="ingot.css", visibility="public")
    assert project.path == f"{username}/ingot.css"
    for path in (f"/{username}", f"/{project.path}"):
        page = httpx.get(f"{api.url}{path}")
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert api.delete(f"/users/{user.id}", make.root, hard_delete=True).status_code == 200


@pytest.mark.parametrize("stem", ["a.b", "A_b-C", "_a", "0", "a-"])
def test_valid_usernames_are_accepted(api: Api, make: Make, stem: str) -> None:
    username = f"{make.name('n')}{stem}"

    assert api.post("/users", make.root, **_attributes(make, username=username)).json()["username"] == username


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("email", "no address"),
        ("email", "a@b@c"),
        ("email", "<a@example.org>"),
        ("email", "a@example.org\nBcc: b@example.org"),
        ("email", ""),
        ("password", "short"),
        ("password", "x" * 1025),
        ("bio", "x" * 256),
        ("name", "x" * 256),
        ("name", " "),
        ("projects_limit", -1),
        ("public_email", "no address"),
    ],
)
def test_invalid_values_are_named(api: Api, make: Make, field: str, value: Any) -> None:
    answer = api.post("/users", make.root, **_attributes(make, **{field: value}))

    assert answer.status_code == 400
    assert list(answer.json()["message"]) == [field]


def test_all_invalid_values_are_named(api: Api, make: Make) -> None:
    wrong = {"password": "short", "bio": "g" * 256, "projects_limit": -1, "username": "-"}

    answer = api.post("/users", make.root, **_attributes(make, **wrong))

    assert (answer.status_code, set(answer.json()["message"])) == (400, set(wrong))


@pytest.mark.parametrize(("length", "status"), [(7, 400), (8, 201), (1024, 201)])
def test_passwords_need_eight_characters_and_work(api: Api, make: Make, length: int, status: int) -> None:
    sent = _attributes(make, password="ä" * length)

    assert api.post("/users", make.root, **sent).status_code == status
    signed_in = api.post("/session", login=sent["username"], password=sent["password"])
    assert (signed_in.status_code == 201) is (status == 201)


def test_reset_password_takes_precedence_over_a_password_and_sends_a_mail(
    instance: Instance, api: Api, make: Make
) -> None:
    sent = _attributes(make, reset_password=True)

    assert api.post("/users", make.root, **sent).status_code == 201

    assert api.post("/session", login=sent["username"], password=sent["password"]).status_code == 401
    (mail,) = [mail for mail in instance.mails() if f"To: {sent['email']}" in mail]
    assert "reset_password_token=" in mail


@pytest.mark.parametrize("more", [{"reset_password": True}, {"force_random_password": True}])
def test_no_password_is_required_with_reset_password(api: Api, make: Make, more: dict[str, bool]) -> None:
    sent = _attributes(make, **more)
    del sent["password"]

    assert api.post("/users", make.root, **sent).status_code == 201


@pytest.fixture
def confirmation_required(api: Api, make: Make) -> Iterator[None]:
    """Require confirmation of email addresses."""
    api.put("/application/settings", make.root, send_user_confirmation_email=True)
    yield
    api.put("/application/settings", make.root, send_user_confirmation_email=False)


@pytest.mark.usefixtures("confirmation_required")
@pytest.mark.parametrize(
    ("more", "confirmed"), [({}, True), ({"confirm": False}, False), ({"skip_confirmation": True}, True)]
)
def test_skip_confirmation_is_the_default(
    instance: Instance, api: Api, make: Make, more: dict[str, bool], confirmed: bool
) -> None:
    sent = _attributes(make, **more)

    made = api.post("/users", make.root, **sent).json()

    assert (made["confirmed_at"] is not None) is confirmed
    assert any(sent["email"] in mail for mail in instance.mails()) is not confirmed
    signed_in = api.post("/session", login=sent["username"], password=sent["password"])
    assert signed_in.status_code == (201 if confirmed else 401)


def test_create_with_an_identity(api: Api, make: Make) -> None:
    uid = make.name("uid")

    made = api.post("/users", make.root, **_attributes(make, provider="github", extern_uid=uid)).json()

    assert made["identities"] == [{"provider": "github", "extern_uid": uid}]
    for alone in ({"provider": "github"}, {"extern_uid": uid}):
        assert api.post("/users", make.root, **_attributes(make, **alone)).status_code == 400


def test_an_identity_is_unique(api: Api, make: Make) -> None:
    identity = {"provider": "github", "extern_uid": make.name("uid")}
    make.user(**identity)
    sent = _attributes(make, **identity)

    assert api.post("/users", make.root, **sent).status_code in (400, 409)
    assert api.get("/users", make.root, username=sent["username"]).json() == []


def test_concurrent_creation_makes_one_user(api: Api, make: Make) -> None:
    """The later of two equal calls gets 409 and has no effect."""
    from concurrent.futures import ThreadPoolExecutor

    sent = _attributes(make)
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda _: api.post("/users", make.root, **sent).status_code, range(8)))

    assert sorted(statuses) == [201] + [409] * 7
    assert len(api.get("/users", make.root, search=sent["email"]).json()) == 1
