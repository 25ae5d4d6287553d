"""Queries of resource events."""

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from ingot.collaboration.labels.tables import Label, labels
from ingot.collaboration.resource_events.tables import ResourceEvent, resource_events
from ingot.collaboration.subjects import Subject
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import Invalid, NotFound

_OF_SUBJECT = select(resource_events).where(
    resource_events.c.subject_kind == bindparam("of"),
    resource_events.c.subject_id == bindparam("subject"),
    resource_events.c.kind == bindparam("kind"),
)
_LIST = list_query(_OF_SUBJECT, resource_events.c.id, resource_events.c.id.asc())
_ONE = _OF_SUBJECT.where(resource_events.c.id == bindparam("event"))
_LABELS = select(labels).where(in_list(labels.c.id, "ids"))


def list_resource_events(db: Connection, subject: Subject, kind: str, page: Page) -> Listing[ResourceEvent]:
    """Return a page of the resource events of a subject, oldest first."""
    return fetch_page(db, ResourceEvent, _LIST, page, of=subject.kind, subject=subject.id, kind=kind)


def find_resource_event(db: Connection, subject: Subject, kind: str, number: str) -> ResourceEvent:
    """Return a resource event of a subject; raise NotFound if there is none."""
    event_id = number_or_none(number)
    if event_id is None:
        raise Invalid(event_id=["is invalid"])
    event = db.first(ResourceEvent, _ONE, of=subject.kind, subject=subject.id, kind=kind, event=event_id)
    if event is None:
        raise NotFound()
    return event


def labels_by_ids(db: Connection, ids: Sequence[int]) -> dict[int, Label]:
    """Map ids to labels without a permission check."""
    return {label.id: label for label in db.all(Label, _LABELS, ids=list(ids))} if ids else {}
