"""Sign-in with a passkey, without a password or as the second factor."""

from ingot.core.errors import Unauthenticated
from ingot.web.page_routes import PageResponse, PageRoutes, Visit, form_field, local_path
from ingot.web.passkeys import check_passkey
from ingot.web.sign_in.login import sign_in_page
from ingot.web.sign_in.session_start import begin_session, start_session_with_passkey

pages = PageRoutes()


@pages.post("/users/auth/passkey", open=True)
def sign_in_with_passkey(visit: Visit) -> PageResponse:
    """Start a session for the user of a passkey; after a password, the passkey is the second factor."""
    back = local_path(visit.request.form.get("redirect_to")) or ""
    pending = form_field(visit.request.form, "user", "pending_sign_in")
    try:
        if pending:
            return start_session_with_passkey(visit, pending, back)
        return begin_session(visit, check_passkey(visit), back, "passkey")
    except Unauthenticated:
        error = "The sign-in has expired. Sign in again." if pending else "The passkey was not accepted. Try again."
        return visit.database.read(lambda db: sign_in_page(visit, db, back, "", error))
