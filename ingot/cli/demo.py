"""``ingot demo``: people to look at, and what they work on."""

import argparse
import secrets
import sys
import time

from ingot.app import open_database
from ingot.cli.options import add_instance_options, prepare_instance, settings_from_arguments
from ingot.core.access.passwords import hash_password
from ingot.core.api.internal_client import InternalClient
from ingot.core.db.connection import Connection
from ingot.core.names import NAMESPACES
from ingot.errors import Denied, Failure, Unavailable
from ingot.git.history.commits import Signature
from ingot.git.maintenance.store import new_key
from ingot.operations.demo.activity import add_demo_activity as let_work
from ingot.operations.demo.loader import add_demo_users, count_other_users
from ingot.operations.demo.project import DemoRepository, add_project, demo_actors, project_exists
from ingot.operations.demo.users import DEMO_USERS
from ingot.operations.demo.work_items import DESCRIPTION, PROJECT_NAME
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.initial_commit import commit_readme
from ingot.projects.projects.jobs import delete_unused_repository
from ingot.registry import all_endpoints
from ingot.settings import Settings

MAX_EXISTING_USERS = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("--force", action="store_true", help="go on although real people seem to use the instance")
    parser.epilog = (
        "Run again, it adds only who is missing. Tokens and the password are printed once, for those who are new."
    )
    add_instance_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Fill the instance, or say in one line why not."""
    settings = settings_from_arguments(arguments)
    prepare_instance(settings)
    database = open_database(settings)
    password = secrets.token_urlsafe(9)
    hashed = hash_password(password)

    def work(db: Connection) -> list[tuple[str, str]]:
        db.lock(NAMESPACES)
        strangers = count_other_users(db)
        if strangers > MAX_EXISTING_USERS and not arguments.force:
            raise Denied(f"{strangers} people use this instance already; --force adds invented ones all the same")
        added = add_demo_users(db, hashed)
        if not project_exists(db):
            add_project(db, beginning)
            new.append(PROJECT_NAME)
        return added

    beginning = _create_repository(settings)
    new: list[str] = []
    try:
        added = database.write(work)
        if new:
            inside = InternalClient(all_endpoints(), database, settings)
            let_work(inside, database.read(demo_actors), settings.base_url)
    except (Failure, Unavailable) as error:
        sys.exit(f"ingot: {error}")
    finally:
        delete_unused_repository(database, repository_store(settings), beginning.key)
        database.close()
    if not added:
        print("Everybody of the demo is here already.")
        return
    print(f"Added {len(added)} people; they all sign in with the password {password}")
    for username, token in added:
        print(f"  {username:18} token {token}")


def _create_repository(settings: Settings) -> DemoRepository:
    """Make the repository ahead of the row that names it, as for everybody."""
    key, store = new_key(), repository_store(settings)
    store.create(key, settings.default_branch)
    author = Signature(DEMO_USERS[0].name, DEMO_USERS[0].email, int(time.time()), 0)
    update = commit_readme(store.open(key), settings.default_branch, PROJECT_NAME, DESCRIPTION, author)
    return DemoRepository(key, settings.default_branch, update)
