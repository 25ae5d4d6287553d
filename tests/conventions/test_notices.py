"""Every form of the pages confirms its success with a notice, except those listed here with a reason."""

from ingot.web.all_pages import ALL_PAGES

SESSION = "The next page shows who is signed in."
MESSAGE = "The response is a page that describes the result."
SECRET = "The response shows the new secret, with a notice of its own."
CLIENT = "For API clients, which show no pages."
PREFERENCE = "The result is visible at once."
EXCEPTIONS = {
    "POST /users/sign_in": SESSION,
    "POST /users/auth/passkey": SESSION,
    "POST /users/sign_out": SESSION,
    "DELETE /users/sign_out": SESSION,
    "POST /users": SESSION,
    "POST /users/confirmation/new": MESSAGE,
    "POST /users/password": MESSAGE,
    "POST /import/plan": MESSAGE,
    "POST /sent_notifications/:key/unsubscribe": MESSAGE,
    "POST /-/invites/:token/decline": MESSAGE,
    "DELETE /:path/-/edit": MESSAGE,
    "DELETE /groups/:path/-/edit": MESSAGE,
    "POST /-/theme": PREFERENCE,
    "POST /-/broadcast_messages/:id/dismiss": PREFERENCE,
    "POST /-/preview": PREFERENCE,
    "POST /:path/-/merge_requests/:merge_request_iid/viewed": PREFERENCE,
    "POST /:path/-/settings/deploy_tokens": SECRET,
    "POST /groups/:path/-/settings/deploy_tokens": SECRET,
    "POST /:path/-/settings/access_tokens": SECRET,
    "POST /:path/-/settings/access_tokens/:token/rotate": SECRET,
    "POST /groups/:path/-/settings/access_tokens": SECRET,
    "POST /groups/:path/-/settings/access_tokens/:token/rotate": SECRET,
    "POST /profile/personal_access_tokens": SECRET,
    "POST /profile/personal_access_tokens/fine_grained": SECRET,
    "POST /profile/two_factor_auth": SECRET,
    "POST /profile/two_factor_auth/codes": SECRET,
    "POST /profile/two_factor_auth/passkeys/new": MESSAGE,
    "POST /oauth/applications": SECRET,
    "POST /oauth/applications/:id/renew": SECRET,
    "POST /admin/applications": SECRET,
    "POST /admin/applications/:id/renew": SECRET,
    "POST /admin/users/:id/impersonation_tokens": SECRET,
    "POST /:path/-/runners": SECRET,
    "POST /groups/:path/-/runners": SECRET,
    "POST /admin/runners": SECRET,
    "POST /:path/-/ci/lint": MESSAGE,
    "POST /oauth/authorize": "Redirects to the application.",
    "DELETE /oauth/authorize": "Redirects to the application.",
    "POST /oauth/token": CLIENT,
    "POST /oauth/revoke": CLIENT,
    "POST /oauth/introspect": CLIENT,
    "POST /oauth/register": CLIENT,
    "POST /oauth/userinfo": CLIENT,
}
_FORMS = {
    f"{route.method} {route.path}": route.notice
    for pages in ALL_PAGES
    for route in pages.routes
    if route.method != "GET"
}


def test_every_form_has_a_notice() -> None:
    assert {form for form, notice in _FORMS.items() if not notice} == EXCEPTIONS.keys()


def test_notices_are_sentences() -> None:
    texts = [notice for notice in _FORMS.values() if isinstance(notice, str) and notice]
    assert [text for text in texts if not (text[0].isupper() and text.endswith("."))] == []
