"""Passkeys in a real browser with a virtual authenticator."""

from collections.abc import Callable

from playwright.sync_api import CDPSession, expect

from tests.browser.conftest import PASSWORD, BrowserWindow
from tests.client import User

HERE = "/profile/two_factor_auth"


def attach_authenticator(window: BrowserWindow) -> tuple[CDPSession, str]:
    """Attach a virtual authenticator to the window and open the server by its name, as passkeys require."""
    window.url = window.url.replace("127.0.0.1", "localhost")
    session = window.context.new_cdp_session(window.page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    return session, session.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"]


def _add_passkey(window: BrowserWindow, name: str) -> None:
    page = window.open(HERE)
    page.get_by_label("Passkey name").fill(name)
    page.locator("#proof_for_new_passkey").fill(PASSWORD)
    page.get_by_role("button", name="Add passkey").click()
    page.get_by_role("button", name="Create passkey").click()


def test_passkey_from_creation_to_removal(open_window: Callable[..., BrowserWindow], person: User) -> None:
    """A passkey signs in without a password and after it; without user verification it is only a second factor."""
    window = open_window()
    session, authenticator = attach_authenticator(window)
    page = window.set_session(person).page
    _add_passkey(window, "Laptop")
    expect(page.locator("#recovery_codes li")).to_have_count(10)
    page.get_by_role("link", name="I have saved these codes").click()
    expect(page.get_by_text("Never used.")).to_be_visible()
    assert window.violations() == []

    window.context.clear_cookies()
    page = window.open("/users/sign_in")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page).to_have_url(f"{window.url}/")
    window.open(HERE)
    expect(page.get_by_text("Last used")).to_be_visible()

    session.send("WebAuthn.setUserVerified", {"authenticatorId": authenticator, "isUserVerified": False})
    window.context.clear_cookies()
    page = window.open("/users/sign_in")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_text("The passkey was cancelled or took too long. Try again.")).to_be_visible()
    page.get_by_label("Username or email").fill(person.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Use a passkey").click()
    expect(page).to_have_url(f"{window.url}/")

    window.open(HERE)
    page.get_by_label("Remove Laptop").click()
    page.locator(".passkeys [name=current_password]").fill(PASSWORD)
    page.get_by_role("button", name="Remove passkey").click()
    expect(page.get_by_text("Passkey removed.")).to_be_visible()
    expect(page.get_by_text("Scan the QR code")).to_be_visible()
