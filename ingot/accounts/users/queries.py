"""Queries of users, identities, followers, statuses and custom attributes."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Subquery, and_, bindparam, exists, func, literal_column, or_, select

from ingot.accounts.users.params import ListUsers
from ingot.accounts.users.tables import (
    Identity,
    Person,
    User,
    UserCustomAttribute,
    UserStatus,
    custom_attributes,
    emails,
    followings,
    identities,
    statuses,
    users,
)
from ingot.core.access.actor import Actor
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains, in_list, like_pattern, one_of
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query, scan_query, scanned_rows
from ingot.core.db.search import is_indexed, search_term, text_scan, text_search
from ingot.core.db.times import Date
from ingot.core.db.totals import USERS
from ingot.core.errors import Invalid, NotFound, too_long_message

_BY_ID = select(users).where(users.c.id == bindparam("user"))
_BY_IDS = select(users).where(in_list(users.c.id, "users"))
_PERSONS = select(
    users.c.id, users.c.username, users.c.name, users.c.state, users.c.avatar_id, users.c.avatar_file, users.c.bot
).where(in_list(users.c.id, "users"))
_BY_USERNAME = select(users).where(users.c.username_key == bindparam("username"))
_BY_USERNAMES = select(users).where(in_list(users.c.username_key, "usernames"), ~users.c.placeholder)
_SECONDARY_HOLDER = (
    select(emails.c.user_id)
    .where(emails.c.email == bindparam("email"), emails.c.confirmed_at.is_not(None))
    .order_by(emails.c.proven_at.is_(None), emails.c.id)
    .limit(literal_column("1"))
)
# At most two: the holder of the primary address, and the best claim to it as a secondary one.
_BY_EMAIL = select(users).where(
    or_(users.c.email == bindparam("email"), users.c.id == _SECONDARY_HOLDER.scalar_subquery())
)
# Created before any placeholder of an import.
_PLACEHOLDER = select(users).where(users.c.placeholder).order_by(users.c.id).limit(1)
_IDENTITIES = select(identities).where(in_list(identities.c.user_id, "users")).order_by(identities.c.id)
_IDENTITY_OWNER = select(identities.c.user_id).where(
    identities.c.provider == bindparam("provider"), identities.c.extern_uid == bindparam("extern_uid")
)
_ADMINISTRATORS = select(func.count()).where(users.c.admin, users.c.state == "active")
_STATUS = select(statuses).where(statuses.c.user_id == bindparam("user"))
_OF_USER = select(custom_attributes).where(custom_attributes.c.user_id == bindparam("user"))
_CUSTOM_ATTRIBUTES = list_query(_OF_USER, custom_attributes.c.id, custom_attributes.c.key.asc())
_OF_USERS = (
    select(custom_attributes.c.user_id, custom_attributes.c.key, custom_attributes.c.value)
    .where(in_list(custom_attributes.c.user_id, "users"))
    .order_by(custom_attributes.c.key)
)
MAX_ATTRIBUTE_FILTERS = 10
_PEOPLE_KEY = "people"
_MOST_PEOPLE = 200
_PERSON_BYTES = 400
_IDENTITIES_BYTES = 600
_CUSTOM_ATTRIBUTE = _OF_USER.where(custom_attributes.c.key == bindparam("key"))
_FOLLOWING = select(followings.c.id).where(
    followings.c.follower_id == bindparam("follower"), followings.c.followed_id == bindparam("followed")
)


def find_user(db: Connection, user_id: str | int) -> User:
    """Return the user with this id; raise NotFound otherwise."""
    user = user_or_none(db, user_id)
    if user is None:
        raise NotFound("User")
    return user


def user_or_none(db: Connection, user_id: str | int) -> User | None:
    """Return the user with this id; None if there is none or if the id is not a number."""
    number = number_or_none(str(user_id))
    return None if number is None else db.first(User, _BY_ID, user=number)


def users_by_ids(db: Connection, user_ids: Iterable[int | None]) -> dict[int, User]:
    """Return the users with these ids, by id; None among the ids is ignored."""
    ids = sorted({user_id for user_id in user_ids if user_id is not None})
    return {user.id: user for user in db.all(User, _BY_IDS, users=ids)} if ids else {}


def persons_by_ids(db: Connection, user_ids: Iterable[int | None]) -> list[Person]:
    """Return the names and avatars of users; nearly every view names some, so that they are cached."""
    ids = sorted({user_id for user_id in user_ids if user_id is not None})
    if not ids:
        return []
    cached = db.cached(
        _PEOPLE_KEY, dict[int, Person], lambda _: _MOST_PEOPLE * _PERSON_BYTES, lambda _: {"users": None}
    )
    assert cached is not None  # noqa: S101 - An empty one is cached too.
    # Other threads may empty the dictionary between two lookups.
    persons = {user_id: person for user_id in ids if (person := cached.get(user_id)) is not None}
    if len(persons) < len(ids):
        missing = [user_id for user_id in ids if user_id not in persons]
        read = {person.id: person for person in db.all(Person, _PERSONS, users=missing)}
        if len(cached) + len(read) > _MOST_PEOPLE:
            cached.clear()
        cached.update(list(read.items())[:_MOST_PEOPLE])
        persons |= read
    return [persons[user_id] for user_id in ids if user_id in persons]


def user_by_login_or_none(db: Connection, login: str) -> User | None:
    """Return the user with this username or email address."""
    folded = login.strip().lower()
    return user_by_email_or_none(db, folded) if "@" in folded else user_by_username_or_none(db, folded)


def user_by_username_or_none(db: Connection, username: str) -> User | None:
    """Return the user with this username, ignoring case."""
    return db.first(User, _BY_USERNAME, username=username.lower())


def users_by_usernames(db: Connection, usernames: Iterable[str]) -> dict[str, User]:
    """Return the users with these usernames, by lowercase username, without the placeholder; one statement."""
    folded = sorted({name.lower() for name in usernames})
    matches = db.all(User, _BY_USERNAMES, usernames=folded) if folded else []
    return {user.username.lower(): user for user in matches}


def user_by_email_or_none(db: Connection, email: str) -> User | None:
    """Return the user with this primary or confirmed secondary email address.

    If several users claim it without proof, the account that has it as its primary address and can sign in comes first.
    """
    address = email.strip().lower()
    holders = db.all(User, _BY_EMAIL, email=address)
    holders.sort(key=lambda user: (user.email != address) if user.confirmed_at is not None else 2)
    return holders[0] if holders else None


def placeholder_user(db: Connection) -> User:
    """Return the placeholder user, who inherits the contributions of deleted users."""
    user = db.first(User, _PLACEHOLDER)
    if user is None:
        raise NotFound("User")
    return user


def count_administrators(db: Connection) -> int:
    """Count the active administrators."""
    count: int = db.value(_ADMINISTRATORS)
    return count


def identities_by_user(db: Connection, user_ids: list[int]) -> dict[int, list[Identity]]:
    """Return the identities of these users, by user id; those of a single one are cached."""

    def read() -> dict[int, list[Identity]]:
        by_user: defaultdict[int, list[Identity]] = defaultdict(list)
        for identity in db.all(Identity, _IDENTITIES, users=user_ids):
            by_user[identity.user_id].append(identity)
        return by_user

    if len(user_ids) != 1:
        return read() if user_ids else {}
    rows = {"identities": user_ids[0]}
    return db.cached(("identities", user_ids[0]), read, lambda _: _IDENTITIES_BYTES, lambda _: rows) or {}


def identity_owner_or_none(db: Connection, provider: str, extern_uid: str) -> int | None:
    """Return the id of the user with this identity at a provider."""
    owner: int | None = db.value(_IDENTITY_OWNER, provider=provider, extern_uid=extern_uid)
    return owner


_NOT_EXTERNAL = users.c.external.is_(False)
_SECONDARY_EMAIL = text_search(emails.c.id, "needle", emails.c.email)
_FILTERS = {
    "active": and_(users.c.state == "active", users.c.placeholder.is_(False)),
    "humans": users.c.placeholder.is_(False),
    "exclude_internal": users.c.placeholder.is_(False),
    "blocked": one_of(users.c.state, "blocked", "banned"),
    "blocked_pending_approval": users.c.state == "blocked_pending_approval",
    "external": users.c.external.is_(True),
    "exclude_external": _NOT_EXTERNAL,
    "admins": users.c.admin.is_(True),
    "two_factor_enabled": users.c.two_factor_enabled.is_(True),
    "two_factor_disabled": users.c.two_factor_enabled.is_(False),
    "username": users.c.username_key == bindparam("username"),
    "public_email": users.c.public_email == bindparam("public_email"),
    "created_before": users.c.created_at <= bindparam("created_before"),
    "created_after": users.c.created_at >= bindparam("created_after"),
    "extern_uid": exists().where(
        identities.c.user_id == users.c.id,
        identities.c.provider == bindparam("provider"),
        identities.c.extern_uid == bindparam("extern_uid"),
    ),
    # Administrators search by any part of an email address. Others must give the whole address, or they could guess
    # addresses character by character.
    "search_everything": or_(
        text_search(users.c.id, "needle", users.c.username_key, users.c.name_key, users.c.email),
        users.c.id.in_(select(emails.c.user_id).where(_SECONDARY_EMAIL).scalar_subquery()),
    ),
    "search_names": or_(
        text_search(users.c.id, "needle", users.c.username_key, users.c.name_key),
        users.c.email == bindparam("term"),
    ),
    "short_search_everything": or_(
        contains(users.c.username_key, "pattern"),
        contains(users.c.name_key, "pattern"),
        contains(users.c.email, "pattern"),
        exists().where(emails.c.user_id == users.c.id, contains(emails.c.email, "pattern")),
    ),
    "short_search_names": or_(
        contains(users.c.username_key, "pattern"),
        contains(users.c.name_key, "pattern"),
        users.c.email == bindparam("term"),
    ),
}

_FLAGS = ("active", "humans", "exclude_internal", "blocked", "blocked_pending_approval", "external")
# Filters whose results depend only on columns that are versioned (see ``totals``).
_VERSIONED_FILTERS = _FILTERS.keys() - {"extern_uid"}


def _scan_everything(scanned: Subquery) -> ColumnElement[bool]:
    of_user = emails.c.user_id == scanned.c.id
    return or_(
        text_scan("needle", scanned.c.username_key, scanned.c.name_key, scanned.c.email),
        exists().where(of_user, text_scan("needle", emails.c.email)),
    )


def _scan_names(scanned: Subquery) -> ColumnElement[bool]:
    return or_(text_scan("needle", scanned.c.username_key, scanned.c.name_key), scanned.c.email == bindparam("term"))


_SEARCHES: dict[str, Callable[[Subquery], ColumnElement[bool]]] = {
    "search_everything": _scan_everything,
    "search_names": _scan_names,
}


def _condition(name: str) -> ColumnElement[bool]:
    if not name.startswith("custom_attribute "):
        return _FILTERS[name]
    index, attribute = name.split()[1], custom_attributes.alias()
    return exists().where(
        attribute.c.user_id == users.c.id,
        attribute.c.key == bindparam(f"attribute_{index}"),
        attribute.c.value == bindparam(f"attribute_value_{index}"),
    )


@lru_cache(maxsize=128)
def _list_query(filters: frozenset[str], order_by: str, sort: str) -> ListQuery:
    matching = select(users).where(*(_condition(name) for name in sorted(filters)))
    column = users.c["name_key" if order_by == "name" else "username_key" if order_by == "username" else order_by]
    order = [column.asc() if sort == "asc" else column.desc()]
    if order_by != "id":
        order.append(users.c.id.asc() if sort == "asc" else users.c.id.desc())
    query = list_query(matching, users.c.id, *order)
    searches = filters & _SEARCHES.keys()
    if not searches:
        return query
    others = select(users).where(*(_condition(name) for name in sorted(filters - searches)))
    scanned = scanned_rows(others, *order)
    sorted_by = [scanned.c[column.name], scanned.c.id]
    return query._replace(
        scan=scan_query(
            scanned,
            and_(*(_SEARCHES[name](scanned) for name in searches)),
            *(by.asc() if sort == "asc" else by.desc() for by in sorted_by),
        )
    )


def list_users(db: Connection, actor: Actor, params: ListUsers, page: Page) -> Listing[User]:
    """List the matching users; only administrators see external users and may filter by date."""
    filters = {name for name in _FLAGS if getattr(params, name)}
    values: dict[str, Any] = {}
    if params.username:
        filters.add("username")
        values["username"] = params.username.lower()
    if params.public_email:
        filters.add("public_email")
        values["public_email"] = params.public_email.lower()
    if params.search:
        search = "search_everything" if actor.admin else "search_names"
        if is_indexed(params.search):
            filters.add(search)
            values["needle"] = search_term(params.search)
        else:
            filters.add(f"short_{search}")
            values["pattern"] = like_pattern(params.search)
        if not actor.admin:
            values["term"] = params.search.strip().lower()
    if not actor.admin or params.exclude_external:
        filters.add("exclude_external")
    if actor.admin:
        for name in ("created_before", "created_after", "extern_uid"):
            if getattr(params, name) is not None:
                filters.add(name)
                values[name] = getattr(params, name)
        if params.extern_uid is not None:
            values["provider"] = params.provider
        if params.admins:
            filters.add("admins")
        if params.two_factor:
            filters.add(f"two_factor_{params.two_factor}")
        for index, (key, value) in enumerate(attribute_filters(params.custom_attributes)):
            filters.add(f"custom_attribute {index}")
            values |= {f"attribute_{index}": key, f"attribute_value_{index}": value}
    depends_on = (USERS,) if filters <= _VERSIONED_FILTERS else ()
    query = _list_query(frozenset(filters), params.order_by, params.sort)
    return fetch_page(db, User, query, page, depends_on, **values)


_ACTIVITIES = list_query(
    select(users).where(users.c.last_activity_on >= bindparam("since")),
    users.c.id,
    users.c.last_activity_on.asc(),
    users.c.id.asc(),
)
_FOLLOWERS = list_query(
    select(users)
    .join(followings, followings.c.follower_id == users.c.id)
    .where(followings.c.followed_id == bindparam("user")),
    users.c.id,
    users.c.id.desc(),
)
_FOLLOWED = list_query(
    select(users)
    .join(followings, followings.c.followed_id == users.c.id)
    .where(followings.c.follower_id == bindparam("user")),
    users.c.id,
    users.c.id.desc(),
)


def list_activities(db: Connection, since: Date, page: Page) -> Listing[User]:
    """List the users who were active since a day, the oldest activity first."""
    return fetch_page(db, User, _ACTIVITIES, page, since=since)


def list_followers(db: Connection, user: User, page: Page) -> Listing[User]:
    """List the followers of a user."""
    return fetch_page(db, User, _FOLLOWERS, page, user=user.id)


def list_followed(db: Connection, user: User, page: Page) -> Listing[User]:
    """List the users that a user follows."""
    return fetch_page(db, User, _FOLLOWED, page, user=user.id)


def following_or_none(db: Connection, follower_id: int, followed_id: int) -> int | None:
    """Return the id of the row that records a following."""
    row_id: int | None = db.value(_FOLLOWING, follower=follower_id, followed=followed_id)
    return row_id


def user_status_or_none(db: Connection, user: User) -> UserStatus | None:
    """Return the user's status, unless it has expired."""
    status = db.first(UserStatus, _STATUS, user=user.id)
    return None if status is None or (status.clear_at is not None and status.clear_at <= db.now) else status


