"""Where people say whether an application may act for them."""

from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, urlencode, urlsplit

from ingot.access.scopes import OAUTH_SCOPES
from ingot.db.connection import Connection
from ingot.db.times import later
from ingot.inline import expect_a_wait
from ingot.oauth.queries import has_granted
from ingot.oauth.service import OUT_OF_BAND
from ingot.oauth.tables import Application
from ingot.users.accounts.tables import User
from ingot.web.oauth.asking import sent_by
from ingot.web.pages import STRICT_POLICY, Elsewhere, Page, Pages, Redirect, Reply, Visit, policy_leading_to
from ingot.web.scopes import SCOPE_TEXTS

pages = Pages()
# What the two forms bring back, so that they ask for exactly what the page showed.
_FIELDS = (
    *("client_id", "redirect_uri", "state", "response_type", "scope"),
    *("nonce", "code_challenge", "code_challenge_method"),
)
_LONGEST_AGE = 10
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@pages.get("/oauth/authorize", open=True)
def ask(visit: Visit, db: Connection) -> Reply:
    """Ask a person whether an application may act for them; who has agreed already is led on."""
    # It may end in a code, which is a write, and loads the library that knows the protocol.
    expect_a_wait()
    from ingot.oauth.server import ConsentRequiredError, Exchange, LoginRequiredError, OAuth2Error, Sent

    sent = sent_by(visit)
    quietly = sent.get("prompt") == "none"
    try:
        grant = Exchange(db, visit.settings.data, visit.origin.base).asked(Sent("GET", sent, ""), visit.user)
    except OAuth2Error as error:
        if visit.user is None and not quietly:
            return _to_sign_in(visit)
        return _refused(visit, error)
    if visit.user is None:
        return _refused(visit, _told(LoginRequiredError, sent)) if quietly else _to_sign_in(visit)
    if _must_sign_in_again(visit, db, sent):
        return _refused(visit, _told(LoginRequiredError, sent)) if quietly else _to_sign_in_again(visit)
    application: Application = grant.request.client.application
    scopes = grant.request.scope.split()
    if grant.prompt != "consent" and _may_skip(db, visit.user, application, sent, set(scopes)):
        return _agree(visit, visit.user)
    if quietly:
        return _refused(visit, _told(ConsentRequiredError, sent))
    return Page(
        "oauth/authorize.html",
        {
            "application": application,
            "scopes": [(scope, SCOPE_TEXTS[scope]) for scope in OAUTH_SCOPES if scope in scopes],
            "fields": [(name, sent.get(name, "")) for name in _FIELDS if name in sent or name in _FIELDS[:5]],
            "host": urlsplit(sent["redirect_uri"]).netloc,
        },
        policy=policy_leading_to(sent["redirect_uri"]),
    )


@pages.post("/oauth/authorize")
def agree(visit: Visit) -> Reply:
    """Let an application act for oneself."""
    return _agree(visit, visit.signed_in)


@pages.delete("/oauth/authorize")
def refuse(visit: Visit) -> Reply:
    """Do not let an application act for oneself."""
    return _agree(visit, None)


def _agree(visit: Visit, user: User | None) -> Reply:
    from ingot.oauth.server import Exchange, OAuth2Error, Sent

    sent = sent_by(visit)

    def work(db: Connection) -> Any:
        since = visit.session.created_at if visit.session else None
        exchange = Exchange(db, visit.settings.data, visit.origin.base, signed_in_at=since)
        return exchange.agreed(Sent("POST", sent, ""), user)

    try:
        status, body, headers = visit.database.write(work)
    except OAuth2Error as error:
        return _refused(visit, error)
    location = dict(headers).get("Location")
    if status != 302 or location is None:
        return _error_page(str(body.get("error_description", "")) if isinstance(body, dict) else "")
    return _lead(visit, location, sent)


def _lead(visit: Visit, location: str, sent: dict[str, str]) -> Reply:  # noqa: ARG001 - All replies are made of a visit.
    """To the application; what runs where nobody can be led is shown the code instead."""
    if sent.get("redirect_uri") != OUT_OF_BAND:
        return Elsewhere(location)
    answer = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
    answer |= {name: values[0] for name, values in parse_qs(urlsplit(location).fragment).items()}
    secret = answer.get("code") or answer.get("access_token")
    if secret is None:
        return _error_page(answer.get("error_description", "You did not agree."))
    return Page("oauth/code.html", {"secret": secret})


def _may_skip(db: Connection, user: User, application: Application, sent: dict[str, str], scopes: set[str]) -> bool:
    """Whether nobody need be asked again; anybody can pretend to be what keeps no secret, unless https says who."""
    address = urlsplit(sent["redirect_uri"])
    told_apart = application.confidential or (address.scheme == "https" and address.hostname not in _LOOPBACK)
    return told_apart and has_granted(db, user.id, application, scopes)


def _to_sign_in(visit: Visit) -> Reply:
    return Redirect(f"/users/sign_in?redirect_to={quote(visit.address, safe='')}")


def _must_sign_in_again(visit: Visit, db: Connection, sent: dict[str, str]) -> bool:
    """Whether the application wants to be sure that it is still the same person who sits there."""
    if "login" in sent.get("prompt", "").split():
        return True
    age = sent.get("max_age", "")
    if visit.session is None or not (age.isascii() and age.isdecimal() and len(age) < _LONGEST_AGE):
        return False
    return later(visit.session.created_at, seconds=int(age)) <= db.now


def _to_sign_in_again(visit: Visit) -> Reply:
    """Ask for the password although there is a session; who comes back from there has shown it."""
    path, _, query = visit.address.partition("?")
    kept = [(name, value) for name, value in parse_qsl(query) if name not in ("prompt", "max_age")]
    back = f"{path}?{urlencode(kept)}"
    return Redirect(f"/users/sign_in?again=true&redirect_to={quote(back, safe='')}")


def _told(kind: Any, sent: dict[str, str]) -> Any:
    """An error for the application, where it looks for its answer."""
    inside = sent.get("response_type") == "token"
    return kind(redirect_uri=sent["redirect_uri"], state=sent.get("state"), redirect_fragment=inside)


def _refused(visit: Visit, error: Any) -> Reply:
    if not error.redirect_uri:
        return _error_page(error.description)
    _, _, headers = error(None)
    return _lead(visit, dict(headers)["Location"], sent_by(visit))


def _error_page(description: str) -> Page:
    text = f"{description or 'The application asked for something that is not possible.'}"
    return Page("message.html", {"title": "An application asked in a wrong way", "text": text}, 400)


def policy_of_sign_in(back: str) -> bytes:
    """What the sign-in page's form may lead to: an application that has asked before gets people led on at once."""
    if not back.startswith("/oauth/authorize?"):
        return STRICT_POLICY
    address = parse_qs(urlsplit(back).query).get("redirect_uri", [""])[0]
    return policy_leading_to(address) if address else STRICT_POLICY
