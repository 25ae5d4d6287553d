"""Users for an instance under measurement."""

from functools import partial

from ingot.accounts.tokens.service import create_token
from ingot.accounts.users.params import CreateUser
from ingot.accounts.users.service import create_user
from ingot.core.db.connection import Connection
from ingot.core.names import NAMESPACES
from ingot.core.settings import Settings
from ingot.server.app import open_database

TOKEN = "token-of-the-bench"
USER_TOKEN = "token-of-a-person"


def fill(settings: Settings, how_many: int) -> None:
    """Add users in transactions of a thousand."""
    database = open_database(settings)

    def some(db: Connection, first: int, last: int) -> None:
        db.lock(NAMESPACES)
        for number in range(first, last):
            name = f"person-{number}"
            wanted = CreateUser(
                email=f"{name}@example.org", name=f"Person {number}", username=name, force_random_password=True
            )
            person = create_user(db, wanted, None)
            if number == 0:
                create_token(db, person.id, "personal", "bench", ["api"], secret=USER_TOKEN)

    for first in range(0, how_many, 1000):
        database.write(partial(some, first=first, last=min(first + 1000, how_many)))
    database.close()
