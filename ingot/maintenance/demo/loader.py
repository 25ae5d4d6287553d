"""Creation of the demo users through the services of the accounts package."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from sqlalchemy import func, select

from ingot.accounts.emails.service import create_email
from ingot.accounts.instance.params import CreateBroadcastMessage
from ingot.accounts.instance.service import create_broadcast_message
from ingot.accounts.instance.tables import broadcast_messages
from ingot.accounts.keys.params import CreateKey
from ingot.accounts.keys.service import create_key
from ingot.accounts.tokens.service import create_token
from ingot.accounts.users.params import CreateUser, SetStatus
from ingot.accounts.users.queries import user_by_username_or_none
from ingot.accounts.users.service import create_user, follow_user
from ingot.accounts.users.statuses import set_status
from ingot.accounts.users.tables import User, users
from ingot.core.access.actor import Actor
from ingot.core.db.clocks import wall_clock
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.times import add_duration
from ingot.maintenance.demo.clock import DAYS
from ingot.maintenance.demo.users import DEMO_USERS, DemoUser

WELCOME = "Welcome! The users here are fictional; look around and change what you like."
_OTHER_USERS = (
    select(func.count())
    .select_from(users)
    .where(users.c.placeholder.is_(False), ~in_list(users.c.username_key, "demo_users"))
)
_WELCOMES = select(func.count()).select_from(broadcast_messages).where(broadcast_messages.c.message == WELCOME)


def count_other_users(db: Connection) -> int:
    """Count the users that are not part of the demo."""
    count: int = db.value(_OTHER_USERS, demo_users=[person.username for person in DEMO_USERS])
    return count


def add_demo_users(db: Connection, password_hash: str) -> list[tuple[str, str]]:
    """Add the missing demo users; return their usernames and tokens."""
    missing = [person for person in DEMO_USERS if user_by_username_or_none(db, person.username) is None]
    added = [(person, _add_person(db, person, password_hash)) for person in missing]
    tokens = [(user.username, _add_details(db, person, user)) for person, user in added]
    if db.value(_WELCOMES) == 0:
        create_broadcast_message(
            db, CreateBroadcastMessage(message=WELCOME, ends_at=add_duration(db.now, days=DAYS + 30))
        )
    return tokens


def _add_person(db: Connection, person: DemoUser, password_hash: str) -> User:
    params = CreateUser(
        username=person.username,
        name=person.name,
        email=person.email,
        bio=person.bio,
        location=person.location,
        organization=person.organization,
        admin=person.admin,
        external=person.external,
    )
    return create_user(db, params, password_hash, vouched_for=True)


def _add_details(db: Connection, person: DemoUser, user: User) -> str:
    """Add status, email, key, followings and a token, once all users exist; return the token."""
    emoji, message = person.status
    if message:
        set_status(db, user, SetStatus(emoji=emoji, message=message))
    create_email(db, user.id, f"{person.username}@home.example", vouched_for=True)
    create_key(db, user.id, CreateKey(title=f"{person.name}'s laptop", key=_public_key(person)))
    follower = Actor(user_id=user.id, username=user.username, name=user.name)
    for username in person.follows:
        followed = user_by_username_or_none(db, username)
        if followed is not None:
            follow_user(db, follower, followed)
    expires_at = add_duration(wall_clock(), days=365)
    return create_token(db, user.id, "personal", "Demo", ["api"], expires_at)[1]


def _public_key(person: DemoUser) -> str:
    """Return a valid key whose private half is discarded."""
    public = Ed25519PrivateKey.generate().public_key()
    return f"{public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()} {person.username}"
