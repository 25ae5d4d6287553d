"""Ports of ``core`` and ``accounts``."""

from typing import TYPE_CHECKING

from ingot.core.db.ports import PortFillers
from ingot.core.settings import Settings

if TYPE_CHECKING:
    from ingot.accounts.instance.ports import RunnerRegistration, TermsAcceptance, UserAddresses
    from ingot.accounts.keys.ports import KeyProjects
    from ingot.accounts.tokens.ports import AgentTools
    from ingot.accounts.two_factor.ports import GroupRequirements
    from ingot.accounts.users.ports import PublicAddress, UserNamespaces
    from ingot.core.api.ports import ClosedItems
    from ingot.core.mail.ports import MailFrames

ports = PortFillers()


@ports.fill
def closed_items(_: Settings) -> "ClosedItems":
    from ingot.core.api.ports import ClosedItems
    from ingot.projects.projects.closed_items import omit_closed

    return ClosedItems(omit_closed)


@ports.fill
def mail_frames(_: Settings) -> "MailFrames":
    from ingot.accounts.appearance.records import mail_frame
    from ingot.core.mail.ports import MailFrames

    return MailFrames(mail_frame)


@ports.fill
def user_addresses(_: Settings) -> "UserAddresses":
    from ingot.accounts.instance.ports import UserAddresses
    from ingot.accounts.sessions.user_addresses import admit_address

    return UserAddresses(admit_address)


@ports.fill
def terms_acceptance(_: Settings) -> "TermsAcceptance":
    from ingot.accounts.instance.ports import TermsAcceptance
    from ingot.accounts.users.service import accept_terms

    return TermsAcceptance(accept_terms)


@ports.fill
def runner_registration(_: Settings) -> "RunnerRegistration":
    from ingot.accounts.instance.ports import RunnerRegistration
    from ingot.ci.runners.registration import shown_instance_token

    return RunnerRegistration(shown_instance_token)


@ports.fill
def agent_tools(_: Settings) -> "AgentTools":
    from ingot.accounts.tokens.ports import AgentTools
    from ingot.mcp.tools import TOOLS

    return AgentTools(TOOLS.keys)


@ports.fill
def key_projects(_: Settings) -> "KeyProjects":
    from ingot.accounts.keys.ports import KeyProjects
    from ingot.projects.deploy_keys.queries import projects_of_key

    return KeyProjects(projects_of_key)


@ports.fill
def group_requirements(_: Settings) -> "GroupRequirements":
    from ingot.accounts.two_factor.ports import GroupRequirements
    from ingot.projects.namespaces.two_factor import two_factor_due_at

    return GroupRequirements(two_factor_due_at)


@ports.fill
def public_address(settings: Settings) -> "PublicAddress":
    from ingot.accounts.users.ports import PublicAddress

    return PublicAddress(settings.base_url)


@ports.fill
def user_namespaces(_: Settings) -> "UserNamespaces":
    from ingot.accounts.users.ports import UserNamespaces
    from ingot.projects.namespaces.queries import namespace_ids_of_users

    return UserNamespaces(namespace_ids_of_users)
