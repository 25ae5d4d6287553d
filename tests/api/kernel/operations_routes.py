"""Access to the routes of access tokens, nodes, storages, statistics, snapshots, feature flags and sites."""

from tests.api.kernel.access_kinds import ADMIN, ALL, ANYONE, READ, ROTATE, USER, USERS, WRITE

OPERATIONS: dict[str, tuple[str, set[str]]] = {
    "GET /admin/nodes": (ADMIN, READ),
    "GET /application/statistics": (ADMIN, READ),
    "GET /project_repository_storage_moves": (ADMIN, READ),
    "POST /project_repository_storage_moves": (ADMIN, WRITE),
    "GET /project_repository_storage_moves/:move_id": (ADMIN, READ),
    "GET /projects/:id/repository_storage_moves": (ADMIN, READ),
    "POST /projects/:id/repository_storage_moves": (ADMIN, WRITE),
    "GET /projects/:id/repository_storage_moves/:move_id": (ADMIN, READ),
    "POST /deploy_keys": (ADMIN, WRITE),
    "GET /projects/:id/snapshot": (ADMIN, READ),
    "GET /projects/:id/storage": (ADMIN, READ),
    "GET /sidekiq/compound_metrics": (ADMIN, READ),
    "GET /sidekiq/job_stats": (ADMIN, READ),
    "GET /sidekiq/process_metrics": (ADMIN, READ),
    "GET /sidekiq/queue_metrics": (ADMIN, READ),
    "GET /user_counts": (USER, READ),
    "GET /users/:id/associations_count": (USER, USERS),
    "POST /user/personal_access_tokens": (USER, WRITE),
    "GET /user/token_audit_events": (USER, READ),
    "POST /projects/:id/remote_mirrors/:mirror_id/sync": (USER, WRITE),
    "GET /projects/:id/remote_mirrors/:mirror_id/public_key": (USER, READ),
    "GET /projects/:id/repository/changelog": (USER, READ),
    "POST /projects/:id/repository/changelog": (USER, WRITE),
    "GET /projects/:id/mirror/pull": (USER, READ),
    "PUT /projects/:id/mirror/pull": (USER, WRITE),
    "POST /projects/:id/mirror/pull": (USER, WRITE),
    "GET /feature_flags/unleash/:project_id": (ANYONE, ALL),
    "GET /feature_flags/unleash/:project_id/client/features": (ANYONE, ALL),
    "GET /feature_flags/unleash/:project_id/features": (ANYONE, ALL),
    "POST /feature_flags/unleash/:project_id/client/metrics": (ANYONE, ALL),
    "POST /feature_flags/unleash/:project_id/client/register": (ANYONE, ALL),
}
for _list, _item in (
    ("/projects/:id/remote_mirrors", ":mirror_id"),
    ("/projects/:id/feature_flags", ":feature_flag_name"),
    ("/projects/:id/freeze_periods", ":freeze_period_id"),
    ("/projects/:id/feature_flags_user_lists", ":iid"),
    ("/projects/:id/protected_environments", ":name"),
    ("/groups/:id/protected_environments", ":name"),
):
    OPERATIONS |= {
        f"GET {_list}": (USER, READ),
        f"POST {_list}": (USER, WRITE),
        f"GET {_list}/{_item}": (USER, READ),
        f"PUT {_list}/{_item}": (USER, WRITE),
        f"DELETE {_list}/{_item}": (USER, WRITE),
    }
OPERATIONS |= {
    "GET /projects/:id/secure_files": (USER, READ),
    "POST /projects/:id/secure_files": (USER, WRITE),
    "GET /projects/:id/secure_files/:secure_file_id": (USER, READ),
    "GET /projects/:id/secure_files/:secure_file_id/download": (USER, READ),
    "DELETE /projects/:id/secure_files/:secure_file_id": (USER, WRITE),
}
OPERATIONS |= {
    "GET /pages/domains": (ADMIN, READ),
    "GET /projects/:id/pages": (USER, READ),
    "PATCH /projects/:id/pages": (USER, WRITE),
    "DELETE /projects/:id/pages": (USER, WRITE),
    "GET /projects/:id/pages/deployments": (USER, READ),
    "DELETE /projects/:id/pages/deployments/:deployment_id": (USER, WRITE),
    "POST /projects/:id/pages/deployments/:deployment_id/restore": (USER, WRITE),
    "GET /projects/:id/pages/domains": (USER, READ),
    "POST /projects/:id/pages/domains": (USER, WRITE),
    "GET /projects/:id/pages/domains/:domain": (USER, READ),
    "PUT /projects/:id/pages/domains/:domain": (USER, WRITE),
    "DELETE /projects/:id/pages/domains/:domain": (USER, WRITE),
    "PUT /projects/:id/pages/domains/:domain/verify": (USER, WRITE),
    "GET /projects/:id/pages_access": (ANYONE, READ),
    "GET /ci/catalog/resources": (ANYONE, READ),
    "GET /projects/:id/catalog": (ANYONE, READ),
    "POST /projects/:id/catalog": (USER, WRITE),
    "DELETE /projects/:id/catalog": (USER, WRITE),
    "GET /projects/:id/catalog/versions": (ANYONE, READ),
    "POST /projects/:id/catalog/publish": (USER, WRITE),
    "GET /projects/:id/terraform/state": (USER, READ),
    "GET /projects/:id/terraform/state/:name": (USER, READ),
    "POST /projects/:id/terraform/state/:name": (USER, WRITE),
    "DELETE /projects/:id/terraform/state/:name": (USER, WRITE),
    "POST /projects/:id/terraform/state/:name/lock": (USER, WRITE),
    "DELETE /projects/:id/terraform/state/:name/lock": (USER, WRITE),
    "GET /projects/:id/terraform/state/:name/versions/:serial": (USER, READ),
    "DELETE /projects/:id/terraform/state/:name/versions/:serial": (USER, WRITE),
}
for _place in ("/groups/:id/push_rule", "/projects/:id/push_rule"):
    OPERATIONS |= {
        f"GET {_place}": (USER, READ),
        f"POST {_place}": (USER, WRITE),
        f"PUT {_place}": (USER, WRITE),
        f"DELETE {_place}": (USER, WRITE),
    }
OPERATIONS |= {
    "GET /groups/:id/protected_branches": (USER, READ),
    "POST /groups/:id/protected_branches": (USER, WRITE),
    "GET /groups/:id/protected_branches/:name": (USER, READ),
    "PATCH /groups/:id/protected_branches/:name": (USER, WRITE),
    "DELETE /groups/:id/protected_branches/:name": (USER, WRITE),
}
for _place in ("/groups/:id/access_tokens", "/projects/:id/access_tokens"):
    OPERATIONS |= {
        f"GET {_place}": (USER, READ),
        f"POST {_place}": (USER, WRITE),
        f"GET {_place}/:token_id": (USER, READ),
        f"DELETE {_place}/:token_id": (USER, WRITE),
        f"GET {_place}/:token_id/audit_events": (USER, READ),
        f"POST {_place}/:token_id/rotate": (USER, WRITE),
        f"GET {_place}/self": (USER, ALL),
        f"POST {_place}/self/rotate": (USER, ROTATE),
    }
