"""Unsubscribe page that each notification email links to; it does not require sign-in."""

from ingot.accounts.users.views import names_by_ids
from ingot.collaboration.subscriptions.service import set_subscription
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.notifications.unsubscribe_links import UnsubscribeRequest, parse_unsubscribe_key
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit

pages = PageRoutes()


def _subscription_in_link(db: Connection, visit: Visit) -> UnsubscribeRequest:
    subscription = parse_unsubscribe_key(db.vault, visit.request.path["key"])
    if subscription is None or not names_by_ids(db, [subscription.user_id]):
        raise NotFound("Link")
    return subscription


@pages.get("/sent_notifications/:key/unsubscribe", open=True, with_expired_password=True)
def show_unsubscribe(visit: Visit, db: Connection) -> PageResponse:
    """Show an unsubscribe button, because mail scanners that follow links must not unsubscribe the user."""
    noun = _subscription_in_link(db, visit).kind.replace("_", " ")
    return TemplateResponse("sign_in/unsubscribe.html", {"key": visit.request.path["key"], "noun": noun})


@pages.post("/sent_notifications/:key/unsubscribe", open=True, with_expired_password=True, csrf_exempt=True)
def unsubscribe(visit: Visit) -> PageResponse:
    """Unsubscribe the user; mail clients can also send this request (one-click unsubscribe)."""

    def stop(db: Connection) -> None:
        subscription = _subscription_in_link(db, visit)
        set_subscription(db, subscription.user_id, subscription.kind, subscription.subject_id, following=False)

    visit.database.write(stop)
    return TemplateResponse(
        "message.html", {"title": "Unsubscribed", "text": "You will receive no more emails about this."}
    )
