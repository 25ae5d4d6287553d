"""OAuth applications and browsers for tests of OAuth."""

import base64
import hashlib
import re
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx

from tests.client import User
from tests.web.browser import Browser, forms_of

CALLBACK = "http://app.example/callback?from=ingot"


class RegisteredApplication:
    """Registered application."""

    def __init__(self, url: str, uid: str, secret: str, callback: str = CALLBACK) -> None:
        self.url = url
        self.uid = uid
        self.secret = secret
        self.callback = callback

    def address(self, **changes: Any) -> str:
        """Return the authorization URL; parameters set to None are omitted."""
        asked = {"client_id": self.uid, "redirect_uri": self.callback, "response_type": "code", "state": "x y&z"}
        asked |= changes
        return "/oauth/authorize?" + urlencode({name: value for name, value in asked.items() if value is not None})

    def token(self, **sent: Any) -> httpx.Response:
        """Request a token, with the client secret by default."""
        whole = {"client_id": self.uid, "client_secret": self.secret, "redirect_uri": self.callback, **sent}
        whole = {name: value for name, value in whole.items() if value is not None}
        return httpx.post(f"{self.url}/oauth/token", data=whole)

    def exchange(self, code: str, **sent: Any) -> httpx.Response:
        """Exchange a code for a token."""
        return self.token(grant_type="authorization_code", code=code, **sent)

    def refresh(self, refresh_token: str, **sent: Any) -> httpx.Response:
        """Refresh a token."""
        return self.token(grant_type="refresh_token", refresh_token=refresh_token, **sent)

    def code(self, browser: Browser, **changes: Any) -> str:
        """Authorize as a user and return the code."""
        answer = authorize(browser, self.address(**changes))
        return callback_parameters(answer)["code"]


def register(browser: Browser, **fields: str) -> RegisteredApplication:
    """Register an application through the pages."""
    fields = {"name": "An app", "redirect_uri": CALLBACK, "scopes": "api read_user openid profile email", **fields}
    named = {f"doorkeeper_application[{name}]": value for name, value in fields.items()}
    page = browser.submit("/profile/applications", "/oauth/applications", fields=named)
    assert page.status_code == 200, page.text
    return RegisteredApplication(
        browser.url, shown(page, "application_id"), shown(page, "secret"), fields["redirect_uri"]
    )


def shown(page: httpx.Response, element: str) -> str:
    """Return the text of the element with this id."""
    found = re.search(rf'id="{element}">([^<]+)<', page.text)
    assert found, page.text
    return found[1]


def authorize(browser: Browser, address: str, *, refuse: bool = False) -> httpx.Response:
    """Open the authorization page and submit one of its two forms."""
    page = browser.get(address)
    if page.status_code == 302:
        return page
    assert page.status_code == 200, page.text
    chosen = [form for form in forms_of(page) if form.fields.get("_method", "") == ("delete" if refuse else "")]
    (form,) = [form for form in chosen if form.action == "/oauth/authorize"]
    return browser.post(form.action, data=form.fields)


def callback_parameters(led: httpx.Response) -> dict[str, str]:
    """Return the parameters of a redirect to the application."""
    assert led.status_code == 302, led.text
    parts = urlsplit(led.headers["location"])
    heard = parse_qs(parts.query) | parse_qs(parts.fragment)
    return {name: values[0] for name, values in heard.items()}


def challenge_of(verifier: str) -> str:
    """Return the PKCE challenge of a verifier."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def with_bearer(url: str, token: str, path: str = "/api/v4/user", method: str = "GET") -> httpx.Response:
    """Call with a bearer token."""
    return httpx.request(method, url + path, headers={"Authorization": f"Bearer {token}"})


def by_password(url: str, person: User, **sent: str) -> httpx.Response:
    """Request a token with username and password, as scripts of 9.4 do."""
    whole = {"grant_type": "password", "username": person.username, "password": person.password, **sent}
    return httpx.post(f"{url}/oauth/token", data=whole)
