"""Users' further addresses over the API."""

from ingot.access.levels import NO_ACCESS, Access
from ingot.access.rules import administrators, signed_in
from ingot.access.scopes import READING_USERS
from ingot.api.params import path_number
from ingot.api.routes import Call, Routes
from ingot.db.paging import Listing, Page
from ingot.users.accounts.api import user_in_path
from ingot.users.accounts.tables import Email, User
from ingot.users.emails import queries, service
from ingot.users.emails.params import CreateEmail, CreateEmailOfUser
from ingot.users.emails.views import EmailView, email_view

routes = Routes("users")


def _email_of_user(call: Call) -> tuple[Access, Email]:
    """The address that the path names, of the user whom it names."""
    email_id = path_number(call.path, "email_id")
    _, user = user_in_path(call)
    return NO_ACCESS, queries.find_email(call.db, user.id, email_id)


def _list(call: Call, user_id: int, page: Page) -> Listing[EmailView]:
    found = queries.list_emails(call.db, user_id, page)
    return found.of([email_view(email) for email in found.items])


@routes.get("/user/emails", may=signed_in, returns=list[EmailView], scopes=READING_USERS)
def list_own_emails(call: Call, page: Page) -> Listing[EmailView]:
    """List the caller's further addresses."""
    return _list(call, call.actor.user_id, page)


@routes.get("/user/emails/:email_id", may=signed_in, returns=EmailView, scopes=READING_USERS)
def get_own_email(call: Call) -> EmailView:
    """Get one of the caller's further addresses."""
    return email_view(queries.find_email(call.db, call.actor.user_id, path_number(call.path, "email_id")))


@routes.post("/user/emails", may=signed_in, returns=EmailView)
def create_own_email(call: Call, params: CreateEmail) -> EmailView:
    """Add a further address to the caller."""
    return email_view(service.create_email(call.db, call.actor.user_id, params.email))


@routes.delete("/user/emails/:email_id", may=signed_in, returns=None)
def delete_own_email(call: Call) -> None:
    """Delete one of the caller's further addresses; one that is not there is deleted already."""
    email = queries.email_or_none(call.db, call.actor.user_id, path_number(call.path, "email_id"))
    if email is not None:
        service.delete_email(call.db, email)


@routes.get("/users/:id/emails", on=user_in_path, may=administrators, returns=list[EmailView], scopes=READING_USERS)
def list_emails(call: Call, user: User, page: Page) -> Listing[EmailView]:
    """List a user's further addresses."""
    return _list(call, user.id, page)


@routes.get(
    "/users/:id/emails/:email_id", on=_email_of_user, may=administrators, returns=EmailView, scopes=READING_USERS
)
def get_email(call: Call, email: Email) -> EmailView:  # noqa: ARG001 - All handlers take the call.
    """Get one of a user's further addresses."""
    return email_view(email)


@routes.post("/users/:id/emails", on=user_in_path, may=administrators, returns=EmailView)
def create_email(call: Call, user: User, params: CreateEmailOfUser) -> EmailView:
    """Add a further address to a user."""
    email = service.create_email(call.db, user.id, params.email, vouched_for=params.skip_confirmation)
    return email_view(email)


@routes.delete("/users/:id/emails/:email_id", on=_email_of_user, may=administrators, returns=None)
def delete_email(call: Call, email: Email) -> None:
    """Delete one of a user's further addresses; here the contract wants it to be there."""
    service.delete_email(call.db, email)
