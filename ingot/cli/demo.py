"""``ingot demo``: people to look at."""

import argparse
import secrets
import sys

from ingot.access.passwords import hash_password
from ingot.app import open_database
from ingot.cli.options import add_instance_options, prepare_instance, settings_of
from ingot.db.connection import Connection
from ingot.demo.fill import count_strangers, fill
from ingot.errors import Denied, Failure, Unavailable
from ingot.names import NAMESPACES

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
        return fill(db, hashed)

    try:
        added = database.write(work)
    except (Failure, Unavailable) as error:
        sys.exit(f"ingot: {error}")
    finally:
        database.close()
    if not added:
        print("Everybody of the demo is here already.")
        return
    print(f"Added {len(added)} people; they all sign in with the password {password}")
    for username, token in added:
        print(f"  {username:18} token {token}")
