"""The setting that decides when new users must confirm their address."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from ingot.accounts.instance.tables import instance_settings
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import changed_settings, later
from tests.instance_settings import PATH
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD
from tests.web.mailed_links import mailed_link


def _sign_up(browser: Browser, name: str) -> Any:
    typed = {"name": name, "username": name, "email": f"{name}@example.org", "password": PASSWORD}
    return browser.submit("/users/sign_up", "/users", fields={f"user[{key}]": typed[key] for key in typed})


@pytest.mark.parametrize(("mode", "at_once", "after_three_days"), [("off", True, True), ("soft", True, False)])
def test_sign_up(
    browser: Browser, api: Api, make: Make, instance: Instance, mode: str, at_once: bool, after_three_days: bool
) -> None:
    name = make.name()
    with changed_settings(make, signup_enabled=True, email_confirmation_setting=mode, session_expire_delay=10080):
        assert _sign_up(browser, name).status_code == 302
        assert browser.is_signed_in() is at_once
        with later(instance, days=2):
            assert browser.is_signed_in()
        with later(instance, days=3, minutes=1):
            assert browser.is_signed_in() is after_three_days, "Sessions end too."


def test_soft_confirmation(open_browser: Callable[[], Browser], api: Api, make: Make, instance: Instance) -> None:
    name = make.name()
    with changed_settings(make, signup_enabled=True, email_confirmation_setting="soft"):
        _sign_up(open_browser(), name)
        link = mailed_link(instance, f"{name}@example.org", "/users/confirmation?confirmation_token")
        with later(instance, days=4):
            assert open_browser().sign_in(name, PASSWORD).status_code == 401
        visitor = open_browser()
        visitor.submit(link, "/users/confirmation")
        with later(instance, days=4):
            assert visitor.sign_in(name, PASSWORD).status_code == 302


def test_hard_confirmation(open_browser: Callable[[], Browser], api: Api, make: Make) -> None:
    name = make.name()
    with changed_settings(make, signup_enabled=True, email_confirmation_setting="hard"):
        assert "Check your email" in _sign_up(open_browser(), name).text
        refused = open_browser().sign_in(name, PASSWORD)
        assert (refused.status_code, "Confirm your email address" in refused.text) == (401, True)
        assert "Invalid login or password." in open_browser().sign_in(name, f"{PASSWORD}-").text
        (user,) = api.get("/users", make.root, username=name).json()
        api.post(f"/users/{user['id']}/block", make.root)
        assert "Invalid login or password." in open_browser().sign_in(name, PASSWORD).text


def test_both_settings_are_in_step(api: Api, make: Make, instance: Instance) -> None:
    def change(**sent: Any) -> tuple[str, bool]:
        answer = api.put(PATH, make.root, **sent).json()
        return answer["email_confirmation_setting"], answer["send_user_confirmation_email"]

    with changed_settings(make, email_confirmation_setting="off"):
        assert change(send_user_confirmation_email=True) == ("hard", True)
        assert change(email_confirmation_setting="soft") == ("soft", True)
        assert change(send_user_confirmation_email=True) == ("soft", True)
        whole = api.get(PATH, make.root).json()
        assert change(**{**whole, "email_confirmation_setting": "off"}) == ("off", False)
        assert change(**{**whole, "send_user_confirmation_email": True}) == ("soft", True)
        assert change(send_user_confirmation_email=False) == ("off", False)
        older = msgspec.json.encode({"send_user_confirmation_email": True}).decode()
        instance.app.database.write(lambda db: db.update(instance_settings, 1, document=older))
        assert api.get(PATH, make.root).json()["email_confirmation_setting"] == "hard"
    assert api.put(PATH, make.root, email_confirmation_setting="perhaps").status_code == 400
