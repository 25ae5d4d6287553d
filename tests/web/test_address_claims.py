"""Claims to an email address: an unproven one reserves nothing, and the user who proves the address gets it."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from ingot.accounts.emails.service import delete_unconfirmed_emails
from ingot.accounts.users.addresses import UNKNOWN_DOMAIN
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import day
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

TAKEN = {"message": {"email": ["has already been taken"]}}
NOT_OWNED = {"message": {"public_email": ["is not an email you own"]}}


@pytest.fixture
def configure(api: Api, make: Make) -> Iterator[Callable[..., None]]:
    """Return a function that changes instance settings until the test ends; users may sign up."""

    def change(**settings: Any) -> None:
        assert api.put("/application/settings", make.root, **settings).status_code == 200

    change(signup_enabled=True)
    yield change
    change(signup_enabled=False, send_user_confirmation_email=False)


@pytest.fixture
def address(make: Make) -> str:
    """Return an address that no user has."""
    return f"{make.name('owner')}@mail.example"


def _links(instance: Instance, address: str) -> list[str]:
    """Return the paths of the confirmation links that were sent to an address."""
    mails = [mail.replace("=\n", "").replace("=3D", "=") for mail in instance.mails() if f"To: {address}" in mail]
    return [
        match[1] for mail in mails if (match := re.search(r"(/users/confirmation\?confirmation_token=[\w-]+)", mail))
    ]


def _confirm(browser: Browser, link: str) -> int:
    page = browser.get(link)
    return browser.submit(link, "/users/confirmation").status_code if page.status_code == 200 else page.status_code


def _sign_up(browser: Browser, username: str, address: str) -> httpx.Response:
    fields = {"name": username, "username": username, "email": address, "password": PASSWORD}
    named = {f"user[{name}]": value for name, value in fields.items()}
    return browser.submit("/users/sign_up", "/users", fields=named)


def _claim(browser: Browser, address: str) -> int:
    """Add an address on the page of a signed-in user, where it may be one that another user has without proof."""
    return browser.submit("/profile/emails", "/profile/emails", fields={"email[email]": address}).status_code


def _addresses(api: Api, make: Make, user: User) -> tuple[str, list[str]]:
    """Return the primary address of a user, and the secondary ones."""
    primary = api.get(f"/users/{user.id}", make.root).json()["email"]
    return primary, [each["email"] for each in api.get(f"/users/{user.id}/emails", make.root).json()]


def _user(api: Api, make: Make, username: str) -> User:
    (found,) = api.get("/users", make.root, username=username).json()
    return User(found["id"], username, found["email"], make.token(found["id"]), PASSWORD)


@pytest.mark.parametrize("required", [False, True])
def test_verified_claim_takes_a_secondary_address(
    instance: Instance,
    api: Api,
    make: Make,
    browser: Browser,
    open_browser: Callable[[], Browser],
    configure: Callable[..., None],
    address: str,
    required: bool,
) -> None:
    configure(send_user_confirmation_email=required)
    thief, owner = make.user(password=PASSWORD), make.user(password=PASSWORD)
    assert api.post("/user/emails", thief, email=address).status_code == 201
    for caller, path in ((owner, "/user/emails"), (make.root, f"/users/{owner.id}/emails")):
        refused = api.post(path, caller, email=address.upper(), skip_confirmation=True)
        assert (refused.status_code, refused.json()) == (400, TAKEN), "The API refuses an address that any user has."
    assert _addresses(api, make, owner)[1] == []
    page = open_browser().signed_in_as(owner)
    assert _claim(page, address.upper()) == 302
    (claimed,) = api.get("/user/emails", owner).json()
    assert (claimed["email"], claimed["confirmed_at"]) == (address, None)
    assert _claim(page, address) == 422, "A user claims an address once."
    assert _addresses(api, make, thief)[1] == [address], "Nothing is proven yet."

    links = _links(instance, address)
    assert _confirm(browser, links[-1]) == 302
    assert _addresses(api, make, thief) == (thief.email, [])
    (held,) = api.get("/user/emails", owner).json()
    assert (held["email"], held["confirmed_at"] is not None) == (address, True)
    for link in links:
        assert _confirm(browser, link) == 404, "The link of the thief, if any, is dropped with the claim."
    assert browser.sign_in(address, PASSWORD).status_code == 302
    assert f"@{owner.username}" in browser.get("/profile/account").text
    for user in (thief, make.user()):
        assert api.post("/user/emails", user, email=address).json() == TAKEN


def test_unconfirmed_addresses_expire(
    instance: Instance, api: Api, make: Make, open_browser: Callable[[], Browser], configure: Callable[..., None]
) -> None:
    """A stranger's claim ends after days; an account that waits for its first address keeps it."""
    configure(send_user_confirmation_email=True)
    thief, owner, address = make.user(), make.user(), f"{make.name('owner')}@mail.example"
    vouched, waiting = f"{make.name('vouched')}@mail.example", make.name("waiting")
    assert api.post("/user/emails", thief, email=address).status_code == 201
    assert api.post(f"/users/{thief.id}/emails", make.root, email=vouched, skip_confirmation=True).status_code == 201
    assert "Check your email" in _sign_up(open_browser(), waiting, address).text
    instance.app.database.write(delete_unconfirmed_emails)
    assert _addresses(api, make, thief)[1] == [address, vouched]
    with day(instance, "2099-01-01"):
        instance.app.database.write(delete_unconfirmed_emails)
    assert _addresses(api, make, thief)[1] == [vouched]
    (user,) = api.get("/users", make.root, username=waiting).json()
    assert [each["email"] for each in api.get(f"/users/{user['id']}/emails", make.root).json()] == [address]
    assert api.delete(f"/users/{user['id']}", make.root).is_success
    assert api.post("/user/emails", owner, email=address).status_code == 201


