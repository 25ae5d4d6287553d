"""Member pages of projects and groups: members, invitations, access requests, and groups they are shared with."""

from collections.abc import Callable
from typing import Any

from ingot.accounts.appearance.records import current_appearance
from ingot.accounts.users import api as users_api
from ingot.core.access.levels import ROLE_NAMES
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid
from ingot.projects.group_projects import api as group_projects_api
from ingot.projects.groups import api as groups_api
from ingot.projects.invitations.views import InvitationView
from ingot.projects.members.views import MembershipOrigin, membership_origins
from ingot.projects.sharing import api as sharing_api
from ingot.web.groups.membership import has_requested, members_url
from ingot.web.groups.settings_parent import (
    access_request_endpoints,
    invitation_endpoints,
    member_endpoints,
    settings_page,
)
from ingot.web.issues.group_context import ProjectOrGroupContext, group_context
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext, project_context
from ingot.web.projects.forms import FormsState, form_values, submit_form
from ingot.web.texts import render_markdown

pages = PageRoutes()


@pages.get("/-/people")
def find_users(visit: Visit) -> PageResponse:
    """Search users by part of their name, for autocompletion."""
    member = visit.request.query.get("member")
    text = member.get("username") if isinstance(member, dict) else None
    valid = isinstance(text, str) and "\0" not in text and len(text.strip()) > 1
    users = visit.ask(users_api.list_users, {"search": text, "per_page": 10, "active": "true"}).items if valid else []
    return TemplateResponse("groups/_user_options.html", {"users": users})


def _declare_pages(prefix: str, find_parent: Callable[[Visit], ProjectOrGroupContext]) -> None:
    """Declare the member pages of projects or of groups."""

    def acting(work: Callable[[ProjectOrGroupContext], PageResponse]) -> Callable[[Visit], PageResponse]:
        return lambda visit: work(find_parent(visit))

    pages.get(prefix, open=True)(lambda visit, db: _members_page(find_parent(visit), db, FormsState()))
    pages.post(prefix, notice="Member added.")(acting(_add))
    pages.post(f"{prefix}/leave", notice="Membership ended.")(acting(_leave))
    pages.post(f"{prefix}/request_access", notice="Access requested.")(acting(_request_access))
    pages.delete(f"{prefix}/request_access", notice="Access request withdrawn.")(acting(_withdraw_request))
    pages.post(f"{prefix}/groups", notice="Shared with the group.")(acting(_share))
    pages.delete(f"{prefix}/groups/:group", notice="Sharing with the group ended.")(acting(_unshare))
    pages.post(f"{prefix}/invitations", notice="Invited.")(acting(_invite))
    pages.delete(f"{prefix}/invitations/:email", notice="Invitation revoked.")(acting(_revoke_invitation))
    pages.post(f"{prefix}/invitations/:email/resend", notice="Invitation sent again.")(acting(_resend_invitation))
    pages.put(f"{prefix}/:user", notice="Member saved.")(acting(_change))
    pages.delete(f"{prefix}/:user", notice="Member removed.")(acting(_remove))
    pages.post(f"{prefix}/:user/approve", notice="Access request approved.")(acting(_approve))
    pages.delete(f"{prefix}/:user/request", notice="Access request denied.")(acting(_deny))


def _add(parent: ProjectOrGroupContext) -> PageResponse:
    typed = form_values(parent.visit, "member", ("username", "access_level", "expires_at"))

    def act() -> None:
        users = parent.visit.ask(users_api.list_users, {"username": typed["username"].removeprefix("@")}).items
        if not typed["username"] or not users:
            raise Invalid(base=[f"User {typed['username']} was not found" if typed["username"] else "Enter a username"])
        parent.ask(member_endpoints(parent).add_member, {"user_id": users[0].id, **_member_params(typed)})

    return _submit(parent, "member", typed, act)


def _change(parent: ProjectOrGroupContext) -> PageResponse:
    typed = form_values(parent.visit, "changed", ("access_level", "expires_at"))
    user = parent.visit.request.path["user"]
    edit_member = member_endpoints(parent).edit_member
    return _submit(parent, "members", {}, lambda: parent.ask(edit_member, _member_params(typed), user_id=user))


def _remove(parent: ProjectOrGroupContext) -> PageResponse:
    user = parent.visit.request.path["user"]
    remove_member = member_endpoints(parent).remove_member
    return _submit(parent, "members", {}, lambda: parent.ask(remove_member, user_id=user))


def _leave(parent: ProjectOrGroupContext) -> PageResponse:
    user = parent.visit.viewer.signed_in.id
    remove_member = member_endpoints(parent).remove_member
    return _submit(parent, "members", {}, lambda: parent.ask(remove_member, user_id=user), "/")


def _request_access(parent: ProjectOrGroupContext) -> PageResponse:
    return _submit(parent, "request", {}, lambda: parent.ask(access_request_endpoints(parent).request_access))


def _withdraw_request(parent: ProjectOrGroupContext) -> PageResponse:
    user = parent.visit.viewer.signed_in.id
    deny_access = access_request_endpoints(parent).deny_access
    return _submit(parent, "request", {}, lambda: parent.ask(deny_access, user_id=user))


def _approve(parent: ProjectOrGroupContext) -> PageResponse:
    params = {"access_level": form_values(parent.visit, "request", ("access_level",))["access_level"] or "30"}
    user = parent.visit.request.path["user"]
    approve_access = access_request_endpoints(parent).approve_access
    return _submit(parent, "requests", {}, lambda: parent.ask(approve_access, params, user_id=user))


