"""OAuth applications of the instance."""

from typing import Any

import pytest

from tests.client import Api, Make

PARAMS = {"name": "Build bot", "redirect_uri": "http://bot.example/cb", "scopes": "api read_user"}


def test_administrators_register_and_delete_applications(api: Api, make: Make) -> None:
    made = api.post("/applications", make.root, **PARAMS)
    assert made.status_code == 201
    view = made.json()
    assert (view["application_name"], view["callback_url"]) == ("Build bot", "http://bot.example/cb")
    assert (view["confidential"], view["scopes"]) == (True, ["api", "read_user"])
    assert len(view["application_id"]) == len(view["secret"]) == 64

    listed = [row for row in api.get("/applications", make.root, per_page=100).json() if row["id"] == view["id"]]
    assert listed == [{name: value for name, value in view.items() if name != "secret"}]

    renewed = api.post(f"/applications/{view['id']}/renew-secret", make.root)
    assert (renewed.status_code, renewed.json()["application_id"]) == (200, view["application_id"])
    assert renewed.json()["secret"] != view["secret"]

    for _ in range(2):
        assert api.delete(f"/applications/{view['id']}", make.root).status_code == 200
    assert api.post(f"/applications/{view['id']}/renew-secret", make.root).status_code == 404


def test_other_users_may_not_manage_applications(api: Api, make: Make) -> None:
    person = make.user()
    kept = api.post("/applications", make.root, **PARAMS).json()["id"]
    assert api.get("/applications", person).status_code == 403
    assert api.post("/applications", person, **PARAMS).status_code == 403
    assert api.post(f"/applications/{kept}/renew-secret", person).status_code == 403
    assert api.delete(f"/applications/{kept}", person).status_code == 403
    assert api.get("/applications").status_code == 401


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "n" * 256}, "name"),
        ({"redirect_uri": ""}, "redirect_uri"),
        ({"redirect_uri": "/callback"}, "redirect_uri"),
        ({"redirect_uri": "app.example/callback"}, "redirect_uri"),
        ({"redirect_uri": "http://"}, "redirect_uri"),
        ({"redirect_uri": "http://a.example/#x"}, "redirect_uri"),
        ({"redirect_uri": "http://u:p@a.example/"}, "redirect_uri"),
        ({"redirect_uri": "javascript:alert(1)"}, "redirect_uri"),
        ({"redirect_uri": "JavaScript:alert(1)"}, "redirect_uri"),
        ({"redirect_uri": "data:text/html,x"}, "redirect_uri"),
        ({"redirect_uri": "http://a.example/ http://é.example/"}, "redirect_uri"),
        ({"redirect_uri": "http://a.example/\u0000"}, "redirect_uri"),
        ({"redirect_uri": "http://[::1/"}, "redirect_uri"),
        ({"redirect_uri": "http://a.example:x/"}, "redirect_uri"),
        ({"redirect_uri": "http://a.example/" + "x" * 2000}, "redirect_uri"),
        ({"redirect_uri": "\n".join(f"http://a.example/{n}" for n in range(21))}, "redirect_uri"),
        ({"scopes": "nonsense"}, "scopes"),
        ({"scopes": "api\u0000"}, "scopes"),
    ],
)
def test_invalid_applications_are_rejected(api: Api, make: Make, changes: dict[str, Any], field: str) -> None:
    refused = api.post("/applications", make.root, **{**PARAMS, **changes})
    assert refused.status_code == 400
    assert field in refused.json()["message"]


def test_several_redirect_uris_and_public_clients(api: Api, make: Make) -> None:
    several = "http://a.example/cb\r\nmyapp:/cb  urn:ietf:wg:oauth:2.0:oob http://127.0.0.1:8080/"
    made = api.post("/applications", make.root, **{**PARAMS, "redirect_uri": several, "confidential": False})
    assert made.json()["callback_url"].split("\n") == several.split()
    assert made.json()["confidential"] is False
    nothing = api.post("/applications", make.root, **{**PARAMS, "scopes": ""})
    assert "sudo" not in nothing.json()["scopes"]
    for missing in PARAMS:
        sent = {name: value for name, value in PARAMS.items() if name != missing}
        assert api.post("/applications", make.root, **sent).status_code == 400
