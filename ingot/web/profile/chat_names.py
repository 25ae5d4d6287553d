"""Users of chats that act as the current user with slash commands."""

from ingot.core.api.params import path_number
from ingot.core.db.connection import Connection
from ingot.integrations.commands.service import find_link_request, link_chat_name, list_chat_names, unlink_chat_name
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit

pages = PageRoutes()
PAGE_PATH = "/profile/chat_names"


@pages.get("/profile/chat_names")
def show_chat_names(visit: Visit, db: Connection) -> PageResponse:
    """List the chat users to which the account is linked."""
    links = list_chat_names(db, visit.viewer.signed_in.id)
    return TemplateResponse("profile/chat_names.html", {"tab": "chat_names", "links": links})


@pages.get("/profile/chat_names/new")
def confirm_chat_name(visit: Visit, db: Connection) -> PageResponse:
    """Ask whether to link the account to the chat user who opened the link."""
    token = str(visit.request.query.get("token", ""))
    context = {"tab": "chat_names", "request": find_link_request(db, token), "token": token}
    return TemplateResponse("profile/chat_name.html", context)


@pages.post("/profile/chat_names", notice="Chat user connected.")
def connect_chat_name(visit: Visit) -> PageResponse:
    """Link the account to a chat user."""
    token = str(visit.request.form.get("token", ""))
    visit.database.write(lambda db: link_chat_name(db, visit.viewer.signed_in.id, token))
    return LocalRedirect(PAGE_PATH)


@pages.delete("/profile/chat_names/:id", notice="Chat user disconnected.")
def disconnect_chat_name(visit: Visit) -> PageResponse:
    """Remove a link."""
    link_id = path_number(visit.request.path, "id")
    visit.database.write(lambda db: unlink_chat_name(db, visit.viewer.signed_in.id, link_id))
    return LocalRedirect(PAGE_PATH)
