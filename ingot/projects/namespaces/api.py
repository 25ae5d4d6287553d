"""Endpoints of namespaces."""

from ingot.core.access.rules import signed_in
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.projects.namespaces import queries
from ingot.projects.namespaces.params import ListNamespaces, NamespaceExists
from ingot.projects.namespaces.views import NamespaceExistsView, NamespaceView, namespace_views

routes = Routes("namespaces")


@routes.get("/namespaces", may=signed_in, returns=list[NamespaceView], cached=True)
def list_namespaces(call: Call, params: ListNamespaces, page: Page) -> Listing[NamespaceView]:
    """List the namespaces that the caller may see; administrators see all."""
    listing = queries.list_namespaces(call.db, call.actor, params, page)
    return listing.of(namespace_views(call.db, call.actor, listing.items, call.origin.base))


@routes.get("/namespaces/:id", may=signed_in, returns=NamespaceView)
def get_namespace(call: Call) -> NamespaceView:
    """Get a namespace by its number or full path."""
    namespace = queries.find_namespace(call.db, call.actor, call.path["id"])
    return namespace_views(call.db, call.actor, [namespace], call.origin.base)[0]


@routes.get("/namespaces/:id/exists", may=signed_in, returns=NamespaceExistsView)
def namespace_exists(call: Call, params: NamespaceExists) -> NamespaceExistsView:
    """Check whether a path is taken."""
    lookup = (call.db, call.actor, params.parent_id, call.path["id"])
    taken = queries.is_path_taken(*lookup)
    suggests = [queries.suggest_free_path(*lookup)] if taken else []
    return NamespaceExistsView(taken, suggests)