def test_a_sign_up_proves_an_address_that_another_account_has(
    instance: Instance, api: Api, make: Make, open_browser: Callable[[], Browser], configure: Callable[..., None]
) -> None:
    """Without confirmation, accounts sign up with any address; its owner gets it back from them."""
    address = f"{make.name('owner')}@mail.example"
    thief_name, name = make.name("thief"), make.name("owner")
    assert _sign_up(open_browser(), thief_name, address).headers["location"] == "/"
    thief = _user(api, make, thief_name)
    browser = open_browser()
    waiting = _sign_up(browser, name, address)
    assert (waiting.status_code, "Check your email" in waiting.text) == (200, True)
    assert browser.sign_in(name, PASSWORD).status_code == 401
    assert _addresses(api, make, thief)[0] == address

    (link,) = _links(instance, address)
    browser.submit("/users/confirmation/new", "/users/confirmation/new", fields={"user[email]": address})
    assert len(_links(instance, address)) == 2, "A lost mail can be sent again."
    assert _confirm(browser, link) == 302
    browser.sign_in(address, PASSWORD)
    assert f"@{name}" in browser.get("/profile/account").text
    assert _addresses(api, make, _user(api, make, name)) == (address, [])
    primary, secondary = _addresses(api, make, thief)
    assert (primary.endswith(f"@{UNKNOWN_DOMAIN}"), secondary) == (True, [])

    other = open_browser()
    assert other.sign_in(thief_name, PASSWORD).status_code == 302, "The account itself remains."
    other_address = f"{make.name('new')}@mail.example"
    other.submit("/profile/emails", "/profile/emails", fields={"email[email]": other_address})
    (email,) = api.get("/user/emails", thief).json()
    other.submit("/profile/emails", f"/profile/emails/{email['id']}/primary")
    assert _addresses(api, make, thief) == (other_address, [])


def test_of_two_sign_ups_the_one_that_is_confirmed_gets_the_address(
    instance: Instance, api: Api, make: Make, open_browser: Callable[[], Browser], configure: Callable[..., None]
) -> None:
    configure(send_user_confirmation_email=True)
    address, names = f"{make.name('owner')}@mail.example", [make.name("thief"), make.name("owner")]
    for name in names:
        assert "Check your email" in _sign_up(open_browser(), name, address).text
    first, second = _links(instance, address)
    browser = open_browser()
    assert _confirm(browser, second) == 302
    assert _confirm(browser, first) == 404
    assert browser.sign_in(names[0], PASSWORD).status_code == 401
    assert browser.sign_in(names[1], PASSWORD).status_code == 302
    refused = _sign_up(open_browser(), make.name("late"), address)
    assert (refused.status_code, "Email has already been taken" in refused.text) == (422, True)


