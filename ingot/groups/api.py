"""Namespaces over the API."""

from ingot.access.rules import signed_in
from ingot.api.routes import Call, Routes
from ingot.db.paging import Listing, Page
from ingot.groups import queries
from ingot.groups.params import ListNamespaces, NamespaceExists
from ingot.groups.views import ExistsView, NamespaceView, namespace_view

routes = Routes("namespaces")


@routes.get("/namespaces", may=signed_in, returns=list[NamespaceView])
def list_namespaces(call: Call, params: ListNamespaces, page: Page) -> Listing[NamespaceView]:
    """List the namespaces that the caller may see; administrators see all."""
    found = queries.list_namespaces(call.db, call.actor, params, page)
    return found.of([namespace_view(namespace, call.origin.base) for namespace in found.items])


@routes.get("/namespaces/:id", may=signed_in, returns=NamespaceView)
def get_namespace(call: Call) -> NamespaceView:
    """Get a namespace by its number or full path."""
    return namespace_view(queries.find_namespace(call.db, call.actor, call.path["id"]), call.origin.base)


@routes.get("/namespaces/:id/exists", may=signed_in, returns=ExistsView)
def namespace_exists(call: Call, params: NamespaceExists) -> ExistsView:
    """Say whether a path is taken."""
    taken = queries.path_is_taken(call.db, params.parent_id, call.path["id"])
    suggests = [queries.free_path(call.db, params.parent_id, call.path["id"])] if taken else []
    return ExistsView(taken, suggests)
