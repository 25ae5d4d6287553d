"""``ingot demo``: people to look at, and what they work on."""

import argparse
import secrets
import sys
import time

from ingot.access.passwords import hash_password
from ingot.api.inside import Inside
from ingot.app import open_database
from ingot.cli.options import add_instance_options, prepare_instance, settings_of
from ingot.db.connection import Connection
from ingot.demo.fill import count_strangers, fill
from ingot.demo.people import PEOPLE
from ingot.demo.project import Beginning, actors, add_project, is_there
from ingot.demo.work_items import ABOUT, PROJECT_NAME
from ingot.demo.working import work as let_work
from ingot.errors import Denied, Failure, Unavailable
from ingot.git.commits import Signature
from ingot.git.store import new_key
from ingot.names import NAMESPACES
from ingot.projects.api import store_of
from ingot.projects.beginnings import begin_with_readme
from ingot.projects.work import drop_unnamed
from ingot.rooms import all_endpoints
from ingot.settings import Settings

MOST_STRANGERS = 5


def declare(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("--force", action="store_true", help="go on although real people seem to use the instance")
    parser.epilog = (
        "Run again, it adds only who is missing. Tokens and the password are printed once, for those who are new."
    )
    add_instance_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Fill the instance, or say in one line why not."""
    settings = settings_of(arguments)
    prepare_instance(settings)
    database = open_database(settings)
    password = secrets.token_urlsafe(9)
    hashed = hash_password(password)

    def work(db: Connection) -> list[tuple[str, str]]:
        db.lock(NAMESPACES)
        strangers = count_strangers(db)
        if strangers > MOST_STRANGERS and not arguments.force:
            raise Denied(f"{strangers} people use this instance already; --force adds invented ones all the same")
        added = fill(db, hashed)
        if not is_there(db):
            add_project(db, beginning)
            new.append(PROJECT_NAME)
        return added

    beginning = _begin(settings)
    new: list[str] = []
    try:
        added = database.write(work)
        if new:
            inside = Inside(all_endpoints(), database, settings)
            let_work(inside, database.read(actors), settings.base_url)
    except (Failure, Unavailable) as error:
        sys.exit(f"ingot: {error}")
    finally:
        drop_unnamed(database, store_of(settings), beginning.key)
        database.close()
    if not added:
        print("Everybody of the demo is here already.")
        return
    print(f"Added {len(added)} people; they all sign in with the password {password}")
    for username, token in added:
        print(f"  {username:18} token {token}")


def _begin(settings: Settings) -> Beginning:
    """Make the repository ahead of the row that names it, as for everybody."""
    key, store = new_key(), store_of(settings)
    store.create(key, settings.default_branch)
    author = Signature(PEOPLE[0].name, PEOPLE[0].email, int(time.time()), 0)
    update = begin_with_readme(store.open(key), settings.default_branch, PROJECT_NAME, ABOUT, author)
    return Beginning(key, settings.default_branch, update)
