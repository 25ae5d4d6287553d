"""Users who are deleted because they have not confirmed their address."""

from ingot.projects.groups.unconfirmed_users import delete_unconfirmed_users
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import changed_settings, later
from tests.instance_settings import PATH
from tests.web.browser import Browser

DELETES = {"delete_unconfirmed_users": True, "unconfirmed_users_delete_after_days": 3}


def test_unconfirmed_users_are_deleted(api: Api, make: Make, instance: Instance) -> None:
    database = instance.app.database

    def unconfirmed(**attributes: bool) -> int:
        name = make.name()
        sent = {"username": name, "name": name, "email": f"{name}@example.org", "password": "wholly-unknown-42"}
        made = api.post("/users", make.root, **sent, skip_confirmation=False, **attributes)
        assert (made.status_code, made.json()["confirmed_at"]) == (201, None)
        return int(made.json()["id"])

    def statuses(*people: int) -> list[int]:
        return [api.get(f"/users/{person}", make.root).status_code for person in people]

    with changed_settings(make, email_confirmation_setting="soft", **DELETES):
        forgotten, owner, admin = unconfirmed(), unconfirmed(), unconfirmed(admin=True)
        blocked, used = unconfirmed(), unconfirmed()
        assert api.post(f"/users/{blocked}/block", make.root).status_code == 201
        name = api.get(f"/users/{used}", make.root).json()["username"]
        with Browser(instance.url) as browser:
            assert browser.sign_in(name, "wholly-unknown-42").status_code == 302
        others = make.user().id, owner, admin, blocked, used
        name = make.name()
        group = api.post("/groups", make.root, name=name, path=name, sudo=owner)
        assert group.status_code == 201
        database.write(delete_unconfirmed_users)
        assert statuses(forgotten) == [200], "There are three days."
        with later(instance, days=3, minutes=1):
            with changed_settings(make, delete_unconfirmed_users=False):
                database.write(delete_unconfirmed_users)
            with changed_settings(make, email_confirmation_setting="off"):
                database.write(delete_unconfirmed_users)
            with changed_settings(make, unconfirmed_users_delete_after_days=4):
                database.write(delete_unconfirmed_users)
            assert statuses(forgotten) == [200]
            database.write(delete_unconfirmed_users)
        assert statuses(forgotten, *others) == [404, *[200] * len(others)]
    assert api.put(PATH, make.root, unconfirmed_users_delete_after_days=0).status_code == 400
