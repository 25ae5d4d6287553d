"""A user's addresses: adding and proving them, and which is the first."""

from ingot.api.params import path_number
from ingot.db.connection import Connection
from ingot.db.paging import Page as ListPage
from ingot.errors import Invalid
from ingot.instance.settings import current_settings
from ingot.instance.throttles import count_try, refuse_beyond
from ingot.names import NAMESPACES
from ingot.users.accounts.queries import find_user
from ingot.users.emails.queries import find_email, list_emails
from ingot.users.emails.service import make_first
from ingot.users.sessions.service import FAILURE_WINDOW_SECONDS, mail_confirmation_link
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit, form_part
from ingot.web.refusals import Refusal, sentences

pages = Pages()
HERE = "/profile/emails"
MOST_MAILS = 5


@pages.get("/profile/emails")
def show_emails(visit: Visit, db: Connection) -> Reply:
    """List the addresses and offer to add one."""
    return _page(visit, db)


@pages.post("/profile/emails")
def add_email(visit: Visit) -> Reply:
    """Add an address; a mail asks to confirm it."""
    typed = form_part(visit.form, "email", "email").strip()
    try:
        visit.database.write(lambda db: _count_mail(db, visit.signed_in.id))
        visit.call("POST", "/user/emails", {"email": typed})
    except Refusal as refusal:
        errors = sentences(refusal)
        return visit.database.read(lambda db: _page(visit, db, typed, errors))
    return Redirect(HERE)


@pages.delete("/profile/emails/:id")
def remove_email(visit: Visit) -> Reply:
    """Remove a further address."""
    visit.call("DELETE", "/user/emails/:email_id", email_id=path_number(visit.path, "id"))
    return Redirect(HERE)


@pages.post("/profile/emails/:id/confirm")
def ask_again(visit: Visit) -> Reply:
    """Write once more to an address that waits to be proven."""

    def work(db: Connection) -> None:
        user = visit.signed_in
        email = find_email(db, user.id, path_number(visit.path, "id"))
        _count_mail(db, user.id)
        if email.proven_at is None:
            mail_confirmation_link(db, user, email)

    visit.database.write(work)
    return Redirect(HERE)


@pages.post("/profile/emails/confirm")
def ask_about_first(visit: Visit) -> Reply:
    """Write to the first address, which was taken when nobody had to prove one."""

    def work(db: Connection) -> None:
        user = find_user(db, visit.signed_in.id)
        _count_mail(db, user.id)
        if user.proven_at is None:
            mail_confirmation_link(db, user)

    visit.database.write(work)
    return Redirect(HERE)


@pages.post("/profile/emails/:id/primary")
def choose_first(visit: Visit) -> Reply:
    """Make a further address the first one."""

    def work(db: Connection) -> None:
        db.lock(NAMESPACES)
        user = find_user(db, visit.signed_in.id)
        make_first(db, user, find_email(db, user.id, path_number(visit.path, "id")))

    try:
        visit.database.write(work)
    except Invalid as refusal:
        errors = sentences(refusal)
        return visit.database.read(lambda db: _page(visit, db, "", errors))
    return Redirect(HERE)


def _count_mail(db: Connection, user_id: int) -> None:
    """Nobody makes us write to strangers all day."""
    key = f"confirmation mail of {user_id}"
    refuse_beyond(db, key, MOST_MAILS, FAILURE_WINDOW_SECONDS)
    count_try(db, key, FAILURE_WINDOW_SECONDS)


def _page(visit: Visit, db: Connection, typed: str = "", errors: list[str] | None = None) -> Page:
    held = list_emails(db, visit.signed_in.id, ListPage(size=100)).items
    asks = current_settings(db).send_user_confirmation_email
    context = {"tab": "emails", "emails": held, "asks": asks, "typed": typed, "errors": errors or []}
    return Page("profile/emails.html", context, 422 if errors else 200)