def _deny(parent: ProjectOrGroupContext) -> PageResponse:
    user = parent.visit.request.path["user"]
    deny_access = access_request_endpoints(parent).deny_access
    return _submit(parent, "requests", {}, lambda: parent.ask(deny_access, user_id=user))


def _invite(parent: ProjectOrGroupContext) -> PageResponse:
    typed = form_values(parent.visit, "invitation", ("email", "access_level", "expires_at"))

    def act() -> None:
        result = parent.ask(invitation_endpoints(parent).invite, {"email": typed["email"], **_member_params(typed)})
        if result.message:
            raise Invalid(base=[f"{address}: {reason}" for address, reason in result.message.items()])

    return _submit(parent, "invitation", typed, act)


def _revoke_invitation(parent: ProjectOrGroupContext) -> PageResponse:
    email = parent.visit.request.path["email"]
    revoke_invitation = invitation_endpoints(parent).revoke_invitation
    return _submit(parent, "invitations", {}, lambda: parent.ask(revoke_invitation, email=email))


def _resend_invitation(parent: ProjectOrGroupContext) -> PageResponse:
    email, actor, invitations = (
        parent.visit.request.path["email"],
        parent.visit.viewer.actor,
        invitation_endpoints(parent),
    )

    def act() -> None:
        invited_into = parent.find(invitations.edit_invitation, email=email)
        parent.visit.database.write(lambda db: invitations.resend_invitation(db, actor, invited_into, email))

    return _submit(parent, "invitations", {}, act)


def _share(parent: ProjectOrGroupContext) -> PageResponse:
    typed = form_values(parent.visit, "share", ("group", "group_access", "expires_at"))

    def act() -> None:
        path = typed["group"].strip("/ ")
        if not path:
            raise Invalid(base=["Enter the path of a group"])
        group = parent.visit.ask(group_projects_api.get_group, {"with_projects": "false"}, id=path)
        expiration = {"expires_at": typed["expires_at"] or None}
        parent.ask(
            parent.either(sharing_api.share_project, group_projects_api.share_group),
            {"group_id": group.id, "group_access": typed["group_access"], **expiration},
        )

    return _submit(parent, "share", typed, act)


def _unshare(parent: ProjectOrGroupContext) -> PageResponse:
    group = parent.visit.request.path["group"]
    return _submit(
        parent,
        "shares",
        {},
        lambda: parent.ask(parent.either(sharing_api.unshare_project, groups_api.unshare_group), group_id=group),
    )


def _member_params(typed: dict[str, Any]) -> dict[str, Any]:
    return {"access_level": typed["access_level"], "expires_at": typed["expires_at"] or None}


def _submit(
    parent: ProjectOrGroupContext, form: str, typed: dict[str, Any], act: Callable[[], object], url: str = ""
) -> PageResponse:
    def show_errors(forms: FormsState) -> TemplateResponse:
        return parent.visit.database.read(lambda db: _members_page(parent, db, forms))

    return submit_form(form, typed, act, show_errors, url or members_url(parent))


def _members_page(parent: ProjectOrGroupContext, db: Connection, forms: FormsState) -> TemplateResponse:
    visit, project = parent.visit, isinstance(parent, ProjectContext)
    members_here, requests = member_endpoints(parent), access_request_endpoints(parent)
    all_members = parent.either(sharing_api.list_all_project_members, groups_api.list_all_group_members)
    with_inherited = visit.request.query.get("with") != "direct"
    search = visit.request.query.get("search")
    params = {"page": visit.request.query.get("page", "1"), "query": search if isinstance(search, str) else ""}
    may_manage = parent.may(requests.list_access_requests)
    members = parent.ask(all_members if with_inherited else members_here.list_members, params)
    subject: Any = parent.project if isinstance(parent, ProjectContext) else parent.group
    ids = [member.id for member in members.items]
    namespace_id = parent.project.namespace.id if isinstance(parent, ProjectContext) else parent.group.id
    origins = membership_origins(db, "project" if project else "group", subject.id, namespace_id, ids)
    may_change = parent.may(members_here.add_member)
    context: dict[str, Any] = {
        "forms": forms,
        "url": members_url(parent),
        "members": members,
        "origins": origins,
        "no_origin": MembershipOrigin(),
        "with_inherited": with_inherited,
        "search": params["query"],
        "levels": {number: name for number, name in ROLE_NAMES.items() if not project or number < 50},
        "names": ROLE_NAMES,
        "may_change": may_change,
        "guidelines": render_markdown(visit, current_appearance(db).member_guidelines if may_change else ""),
        "requests": parent.ask(requests.list_access_requests, {"per_page": 100}).items if may_manage else [],
        "invitations": _invitations(parent) if may_manage else [],
        "may_request": not may_manage and parent.may(requests.request_access),
        "requested": has_requested(parent, db),
        "shares": subject.shared_with_groups or [],
        "kind": "project" if project else "group",
    }
    section = "project_members" if project else "group_members"
    tab = "settings" if may_manage else "members"
    return settings_page(parent, "groups/members.html", section, context, forms.status, tab)


def _invitations(parent: ProjectOrGroupContext) -> list[InvitationView]:
    return parent.ask(invitation_endpoints(parent).list_invitations, {"per_page": 100}).items


@pages.get("/groups/:path/-/members", open=True)
def redirect_to_members(visit: Visit) -> PageResponse:
    """Redirect the second URL of a group's members to the first."""
    return LocalRedirect(members_url(group_context(visit)))


_declare_pages("/:path/-/project_members", project_context)
_declare_pages("/groups/:path/-/group_members", group_context)
