"""Access to the routes of packages and container images."""

from tests.api.kernel.access_kinds import ANYONE, READ, USER, WRITE

PACKAGES: dict[str, tuple[str, set[str]]] = {
    "GET /groups/:id/packages": (ANYONE, READ),
    "GET /projects/:id/packages": (ANYONE, READ),
    "GET /projects/:id/packages/:package_id": (ANYONE, READ),
    "DELETE /projects/:id/packages/:package_id": (USER, WRITE),
    "GET /projects/:id/packages/:package_id/package_files": (ANYONE, READ),
    "DELETE /projects/:id/packages/:package_id/package_files/:package_file_id": (USER, WRITE),
    "GET /projects/:id/packages/:package_id/package_files/:package_file_id/download": (ANYONE, READ),
    "GET /projects/:id/packages/generic/:package_name/:package_version/:file_name": (USER, READ),
    "PUT /projects/:id/packages/generic/:package_name/:package_version/:file_name": (USER, WRITE),
}
PACKAGES |= {
    f"{method} /projects/:id/packages/{path}": (USER, READ if method == "GET" else WRITE)
    for method, path in (
        ("POST", "pypi"),
        ("GET", "pypi/simple"),
        ("GET", "pypi/simple/:package_name"),
        ("GET", "pypi/files/:sha256/:file_identifier"),
        ("GET", "npm/-/package/:package_name/dist-tags"),
        ("PUT", "npm/-/package/:package_name/dist-tags/:tag"),
        ("DELETE", "npm/-/package/:package_name/dist-tags/:tag"),
        ("GET", "npm/:package_name/-/:file_name"),
        ("GET", "npm/:package_name"),
        ("PUT", "npm/:package_name"),
        ("GET", "maven/:path/:file_name"),
        ("PUT", "maven/:path/:file_name"),
        ("GET", "protection/rules"),
        ("POST", "protection/rules"),
        ("PATCH", "protection/rules/:package_protection_rule_id"),
        ("DELETE", "protection/rules/:package_protection_rule_id"),
    )
}
PACKAGES |= {
    f"GET {path}": (USER, READ)
    for path in (
        "/groups/:id/-/packages/pypi/simple",
        "/groups/:id/-/packages/pypi/simple/:package_name",
        "/groups/:id/-/packages/pypi/files/:sha256/:file_identifier",
        "/groups/:id/-/packages/npm/:package_name",
        "/groups/:id/-/packages/maven/:path/:file_name",
        "/packages/npm/-/package/:package_name/dist-tags",
        "/packages/npm/:package_name",
        "/packages/maven/:path/:file_name",
    )
}
PACKAGES |= {
    "GET /groups/:id/registry/repositories": (ANYONE, READ),
    "GET /registry/repositories/:repository_id": (ANYONE, READ),
    "GET /projects/:id/registry/repositories": (ANYONE, READ),
    "DELETE /projects/:id/registry/repositories/:repository_id": (USER, WRITE),
    "GET /projects/:id/registry/repositories/:repository_id/tags": (ANYONE, READ),
    "DELETE /projects/:id/registry/repositories/:repository_id/tags": (USER, WRITE),
    "GET /projects/:id/registry/repositories/:repository_id/tags/:tag_name": (ANYONE, READ),
    "DELETE /projects/:id/registry/repositories/:repository_id/tags/:tag_name": (USER, WRITE),
    "GET /projects/:id/registry/protection/repository/rules": (USER, READ),
    "POST /projects/:id/registry/protection/repository/rules": (USER, WRITE),
    "PATCH /projects/:id/registry/protection/repository/rules/:protection_rule_id": (USER, WRITE),
    "DELETE /projects/:id/registry/protection/repository/rules/:protection_rule_id": (USER, WRITE),
}