def test_the_displaced_account_falls_back_to_its_own_address(
    instance: Instance, api: Api, make: Make, open_browser: Callable[[], Browser], configure: Callable[..., None]
) -> None:
    address, own = f"{make.name('owner')}@mail.example", f"{make.name('own')}@mail.example"
    name = make.name("thief")
    assert _sign_up(open_browser(), name, address).status_code == 302
    thief = _user(api, make, name)
    assert api.post(f"/users/{thief.id}/emails", make.root, email=own, skip_confirmation=True).status_code == 201
    assert _claim(open_browser().signed_in_as(make.user(password=PASSWORD)), address) == 302
    assert _confirm(open_browser(), _links(instance, address)[-1]) == 302
    assert _addresses(api, make, thief) == (own, [])


def test_administrators_vouch_for_an_address(api: Api, make: Make, address: str) -> None:
    """Their word counts like a proof, except against the primary address of an account that is in use."""
    thief = make.user()
    assert api.post("/user/emails", thief, email=address).status_code == 201
    owner = make.user(email=address)
    assert _addresses(api, make, thief)[1] == []
    assert _addresses(api, make, owner)[0] == address
    third = f"{make.name('third')}@mail.example"
    assert api.post("/user/emails", thief, email=third).status_code == 201
    assert api.put(f"/users/{owner.id}", make.root, email=third).json()["email"] == third
    assert _addresses(api, make, thief)[1] == []
    for sent_to in (third, thief.email):
        conflict = api.post(
            "/users", make.root, username=make.name(), name="x", password=PASSWORD, email=sent_to, confirm=True
        )
        assert (conflict.status_code, conflict.json()) == (409, {"message": "Email has already been taken"})


def test_a_public_email_is_a_verified_address_of_the_user(
    api: Api, make: Make, browser: Browser, person: User, address: str
) -> None:
    other = make.user()
    path = f"/users/{person.id}"
    api.post("/user/emails", person, email=address)
    browser.signed_in_as(person)
    for wrong in (other.email, address, f"{make.name()}@nobody.example"):
        refused = api.put(path, make.root, public_email=wrong)
        assert (refused.status_code, refused.json()) == (400, NOT_OWNED)
        form = browser.form("/profile", "/profile")
        page = browser.post("/profile", data={**form.fields, "user[public_email]": wrong})
        assert (page.status_code, "is not an email you own" in page.text) == (422, True)
    assert api.put(path, make.root, public_email=person.email.upper()).json()["public_email"] == person.email
    assert api.put(path, make.root, bio="x").json()["public_email"] == person.email
    assert api.put(path, make.root, public_email="").json()["public_email"] == ""

    second = f"{make.name()}@mail.example"
    added = api.post(f"{path}/emails", make.root, email=second, skip_confirmation=True).json()
    assert api.put(path, make.root, public_email=second).json()["public_email"] == second
    assert api.delete(f"{path}/emails/{added['id']}", make.root).is_success
    assert api.get(path, make.root).json()["public_email"] == ""
    new = f"{make.name()}@mail.example"
    assert api.put(path, make.root, email=new, public_email=new).json()["public_email"] == new
    assert api.put(path, make.root, email=person.email).json()["public_email"] == ""


def test_a_confirmed_primary_address_may_be_public(
    api: Api, make: Make, open_browser: Callable[[], Browser], configure: Callable[..., None], address: str
) -> None:
    """The address of an account that signed up without confirmation is confirmed, but not verified."""
    configure(send_user_confirmation_email=False)
    name = make.name("user")
    assert _sign_up(open_browser(), name, address).status_code == 302
    user = _user(api, make, name)
    assert api.put(f"/users/{user.id}", make.root, public_email=address).json()["public_email"] == address
    owner = make.user(email=f"{make.name()}@mail.example", password=PASSWORD)
    assert api.put(f"/users/{owner.id}", make.root, public_email=address).status_code == 400


def test_a_new_user_has_no_public_email_of_others(api: Api, make: Make) -> None:
    other, name = make.user(), make.name()
    sent = {"username": name, "name": "x", "password": PASSWORD, "email": f"{name}@mail.example"}
    refused = api.post("/users", make.root, **sent, public_email=other.email)
    assert (refused.status_code, refused.json()) == (400, NOT_OWNED)
    made = api.post("/users", make.root, **sent, public_email=sent["email"])
    assert (made.status_code, made.json()["public_email"]) == (201, sent["email"])
