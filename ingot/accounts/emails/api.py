"""Endpoints of secondary email addresses."""

from ingot.accounts.emails import queries, service
from ingot.accounts.emails.params import CreateEmail, CreateEmailOfUser
from ingot.accounts.emails.views import EmailView, email_view
from ingot.accounts.users.api import caller_id, owned_item_finder, user_id_in_path
from ingot.accounts.users.tables import Email
from ingot.core.access.rules import administrators, signed_in
from ingot.core.access.scopes import READ_USER_SCOPES
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.names import NAMESPACES

routes = Routes("users")

_own_email = owned_item_finder(caller_id, "email_id", queries.find_email)
_own_email_or_none = owned_item_finder(caller_id, "email_id", queries.email_or_none)
_email_of_user = owned_item_finder(user_id_in_path, "email_id", queries.find_email)


@routes.get(
    "/users/:id/emails", on=user_id_in_path, may=administrators, returns=list[EmailView], scopes=READ_USER_SCOPES
)
@routes.get("/user/emails", on=caller_id, may=signed_in, returns=list[EmailView], scopes=READ_USER_SCOPES)
def list_emails(call: Call, user_id: int, page: Page) -> Listing[EmailView]:
    """List the secondary email addresses of the caller or of a user."""
    listing = queries.list_emails(call.db, user_id, page)
    return listing.of([email_view(email) for email in listing.items])


@routes.get(
    "/users/:id/emails/:email_id", on=_email_of_user, may=administrators, returns=EmailView, scopes=READ_USER_SCOPES
)
@routes.get("/user/emails/:email_id", on=_own_email, may=signed_in, returns=EmailView, scopes=READ_USER_SCOPES)
def get_email(call: Call, email: Email) -> EmailView:  # noqa: ARG001 - All handlers take the call.
    """Get a secondary email address of the caller or of a user."""
    return email_view(email)


@routes.post("/user/emails", on=caller_id, may=signed_in, returns=EmailView, locks=NAMESPACES)
def create_own_email(call: Call, user_id: int, params: CreateEmail) -> EmailView:
    """Add a secondary email address to the caller."""
    email = service.create_email(call.db, user_id, params.email)
    if email.confirmed_at is None:
        service.count_confirmation_mail(call.db, user_id)
    return email_view(email)


@routes.post("/users/:id/emails", on=user_id_in_path, may=administrators, returns=EmailView, locks=NAMESPACES)
def create_email(call: Call, user_id: int, params: CreateEmailOfUser) -> EmailView:
    """Add a secondary email address to a user."""
    email = service.create_email(call.db, user_id, params.email, vouched_for=params.skip_confirmation)
    return email_view(email)


# A missing address is a 404 for administrators, but not an error for the caller's own addresses.
@routes.delete("/users/:id/emails/:email_id", on=_email_of_user, may=administrators, returns=None)
@routes.delete("/user/emails/:email_id", on=_own_email_or_none, may=signed_in, returns=None)
def delete_email(call: Call, email: Email | None) -> None:
    """Delete a secondary email address of the caller or of a user."""
    if email is not None:
        service.delete_email(call.db, email)
