"""Getting no more mail about something, by the link that each mail holds; it takes no sign-in."""

from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.followers.service import follow
from ingot.notifications.links import Unsubscribing, read_key
from ingot.users.accounts.queries import user_or_none
from ingot.web.pages import Page, Pages, Reply, Visit

pages = Pages()


def _meant(db: Connection, visit: Visit) -> Unsubscribing:
    who = read_key(db.vault, visit.path["key"])
    if who is None or user_or_none(db, who.user_id) is None:
        raise NotFound("Link")
    return who


@pages.get("/sent_notifications/:key/unsubscribe", open=True, with_expired_password=True)
def show_unsubscribe(visit: Visit, db: Connection) -> Reply:
    """Ask for one click: programs that only look at links in mails must not change anything."""
    noun = _meant(db, visit).kind.replace("_", " ")
    return Page("entry/unsubscribe.html", {"key": visit.path["key"], "noun": noun})


@pages.post("/sent_notifications/:key/unsubscribe", open=True, with_expired_password=True, by_link=True)
def unsubscribe(visit: Visit) -> Reply:
    """Stop following what the mail was about; mail programs may do so by themselves."""

    def stop(db: Connection) -> None:
        who = _meant(db, visit)
        follow(db, who.user_id, who.kind, who.subject_id, following=False)

    visit.database.write(stop)
    return Page("message.html", {"title": "Done", "text": "You get no more mail about this."})
