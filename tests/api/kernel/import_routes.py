"""Access to the routes of imports and placeholder users."""

from tests.api.kernel.access_kinds import READ, USER, WRITE

IMPORTS: dict[str, tuple[str, set[str]]] = {
    "GET /bulk_imports": (USER, READ),
    "POST /bulk_imports": (USER, WRITE),
    "POST /bulk_imports/plan": (USER, WRITE),
    "GET /bulk_imports/entities": (USER, READ),
    "GET /bulk_imports/:import_id": (USER, READ),
    "GET /bulk_imports/:import_id/entities": (USER, READ),
    "GET /bulk_imports/:import_id/entities/:entity_id": (USER, READ),
    "GET /bulk_imports/:import_id/entities/:entity_id/failures": (USER, READ),
    "GET /bulk_imports/:import_id/report": (USER, READ),
    "POST /bulk_imports/:import_id/cancel": (USER, WRITE),
    "POST /import/github": (USER, WRITE),
    "POST /import/github/cancel": (USER, WRITE),
    "POST /import/gitea": (USER, WRITE),
    "POST /import/gitea/cancel": (USER, WRITE),
    "POST /projects/import": (USER, WRITE),
    "POST /groups/import": (USER, WRITE),
    "POST /projects/remote-import": (USER, WRITE),
    "GET /placeholder_users": (USER, READ),
    "POST /placeholder_users/:source_user_id/assign": (USER, WRITE),
    "POST /placeholder_users/:source_user_id/accept": (USER, WRITE),
    "POST /placeholder_users/:source_user_id/reject": (USER, WRITE),
    "GET /groups/:id/placeholder_reassignments": (USER, READ),
    "POST /groups/:id/placeholder_reassignments": (USER, WRITE),
}