def list_custom_attributes(db: Connection, user: User, page: Page) -> Listing[UserCustomAttribute]:
    """List the custom attributes of a user."""
    return fetch_page(db, UserCustomAttribute, _CUSTOM_ATTRIBUTES, page, user=user.id)


def attribute_filters(attributes: dict[str, str] | None) -> list[tuple[str, str]]:
    """Return the pairs of key and value to filter by; raise Invalid for too many, because each costs a subquery."""
    if attributes and len(attributes) > MAX_ATTRIBUTE_FILTERS:
        raise Invalid(custom_attributes=[too_long_message(MAX_ATTRIBUTE_FILTERS, "keys")])
    return list((attributes or {}).items())


def custom_attributes_by_user(db: Connection, user_ids: list[int]) -> dict[int, list[tuple[str, str]]]:
    """Return the custom attributes of these users, by user id, in the order of their keys."""
    by_user: dict[int, list[tuple[str, str]]] = {}
    for user_id, key, value in db.rows(_OF_USERS, users=user_ids):
        by_user.setdefault(user_id, []).append((key, value))
    return by_user


def custom_attribute_or_none(db: Connection, user: User, key: str) -> UserCustomAttribute | None:
    """Return the custom attribute of a user with this key."""
    return db.first(UserCustomAttribute, _CUSTOM_ATTRIBUTE, user=user.id, key=key)


def find_custom_attribute(db: Connection, user: User, key: str) -> UserCustomAttribute:
    """Return the custom attribute of a user with this key; raise NotFound otherwise."""
    attribute = custom_attribute_or_none(db, user, key)
    if attribute is None:
        raise NotFound("Custom Attribute")
    return attribute
