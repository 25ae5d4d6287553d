"""Access to the routes of exports."""

from tests.api.kernel.access_kinds import READ, USER, WRITE

EXPORTS: dict[str, tuple[str, set[str]]] = {}
for _place in ("/projects/:id", "/groups/:id"):
    EXPORTS |= {
        f"GET {_place}/export": (USER, READ),
        f"POST {_place}/export": (USER, WRITE),
        f"GET {_place}/export/download": (USER, READ),
        f"POST {_place}/export_relations": (USER, WRITE),
        f"GET {_place}/export_relations/status": (USER, READ),
        f"GET {_place}/export_relations/download": (USER, READ),
    }
