"""Passkeys of the current user: added and removed after the password has been entered again."""

import msgspec

from ingot.accounts.sessions.service import end_sessions
from ingot.accounts.two_factor.passkeys import (
    add_passkey,
    check_passkey_name,
    own_passkeys,
    remove_passkey,
    use_challenge,
    user_handle,
)
from ingot.accounts.two_factor.webauthn import creation_options, verify_registration
from ingot.accounts.users.views import current_user
from ingot.core.api.params import path_number
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, NotFound, Unauthenticated
from ingot.web.form_errors import error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, form_field
from ingot.web.passkeys import PasskeyPrompt, issue_challenge, read_challenge, relying_party, response_text
from ingot.web.profile.two_factor import PAGE_PATH, proof_error, two_factor_page

pages = PageRoutes()


@pages.post("/profile/two_factor_auth/passkeys/new")
def prepare_passkey(visit: Visit) -> PageResponse:
    """Check the password, then show the page on which the browser creates the passkey."""
    user, name = visit.viewer.signed_in, form_field(visit.request.form, "passkey", "name").strip()
    party = relying_party(visit)
    if party is None:
        raise NotFound("Page")
    try:
        visit.database.read(lambda db: check_passkey_name(db, user, name))
    except Invalid as error:
        return _page_with_errors(visit, error_messages(error))
    reason = proof_error(visit)
    if reason:
        return _page_with_errors(visit, [reason])
    challenge, signed = issue_challenge(visit, "registration", user.id, name)

    def options(db: Connection) -> dict[str, object]:
        handle, existing = user_handle(db, user.id), own_passkeys(db, user)
        return creation_options(party, challenge, handle, user.username, user.name, existing)

    prompt = PasskeyPrompt(msgspec.json.encode(visit.database.read(options)).decode(), signed)
    return TemplateResponse("profile/passkey_new.html", {"tab": "two_factor", "name": name, "passkey": prompt})


@pages.post("/profile/two_factor_auth/passkeys", notice="Passkey added.")
def register_passkey(visit: Visit) -> PageResponse:
    """Add the passkey that the browser created; the first second factor also shows recovery codes."""
    user, session, party = visit.viewer.signed_in, visit.viewer.session, relying_party(visit)
    if party is None:
        raise NotFound("Page")
    try:
        issued = read_challenge(visit, "registration", user.id)
        credential = verify_registration(party, issued.challenge, response_text(visit))

        def work(db: Connection) -> list[str]:
            use_challenge(db, issued.challenge)
            codes = add_passkey(db, current_user(db, visit.viewer.actor), issued.name, credential)
            if codes:
                end_sessions(db, user.id, but=session.id if session else 0)
            return codes

        codes = visit.database.write(work)
    except Unauthenticated:
        return _page_with_errors(visit, ["The request has expired. Add the passkey again."])
    except Invalid as error:
        return _page_with_errors(visit, error_messages(error))
    if codes:
        return TemplateResponse("profile/recovery_codes.html", {"tab": "two_factor", "codes": codes})
    return LocalRedirect(PAGE_PATH)


@pages.delete("/profile/two_factor_auth/passkeys/:id", notice="Passkey removed.")
def delete_passkey(visit: Visit) -> PageResponse:
    """Remove a passkey, confirmed like the end of two-factor authentication."""
    reason = proof_error(visit)
    if reason:
        return _page_with_errors(visit, [reason])
    passkey_id = path_number(visit.request.path, "id")
    visit.database.write(lambda db: remove_passkey(db, current_user(db, visit.viewer.actor), passkey_id))
    return LocalRedirect(PAGE_PATH)


def _page_with_errors(visit: Visit, errors: list[str]) -> PageResponse:
    return visit.database.read(lambda db: two_factor_page(visit, db, errors))
