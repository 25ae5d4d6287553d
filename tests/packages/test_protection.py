"""Protection rules of packages."""

import pytest

from tests.client import Api, Make
from tests.factories import Project
from tests.packages.client import PackageClient, deploy_token
from tests.roles import UsersByRole, project_with


@pytest.fixture
def project(make: Make, roles: UsersByRole) -> Project:
    """Return a private project of the roles."""
    return project_with(make, roles)


def test_maintainers_manage_rules(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    rules = f"{project.url}/packages/protection/rules"
    for role, status in (("administrator", 200), ("owner", 200), ("master", 200), ("developer", 403), ("nobody", 401)):
        sent = {"package_name_pattern": f"{role}-*", "package_type": "npm", "minimum_access_level_for_push": "owner"}
        made = api.post(rules, roles[role], **sent)
        assert made.status_code == (201 if status == 200 else status)
        assert api.get(rules, roles[role]).status_code == status
        if status != 200:
            continue
        rule = made.json()
        assert (rule["minimum_access_level_for_push"], rule["minimum_access_level_for_delete"]) == ("owner", None)
        assert api.post(rules, roles[role], **sent).status_code == 422
        url = f"{project.url}/packages/protection/rules/{rule['id']}"
        edited = api.request("PATCH", url, roles[role], json={"minimum_access_level_for_delete": "admin"}).json()
        assert edited["minimum_access_level_for_delete"] == "admin"
        cleared = {"minimum_access_level_for_delete": "", "minimum_access_level_for_push": ""}
        assert api.request("PATCH", url, roles[role], json=cleared).status_code == 400
        assert api.delete(url, roles.developer).status_code == 403
        assert api.delete(url, roles[role]).status_code == 204
        assert api.delete(url, roles[role]).status_code == 404
    sent = {"package_name_pattern": "a*", "package_type": "npm"}
    assert api.post(rules, make.root, **sent).status_code == 400


def test_rules_restrict_pushes_and_deletions(
    api: Api, make: Make, send: PackageClient, roles: UsersByRole, project: Project
) -> None:
    sent = {
        "package_name_pattern": "core-*",
        "package_type": "generic",
        "minimum_access_level_for_push": "maintainer",
        "minimum_access_level_for_delete": "admin",
    }
    assert api.post(f"{project.url}/packages/protection/rules", roles.master, **sent).status_code == 201
    where = f"{project.url}/packages/generic"
    token = {"Deploy-Token": deploy_token(api, roles.owner, project, "write_package_registry")[1]}
    for name, caller, status in (
        ("core-x", roles.developer, 403),
        ("core-x", token, 403),
        ("core-x", roles.master, 201),
        ("other", roles.developer, 201),
        ("other", token, 201),
    ):
        assert send("PUT", f"{where}/{name}/1/f", caller, content=b"x").status_code == status, name
    (package,) = api.get(f"{project.url}/packages", roles.master, package_name="core").json()
    url = f"{project.url}/packages/{package['id']}"
    (file,) = api.get(f"{url}/package_files", roles.master).json()
    assert api.delete(f"{url}/package_files/{file['id']}", roles.owner).status_code == 403
    assert api.delete(url, roles.owner).status_code == 403
    assert api.delete(url, make.root).status_code == 204
