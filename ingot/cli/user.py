"""``ingot user``: manage user accounts, whether or not the server runs."""

import argparse
import getpass
import sys
from collections.abc import Callable

from ingot.accounts.instance.password_rules import current_password_rules
from ingot.accounts.users.params import CreateUser
from ingot.accounts.users.queries import user_by_login_or_none
from ingot.accounts.users.service import (
    block_by_directory,
    block_user,
    create_user,
    remove_block,
    set_admin,
    set_password,
)
from ingot.accounts.users.tables import User
from ingot.cli.options import add_instance_options, prepare_instance, require_instance, settings_from_arguments
from ingot.core.access.actor import ANONYMOUS
from ingot.core.access.passwords import hash_password, password_errors
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Denied, Invalid, NotFound, Unavailable
from ingot.core.names import NAMESPACES
from ingot.server.app import open_database


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    create = verbs.add_parser("create", help="add a user")
    create.add_argument("username")
    create.add_argument("--email", required=True)
    create.add_argument("--name", help="full name (default: the username)")
    create.add_argument("--password", help="password; read from standard input if omitted")
    create.add_argument("--admin", action="store_true", help="make the user an administrator")
    create.add_argument("--external", action="store_true", help="make the user external")
    password = verbs.add_parser(
        "password", help="set a user's password, without requiring a change at the next sign-in"
    )
    password.add_argument("username", help="username or email")
    password.add_argument("--password", help="password; read from standard input if omitted")
    admin = verbs.add_parser("admin", help="make a user an administrator")
    admin.add_argument("username", help="username or email")
    admin.add_argument("--remove", action="store_true", help="revoke administrator rights")
    block = verbs.add_parser("block", help="block a user and end all sessions")
    block.add_argument("username", help="username or email")
    block.add_argument(
        "--directory",
        action="store_true",
        help="block the user as an LDAP directory does: the API cannot lift this block",
    )
    block.add_argument("--remove", action="store_true", help="lift any block")
    for verb in (create, password, admin, block):
        add_instance_options(verb)


def run(arguments: argparse.Namespace) -> None:
    """Run the verb; exit with a one-line message on failure."""
    settings = require_instance(settings_from_arguments(arguments))
    prepare_instance(settings)
    database = open_database(settings)
    try:
        print(database.write(_run_verb(arguments, database)))
    except (Conflict, Invalid, Denied, NotFound, Unavailable) as error:
        sys.exit(f"ingot: {error}")
    finally:
        database.close()


def _run_verb(arguments: argparse.Namespace, database: Database) -> Callable[[Connection], str]:
    hashed = _read_password_hash(arguments, database) if arguments.verb in ("create", "password") else ""

    def work(db: Connection) -> str:
        db.lock(NAMESPACES)
        if arguments.verb == "create":
            params = CreateUser(
                email=arguments.email,
                name=arguments.name or arguments.username,
                username=arguments.username,
                admin=arguments.admin,
                external=arguments.external,
            )
            return f"Created user {create_user(db, params, hashed, vouched_for=True).username}."
        user = user_by_login_or_none(db, arguments.username)
        if user is None:
            raise NotFound(f"There is no user {arguments.username}")
        return _change_user(db, arguments, user, hashed)

    return work


def _change_user(db: Connection, arguments: argparse.Namespace, user: User, hashed: str) -> str:
    if arguments.verb == "password":
        set_password(db, user, hashed)
        return f"Set the password of {user.username}."
    if arguments.verb == "admin":
        set_admin(db, user, not arguments.remove)
        return f"{user.username} is {'no longer an administrator' if arguments.remove else 'an administrator'}."
    if arguments.remove:
        remove_block(db, user)
        return f"Lifted the block of {user.username}."
    if arguments.directory:
        block_by_directory(db, user)
    else:
        block_user(db, ANONYMOUS, user)
    return f"Blocked {user.username}."


def _read_password_hash(arguments: argparse.Namespace, database: Database) -> str:
    password: str = arguments.password or (
        getpass.getpass("Password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    )
    errors = password_errors(password, database.read(current_password_rules))
    if errors:
        sys.exit(f"ingot: The password {', '.join(errors)}")
    return hash_password(password)
