"""``ingot demo``: add sample users and a year of activity in five projects."""

import argparse
import secrets
import sys
from functools import partial

from ingot.ci.pipelines.stuck_jobs import STUCK_SEARCH_SECONDS, enqueue_stuck_job_search
from ingot.cli.options import add_instance_options, prepare_instance, settings_from_arguments
from ingot.core.access.passwords import hash_password
from ingot.core.api.internal_client import InternalClient
from ingot.core.db.clocks import wall_clock
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied, Failure, Unavailable
from ingot.core.jobs.schedule import RecurringJob, postpone_recurring
from ingot.core.names import NAMESPACES
from ingot.maintenance.demo.client import DemoClient
from ingot.maintenance.demo.clock import DemoClock
from ingot.maintenance.demo.group import add_demo_group, demo_actors, demo_group, demo_group_exists
from ingot.maintenance.demo.loader import add_demo_users, count_other_users
from ingot.maintenance.demo.signed_commits import SignedCommits
from ingot.maintenance.demo.work_items import GROUP
from ingot.maintenance.demo.year import add_demo_year
from ingot.server.app import open_database
from ingot.server.registry import endpoint_table

MAX_EXISTING_USERS = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--force", action="store_true", help="add sample data even if the instance has other users")
    parser.epilog = (
        "If you run the command again, it adds only missing users. It prints the password and the tokens once, for new "
        "users."
    )
    add_instance_options(parser)


def _hold_off_search(db: Connection) -> None:
    """Keep a running server from ending the demo's jobs, which seem to have been waiting for months."""
    search = RecurringJob(STUCK_SEARCH_SECONDS, enqueue_stuck_job_search)
    postpone_recurring(db, search, wall_clock())


def run(arguments: argparse.Namespace) -> None:
    """Add the demo data; exit with a one-line message on failure."""
    settings = settings_from_arguments(arguments)
    prepare_instance(settings)
    clock = DemoClock()
    database = open_database(settings, clock)
    password = secrets.token_urlsafe(9)
    hashed = hash_password(password)

    def work(db: Connection) -> list[tuple[str, str]]:
        db.lock(NAMESPACES)
        other_users = count_other_users(db)
        if other_users > MAX_EXISTING_USERS and not arguments.force:
            raise Denied(f"the instance has {other_users} other users; use --force to add the demo users anyway")
        added = add_demo_users(db, hashed)
        if not demo_group_exists(db):
            add_demo_group(db)
            created.append(GROUP)
        return added

    created: list[str] = []
    try:
        added = database.write(work)
        if created:
            inside = InternalClient(endpoint_table(), database, settings)
            actors = database.read(demo_actors)
            client = DemoClient(inside, actors, settings.base_url)
            signed_commits = SignedCommits(client, database, settings, actors)
            hold_off = partial(database.write, _hold_off_search)
            add_demo_year(client, clock, database.read(demo_group).id, signed_commits, hold_off)
    except (Failure, Unavailable) as error:
        sys.exit(f"ingot: {error}")
    finally:
        database.close()
    if not added:
        print("The demo users already exist.")
        return
    print(f"Added {len(added)} users, all with the password {password}")
    for username, token in added:
        print(f"  {username:18} token {token}")
