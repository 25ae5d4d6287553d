"""Email addresses of the current user: adding, confirming and choosing the primary one."""

from ingot.accounts.emails import api as emails_api
from ingot.accounts.emails.service import count_confirmation_mail, create_email, make_own_email_first
from ingot.accounts.emails.views import emails_of_user
from ingot.accounts.sessions.service import resend_confirmation
from ingot.accounts.users.commit_addresses import commit_address, private_commit_address
from ingot.accounts.users.service import set_commit_address
from ingot.accounts.users.views import current_user
from ingot.core.api.params import path_number
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid
from ingot.core.names import NAMESPACES
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, form_field

pages = PageRoutes()
PAGE_PATH = "/profile/emails"


@pages.get("/profile/emails")
def show_emails(visit: Visit, db: Connection) -> PageResponse:
    """List the email addresses and show the form to add one."""
    return _emails_page(visit, db)


@pages.post("/profile/emails", notice="Email address added. Open the link in the message that was sent to it.")
def add_email(visit: Visit) -> PageResponse:
    """Add an email address and send a confirmation email to it.

    Unlike the endpoint, the page accepts an address that another user has without proof: its owner can get it here.
    """
    typed = form_field(visit.request.form, "email", "email").strip()

    def add(db: Connection) -> None:
        db.lock(NAMESPACES)
        create_email(db, visit.viewer.signed_in.id, typed, contest=True)

    try:
        visit.database.write(lambda db: count_confirmation_mail(db, visit.viewer.signed_in.id))
        visit.database.write(add)
    except REQUEST_ERRORS as error:
        errors = error_messages(error)
        return visit.database.read(lambda db: _emails_page(visit, db, typed, errors))
    return LocalRedirect(PAGE_PATH)


@pages.delete("/profile/emails/:id", notice="Email address removed.")
def remove_email(visit: Visit) -> PageResponse:
    """Remove a secondary email address."""
    visit.ask(emails_api.delete_email, email_id=path_number(visit.request.path, "id"))
    return LocalRedirect(PAGE_PATH)


@pages.post("/profile/emails/:id/confirm", notice="Confirmation email sent.")
def resend_confirmation_email(visit: Visit) -> PageResponse:
    """Send the confirmation email of an unconfirmed address again."""

    def work(db: Connection) -> None:
        count_confirmation_mail(db, visit.viewer.signed_in.id)
        resend_confirmation(db, visit.viewer.signed_in.id, path_number(visit.request.path, "id"))

    visit.database.write(work)
    return LocalRedirect(PAGE_PATH)


@pages.post("/profile/emails/confirm", notice="Confirmation email sent.")
def confirm_primary_email(visit: Visit) -> PageResponse:
    """Send a confirmation email to the primary address, which was added before confirmation was required."""

    def work(db: Connection) -> None:
        count_confirmation_mail(db, visit.viewer.signed_in.id)
        resend_confirmation(db, visit.viewer.signed_in.id)

    visit.database.write(work)
    return LocalRedirect(PAGE_PATH)


@pages.post("/profile/emails/:id/primary", notice="Primary email address changed.")
def set_primary_email(visit: Visit) -> PageResponse:
    """Make a secondary email address the primary one."""

    def work(db: Connection) -> None:
        db.lock(NAMESPACES)
        make_own_email_first(db, visit.viewer.signed_in.id, path_number(visit.request.path, "id"))

    try:
        visit.database.write(work)
    except Invalid as error:
        errors = error_messages(error)
        return visit.database.read(lambda db: _emails_page(visit, db, "", errors))
    return LocalRedirect(PAGE_PATH)


@pages.put("/profile/emails/commits", notice="Email address of commits changed.")
def set_commit_email(visit: Visit) -> PageResponse:
    """Choose the address for commits that pages and the API make."""
    chosen = form_field(visit.request.form, "user", "commit_email")
    try:
        visit.database.write(lambda db: set_commit_address(db, current_user(db, visit.viewer.actor), chosen))
    except Invalid as error:
        errors = error_messages(error)
        return visit.database.read(lambda db: _emails_page(visit, db, "", errors))
    return LocalRedirect(PAGE_PATH)


def _emails_page(visit: Visit, db: Connection, typed: str = "", errors: list[str] | None = None) -> TemplateResponse:
    emails = emails_of_user(db, visit.viewer.signed_in.id)
    context = {"tab": "emails", "emails": emails, "typed": typed, "errors": errors or []}
    user = visit.viewer.signed_in
    context |= {"private": private_commit_address(db, user), "commits": commit_address(db, user)}
    return TemplateResponse("profile/emails.html", context, 422 if errors else 200)
