"""Instance settings about access tokens."""

from tests.client import Api, Make
from tests.factories import changed_settings
from tests.instance_settings import PATH

DAY = "2999-01-31"


def test_new_tokens_need_an_expiry_date(api: Api, make: Make) -> None:
    person, root = make.user(), make.root
    paths = [
        (f"/users/{person.id}/personal_access_tokens", root),
        (f"/users/{person.id}/impersonation_tokens", root),
    ]
    for path, caller in paths:
        assert api.post(path, caller, name="early", scopes=["api"]).status_code == 201, path

    with changed_settings(make, require_personal_access_token_expiry=True):
        for path, caller in paths:
            refused = api.post(path, caller, name="x", scopes=["api"])
            assert (refused.status_code, refused.json()) == (400, {"message": {"expires_at": ["can't be blank"]}})
            made = api.post(path, caller, name="x", scopes=["api"], expires_at=DAY)
            assert (made.status_code, made.json()["expires_at"]) == (201, DAY), path
        own = api.post("/user/personal_access_tokens", person, name="x", scopes=["k8s_proxy"])
        assert own.json() == {"message": {"expires_at": ["can't be blank"]}}
        assert api.get("/user", person).status_code == 200, "Existing tokens stay valid."


def test_prefix_of_tokens(api: Api, make: Make) -> None:
    path = f"/users/{make.user().id}/personal_access_tokens"

    def new_token() -> str:
        token: str = api.post(path, make.root, name="x", scopes=["api"]).json()["token"]
        assert api.get("/user", make.root.with_token(token)).status_code == 200
        return token

    assert api.get(PATH, make.root).json()["personal_access_token_prefix"] == "ingotp-"
    assert new_token().startswith("ingotp-")
    with changed_settings(make, personal_access_token_prefix="harbour:"):
        assert new_token().startswith("harbour:")
    with changed_settings(make, personal_access_token_prefix=""):
        assert not new_token().startswith("ingotp-")
    for prefix in ("two words", "x" * 21, "ß"):
        assert api.put(PATH, make.root, personal_access_token_prefix=prefix).status_code == 400, prefix
