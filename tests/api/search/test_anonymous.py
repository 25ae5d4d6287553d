"""Searches without a user, which a setting refuses."""

from tests.client import Api, Make


def test_anonymous_searches_can_be_refused(api: Api, make: Make) -> None:
    searches = ("/projects?search=x", "/projects/search/x")
    user = make.user()
    try:
        for allowed in (True, False):
            changed = api.put("/application/settings", make.root, anonymous_searches_allowed=allowed)
            assert changed.json()["anonymous_searches_allowed"] is allowed
            for path in searches:
                assert api.get(path).status_code == (200 if allowed else 401), path
                assert api.get(path, user).status_code == 200, path
            assert api.get("/projects").status_code == 200
    finally:
        api.put("/application/settings", make.root, anonymous_searches_allowed=True)
