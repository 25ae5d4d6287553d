"""Instance settings about accounts: names, deletion, mails, feeds and new users."""

import re
from functools import partial

from ingot.accounts.sessions.service import record_sign_in
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import changed_settings, make_project
from tests.instance_settings import PATH
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD


def test_names_that_only_administrators_change(browser: Browser, person: User, api: Api, make: Make) -> None:
    browser.signed_in_as(person)
    with changed_settings(make, updating_name_disabled_for_users=True):
        refused = browser.submit("/profile", "/profile", fields={"user[name]": "Another"})
        assert "Only administrators can change names" in refused.text
        assert browser.submit("/profile", "/profile", fields={"user[bio]": "Sails"}).status_code == 302
        assert api.put(f"/users/{person.id}", make.root, name="Set by root").json()["name"] == "Set by root"
    assert browser.submit("/profile", "/profile", fields={"user[name]": "Another"}).status_code == 302


def test_users_who_may_not_delete_their_accounts(browser: Browser, person: User, api: Api, make: Make) -> None:
    browser.signed_in_as(person)
    form = browser.form("/profile/account", "/users").fields
    typed = {**form, "password": PASSWORD, "username": person.username}
    with changed_settings(make, allow_account_deletion=False):
        assert 'action="/users"' not in browser.get("/profile/account").text
        assert "Only administrators can delete accounts." in browser.post("/users", data=typed).text
        assert api.get(f"/users/{person.id}", make.root).status_code == 200
    assert browser.post("/users", data=typed).status_code == 302


def test_deactivated_users_get_a_mail(api: Api, make: Make, instance: Instance) -> None:
    for wanted in (True, False):
        person = make.user()
        with changed_settings(make, user_deactivation_emails_enabled=wanted):
            api.post(f"/users/{person.id}/deactivate", make.root)
        mails = [mail for mail in instance.mails() if f"To: {person.email}" in mail and "deactivated" in mail]
        assert bool(mails) is wanted


def test_sign_ins_from_unknown_networks(
    browser: Browser, person: User, api: Api, make: Make, instance: Instance
) -> None:
    def mails() -> int:
        return sum(f"To: {person.email}" in mail and "new location" in mail for mail in instance.mails())

    record = partial(record_sign_in, user_id=person.id, ip="198.51.100.7", user_agent="", succeeded=True)
    with changed_settings(make, notify_on_unknown_sign_in=True):
        browser.signed_in_as(person)
        assert mails() == 0, "It is the first sign-in."
    other = make.user(password=PASSWORD)
    instance.app.database.write(partial(record, user_id=other.id))
    person = other
    browser.cookies.clear()
    with changed_settings(make, notify_on_unknown_sign_in=True):
        for _ in range(2):
            browser.signed_in_as(person)
            browser.cookies.clear()
        assert mails() == 1


def test_feed_tokens_can_be_disabled(browser: Browser, person: User, api: Api, make: Make) -> None:
    project = make_project(make, person, visibility="private")
    path = f"/{project.path}/-/activity"
    found = re.search(r"feed_token=(glft-[0-9a-f]+-\d+)", browser.signed_in_as(person).get(path).text)
    assert found
    address = f"/{project.path}.atom?feed_token={found[1]}"
    with Browser(browser.url) as reader:
        assert reader.get(address).status_code == 200
        with changed_settings(make, disable_feed_token=True):
            assert "feed_token" not in browser.get(path).text
            assert reader.get(address).status_code != 200


def test_addresses_of_internal_users(api: Api, make: Make) -> None:
    def is_external(address: str) -> bool:
        name = make.name()
        sent = {"username": name, "name": "x", "password": PASSWORD, "email": f"{name}@{address}"}
        external: bool = api.post("/users", make.root, **sent).json()["external"]
        return external

    with changed_settings(make, user_default_external=True, user_default_internal_regex=r"@harbour\.example$"):
        assert is_external("elsewhere.example")
        assert not is_external("HARBOUR.example")
    assert not is_external("elsewhere.example")
    assert api.put(PATH, make.root, user_default_internal_regex="[").status_code == 400
