"""Members of projects and groups, and the memberships of users."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ingot.accounts.emails.queries import emails_of_users
from ingot.activity.instance_statistics.queries import group_counts_of_users
from ingot.core.db.paging import Listing, Page
from ingot.graphql.connections import ConnectionPage, connection_of, paged
from ingot.graphql.context import QueryContext
from ingot.graphql.families.users import fields_of_users
from ingot.graphql.global_ids import to_global_id
from ingot.graphql.loaders import load_groups, load_projects
from ingot.graphql.resolvers import Arguments, Resolvers
from ingot.projects.members.views import MemberView
from ingot.projects.sharing.queries import MembershipWithSource, list_memberships

resolvers = Resolvers()
resolvers.types[MemberView] = "ProjectMember"


class UserMembership(msgspec.Struct):
    """Membership of a user in a project or group."""

    user: Any
    record: MembershipWithSource


def _may_see_private_data(context: QueryContext, user: Any) -> bool:
    """Return whether the caller may see addresses and memberships: those of other users are for administrators."""
    return context.actor.known and (context.actor.admin or user.id == context.actor.user_id)


@resolvers.batch(*fields_of_users("emails"))
def list_emails(context: QueryContext, users: Sequence[Any], arguments: Arguments) -> list[ConnectionPage | None]:
    """Return the secondary email addresses of users."""
    shown = {user.id for user in users if _may_see_private_data(context, user)}
    emails = context.read(lambda db: emails_of_users(db, shown)) if shown else {}
    return [connection_of(emails.get(user.id, []), arguments) if user.id in shown else None for user in users]


@resolvers.value("Email.id")
def email_id(_: QueryContext, email: Any) -> str:
    """Return the global id."""
    return to_global_id("Email", email.id)


@resolvers.batch(*fields_of_users("groupCount"))
def count_groups(context: QueryContext, users: Sequence[Any], _: Arguments) -> list[int | None]:
    """Return the numbers of groups to which users belong."""
    shown = {user.id for user in users if _may_see_private_data(context, user)}
    counts = context.read(lambda db: group_counts_of_users(db, shown)) if shown else {}
    return [counts.get(user.id, 0) if user.id in shown else None for user in users]


def _memberships(field: str, kind: str) -> None:
    @resolvers.single(*fields_of_users(field))
    def list_user_memberships(context: QueryContext, user: Any, arguments: Arguments) -> ConnectionPage | None:
        """Return a page of the memberships of a user."""
        if not _may_see_private_data(context, user):
            return None

        def fetch(number: int, size: int) -> Listing[MembershipWithSource]:
            return context.read(lambda db: list_memberships(db, user.id, kind, Page(number, size)))

        page = paged(fetch, arguments)
        page.nodes = [UserMembership(user, record) for record in page.nodes]
        return page


_memberships("projectMemberships", "project")
_memberships("groupMemberships", "group")


def _member_field(field: str, attribute: str) -> None:
    @resolvers.value(f"ProjectMember.{field}", f"GroupMember.{field}")
    def member_field(_: QueryContext, member: MemberView | UserMembership) -> Any:
        """Return a field of a membership."""
        return getattr(member.record if isinstance(member, UserMembership) else member, attribute)


for _field, _attribute in {
    "accessLevel": "access_level",
    "createdAt": "created_at",
    "expiresAt": "expires_at",
}.items():
    _member_field(_field, _attribute)


@resolvers.value("ProjectMember.id", "GroupMember.id")
def member_id(_: QueryContext, member: MemberView | UserMembership) -> str:
    """Return the global id; REST identifies the members of one project or group by their user."""
    if isinstance(member, UserMembership):
        return to_global_id(f"{member.record.source_kind.capitalize()}Member", member.record.id)
    return to_global_id("Member", member.id)


@resolvers.value("ProjectMember.user", "GroupMember.user")
def member_user(_: QueryContext, member: MemberView | UserMembership) -> Any:
    """Return the member as a user."""
    return member.user if isinstance(member, UserMembership) else member


@resolvers.batch("ProjectMember.project")
def find_projects(context: QueryContext, members: Sequence[MemberView | UserMembership], _: Arguments) -> list[Any]:
    """Return the projects of memberships."""
    found = load_projects(context, _sources(members))
    return [found.get(member.record.source_id) if isinstance(member, UserMembership) else None for member in members]


@resolvers.batch("GroupMember.group")
def find_groups(context: QueryContext, members: Sequence[MemberView | UserMembership], _: Arguments) -> list[Any]:
    """Return the groups of memberships."""
    found = load_groups(context, _sources(members))
    return [found.get(member.record.source_id) if isinstance(member, UserMembership) else None for member in members]


def _sources(members: Sequence[MemberView | UserMembership]) -> set[int]:
    return {member.record.source_id for member in members if isinstance(member, UserMembership)}
