"""``ingot token``: create personal access tokens, whether or not the server runs."""

import argparse
import sys

from ingot.accounts.tokens.service import create_token
from ingot.accounts.users.queries import user_by_login_or_none
from ingot.cli.options import add_instance_options, prepare_instance, require_instance, settings_from_arguments
from ingot.core.access.scopes import SCOPES
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, parse_date
from ingot.core.errors import Invalid, NotFound, Unavailable
from ingot.server.app import open_database


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    create = verbs.add_parser("create", help="create a token and print it")
    create.add_argument("username", help="username or email")
    create.add_argument("--name", default="Created by ingot token", help="name of the token")
    create.add_argument("--scopes", default="api", help=f"comma-separated scopes: {', '.join(SCOPES)} (default: api)")
    create.add_argument(
        "--expires-at", metavar="DAY", help="day on which the token expires, YYYY-MM-DD (default: never)"
    )
    add_instance_options(create)


def run(arguments: argparse.Namespace) -> None:
    """Create the token; exit with a one-line message on failure."""
    settings = require_instance(settings_from_arguments(arguments))
    prepare_instance(settings)
    database = open_database(settings)

    def work(db: Connection) -> str:
        user = user_by_login_or_none(db, arguments.username)
        if user is None:
            raise NotFound(f"There is no user {arguments.username}")
        day = arguments.expires_at
        expires_at = Timestamp(f"{parse_date(day)}T00:00:00.000Z") if day else None
        scopes = [scope.strip() for scope in arguments.scopes.split(",")]
        return create_token(db, user.id, "personal", arguments.name, scopes, expires_at)[1]

    try:
        print(database.write(work))
    except (Invalid, NotFound, Unavailable) as error:
        sys.exit(f"ingot: {error}")
    except ValueError:
        sys.exit("ingot: --expires-at must look like 2027-01-31")
    finally:
        database.close()
