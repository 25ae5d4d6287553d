"""``ingot user``: accounts, on a stopped or a running instance."""

import argparse
import getpass
import sys
from collections.abc import Callable

from ingot.access.actor import NOBODY
from ingot.access.passwords import hash_password, password_trouble
from ingot.app import open_database
from ingot.cli.options import add_instance_options, existing_instance, prepare_instance, settings_of
from ingot.db.connection import Connection
from ingot.errors import Conflict, Denied, Invalid, NotFound, Unavailable
from ingot.names import NAMESPACES
from ingot.users.accounts.params import CreateUser
from ingot.users.accounts.queries import user_by_login
from ingot.users.accounts.service import (
    block_by_directory,
    block_user,
    create_user,
    lift_block,
    set_admin,
    set_password,
)
from ingot.users.accounts.tables import User


def declare(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    create = verbs.add_parser("create", help="add a user")
    create.add_argument("username")
    create.add_argument("--email", required=True)
    create.add_argument("--name", help="full name (default: the username)")
    create.add_argument("--password", help="read from standard input where it is not given")
    create.add_argument("--admin", action="store_true", help="make them an administrator")
    create.add_argument("--external", action="store_true", help="make them an external user")
    password = verbs.add_parser("password", help="set somebody's password; they need not change it")
    password.add_argument("username", help="username or email")
    password.add_argument("--password", help="read from standard input where it is not given")
    admin = verbs.add_parser("admin", help="make somebody an administrator")
    admin.add_argument("username", help="username or email")
    admin.add_argument("--remove", action="store_true", help="make them an ordinary user again")
    block = verbs.add_parser("block", help="block somebody everywhere, at once")
    block.add_argument("username", help="username or email")
    block.add_argument(
        "--directory", action="store_true", help="the block that a directory makes: the API cannot lift it"
    )
    block.add_argument("--remove", action="store_true", help="lift any block")
    for verb in (create, password, admin, block):
        add_instance_options(verb)


def run(arguments: argparse.Namespace) -> None:
    """Do it, or say in one line why not."""
    settings = existing_instance(settings_of(arguments))
    prepare_instance(settings)
    database = open_database(settings)
    try:
        print(database.write(_work(arguments)))
    except (Conflict, Invalid, Denied, NotFound, Unavailable) as error:
        sys.exit(f"ingot: {error}")
    finally:
        database.close()


def _work(arguments: argparse.Namespace) -> Callable[[Connection], str]:
    hashed = _hashed(arguments) if arguments.verb in ("create", "password") else ""

    def work(db: Connection) -> str:
        db.lock(NAMESPACES)
        if arguments.verb == "create":
            wanted = CreateUser(
                email=arguments.email,
                name=arguments.name or arguments.username,
                username=arguments.username,
                password="-" * 8,
                admin=arguments.admin,
                external=arguments.external,
            )
            return f"Created user {create_user(db, wanted, hashed, vouched_for=True).username}."
        user = user_by_login(db, arguments.username)
        if user is None:
            raise NotFound(f"There is no user {arguments.username}")
        return _change(db, arguments, user, hashed)

    return work


def _change(db: Connection, arguments: argparse.Namespace, user: User, hashed: str) -> str:
    if arguments.verb == "password":
        set_password(db, user, hashed)
        return f"Set the password of {user.username}."
    if arguments.verb == "admin":
        set_admin(db, user, not arguments.remove)
        return f"{user.username} is {'no administrator any more' if arguments.remove else 'an administrator'}."
    if arguments.remove:
        lift_block(db, user)
        return f"Lifted the block of {user.username}."
    if arguments.directory:
        block_by_directory(db, user)
    else:
        block_user(db, NOBODY, user)
    return f"Blocked {user.username}."


def _hashed(arguments: argparse.Namespace) -> str:
    password: str = arguments.password or (
        getpass.getpass("Password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    )
    trouble = password_trouble(password)
    if trouble:
        sys.exit(f"ingot: The password {trouble}")
    return hash_password(password)
