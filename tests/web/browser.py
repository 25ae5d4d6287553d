"""Simple browser for tests: stores cookies, parses and submits forms, and follows no redirect."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import httpx

from tests.client import User
from tests.http_transport import StdlibTransport


@dataclass
class Form:
    """Form of a page, with the initial values of its fields."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._within = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._within = True
            self.forms.append(Form(held.get("action", ""), held.get("method", "get")))
        elif tag == "input" and self._within and held.get("type") != "checkbox":
            self.forms[-1].fields[held.get("name", "")] = held.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        self._within = self._within and tag != "form"


def forms_of(page: httpx.Response) -> list[Form]:
    """Return all forms of a page."""
    parser = _Forms()
    parser.feed(page.text)
    return parser.forms


def without_address(page: str) -> str:
    """Return the HTML of a page without its CSRF token and the addresses to which forms return."""
    address = r'redirect_to=[^"]*|name="back" value="[^"]*"'
    return re.sub(rf'"X-CSRF-Token": "\w+"|{address}|name="authenticity_token" value="\w+"', "", page)


class Browser:
    """Browser with its cookies."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._client = httpx.Client(base_url=url, timeout=60, mounts={url: StdlibTransport(url, timeout=30)})

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    @property
    def cookies(self) -> httpx.Cookies:
        """Return the cookies."""
        return self._client.cookies

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Open a page."""
        return self._client.get(path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        """Post data without a form."""
        return self._client.post(path, **options)

    def form(self, path: str, action: str, does: str | None = None) -> Form:
        """Return the form on a page with this ``action``; of several, the one that ``does`` this."""
        page = self.get(path)
        assert page.status_code == 200, page.text
        found = [form for form in forms_of(page) if form.action == action]
        (form,) = [form for form in found if does is None or form.fields.get("_method", "post") == does]
        return form

    def submit(self, path: str, action: str, **values: Any) -> httpx.Response:
        """Fill in the form on a page with this ``action``, and submit it."""
        form = self.form(path, action, values.pop("does", None))
        return self.post(action, data={**form.fields, **values.pop("fields", {}), **values})

    def token(self) -> str:
        """Return the CSRF token of this browser."""
        return self.form("/explore", "/-/theme").fields["authenticity_token"]

    def sign_in(self, login: str, password: str, **more: str) -> httpx.Response:
        """Fill in the sign-in form."""
        fields = {"user[login]": login, "user[password]": password, **more}
        return self.submit("/users/sign_in", "/users/sign_in", fields=fields)

    def signed_in_as(self, person: User) -> "Browser":
        """Return the same browser, signed in."""
        answer = self.sign_in(person.username, person.password)
        assert answer.status_code == 302, answer.text
        return self

    def is_signed_in(self) -> bool:
        """Return whether the account page opens."""
        return self.get("/profile/account").status_code == 200
