"""Endpoints of topics."""

from ingot.core.access.rules import administrators, signed_in
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.names import NAMESPACES
from ingot.projects.topics import queries, service
from ingot.projects.topics.params import CreateTopic, EditTopic, ListTopics, MergeTopics
from ingot.projects.topics.tables import Topic
from ingot.projects.topics.views import TopicView, topic_view

routes = Routes("topics")


def _topic_in_path(call: Call) -> Topic:
    return queries.find_topic(call.db, call.actor, path_number(call.path, "id"))


@routes.get("/topics", may=signed_in, returns=list[TopicView])
def list_topics(call: Call, params: ListTopics, page: Page) -> Listing[TopicView]:
    """List the topics, those with the most projects first."""
    listing = queries.list_topics(call.db, call.actor, params, page)
    return listing.of([topic_view(topic, call.origin.base) for topic in listing.items])


@routes.get("/topics/:id", may=signed_in, returns=TopicView)
def get_topic(call: Call) -> TopicView:
    """Get a topic."""
    return topic_view(_topic_in_path(call), call.origin.base)


@routes.post("/topics", may=administrators, returns=TopicView, locks=NAMESPACES)
def create_topic(call: Call, params: CreateTopic) -> TopicView:
    """Create a topic."""
    return topic_view(service.create_topic(call.db, call.actor, params), call.origin.base)


@routes.put("/topics/:id", may=administrators, returns=TopicView, locks=NAMESPACES)
def edit_topic(call: Call, params: EditTopic) -> TopicView:
    """Edit a topic; a new name applies to all its projects."""
    topic = service.edit_topic(call.db, call.actor, _topic_in_path(call), params)
    return topic_view(topic, call.origin.base)


@routes.delete("/topics/:id", may=administrators, returns=None, locks=NAMESPACES)
def delete_topic(call: Call) -> None:
    """Delete a topic and remove it from all projects."""
    topic = queries.topic_or_none(call.db, call.actor, path_number(call.path, "id"))
    if topic is not None:
        service.delete_topic(call.db, topic)


@routes.post("/topics/merge", may=administrators, returns=TopicView, locks=NAMESPACES)
def merge_topics(call: Call, params: MergeTopics) -> TopicView:
    """Merge a topic into another one, which replaces it in all projects."""
    source = queries.find_topic(call.db, call.actor, params.source_topic_id)
    target = queries.find_topic(call.db, call.actor, params.target_topic_id)
    service.merge_topics(call.db, source, target)
    return topic_view(queries.find_topic(call.db, call.actor, params.target_topic_id), call.origin.base)
