"""Users who are deactivated because they have not been active."""

from functools import partial

from sqlalchemy import update

from ingot.accounts.sessions.dormant_users import deactivate_dormant_users
from ingot.accounts.tokens.tables import access_tokens
from ingot.accounts.users.tables import users
from ingot.core.db.times import Timestamp
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import changed_settings
from tests.instance_settings import PATH


def test_dormant_users_are_deactivated(api: Api, make: Make, instance: Instance) -> None:
    database = instance.app.database

    def aged(created: str, active: str | None, **attributes: bool) -> User:
        person = make.user(**attributes)
        columns = {"created_at": Timestamp(f"{created}T00:00:00.000Z"), "last_activity_on": active}
        database.write(lambda db: db.update(users, person.id, **columns))
        return person

    old, never = aged("2001-01-01", "2001-02-01"), aged("2001-01-01", None)
    caller = aged("2001-01-01", None)
    used = Timestamp("2099-01-01T00:00:00.000Z")
    of_caller = update(access_tokens).where(access_tokens.c.user_id == caller.id).values(last_used_at=used)
    database.write(lambda db: db.run(of_caller))
    others = [make.user(), caller, aged("2001-01-01", None, admin=True)]

    def states(*people: User) -> set[str]:
        return {api.get(f"/users/{person.id}", make.root).json()["state"] for person in people}

    database.write(deactivate_dormant_users)
    assert states(old, never, *others) == {"active"}, "It is off by default."
    with changed_settings(make, deactivate_dormant_users=True, deactivate_dormant_users_period=36_500):
        database.write(deactivate_dormant_users)
        assert states(old, never) == {"active"}, "The period is longer."
    with changed_settings(make, deactivate_dormant_users=True):
        database.write(partial(deactivate_dormant_users))
    assert states(old, never) == {"deactivated"}
    assert states(*others) == {"active"}
    assert api.put(PATH, make.root, deactivate_dormant_users_period=89).status_code == 400
