"""Jobs of ``core`` and ``accounts``: mail, directories, and what expires."""

from typing import Any

from ingot.accounts.instance.outgoing_rules import is_silent
from ingot.core.db.database import Database
from ingot.core.jobs.handlers import JobHandler
from ingot.core.jobs.schedule import RecurringWork
from ingot.core.settings import Settings
from ingot.server.job_kinds.job_context import JobContext
from ingot.server.job_kinds.job_table import FREQUENTLY, HOURLY, JobTable

table = JobTable()


@table.kind
def mail(context: JobContext) -> JobHandler:
    from ingot.core.mail.delivery import MailSender

    deliver = MailSender(context.settings).deliver

    def deliver_unless_silent(database: Database, payload: Any) -> None:
        if not database.read(is_silent):
            deliver(database, payload)

    return deliver_unless_silent


@table.seldom_kind
def check_directory(context: JobContext) -> JobHandler:
    from ingot.accounts.identity_providers.directory_users import DirectoryCheck

    return DirectoryCheck(context.settings).run


@table.every(FREQUENTLY)
def delete_expired_sessions(_: Settings) -> RecurringWork:
    from ingot.accounts.sessions.service import delete_expired_sessions

    return delete_expired_sessions


@table.every(HOURLY)
def delete_old_token_audit_events(_: Settings) -> RecurringWork:
    from ingot.accounts.tokens.retention import delete_old_token_audit_events

    return delete_old_token_audit_events


@table.every(HOURLY)
def delete_unconfirmed_emails(_: Settings) -> RecurringWork:
    from ingot.accounts.emails.service import delete_unconfirmed_emails

    return delete_unconfirmed_emails


@table.every(HOURLY)
def delete_unused_clients(_: Settings) -> RecurringWork:
    from ingot.accounts.oauth.registration import delete_unused_clients

    return delete_unused_clients


@table.every(HOURLY)
def shorten_tokens(_: Settings) -> RecurringWork:
    from ingot.accounts.tokens.lifetimes import shorten_tokens

    return shorten_tokens


@table.every(HOURLY)
def deactivate_dormant_users(_: Settings) -> RecurringWork:
    from ingot.accounts.sessions.dormant_users import deactivate_dormant_users

    return deactivate_dormant_users


@table.every(FREQUENTLY)
def delete_expired_throttles(_: Settings) -> RecurringWork:
    from ingot.accounts.instance.throttles import delete_expired_throttles

    return delete_expired_throttles


@table.every(FREQUENTLY)
def delete_old_row_changes(_: Settings) -> RecurringWork:
    from ingot.core.db.row_changes import delete_old_row_changes

    return delete_old_row_changes


@table.every(HOURLY, lambda settings: bool(settings.ldap_url))
def enqueue_directory_check(_: Settings) -> RecurringWork:
    from ingot.accounts.identity_providers.directory_users import enqueue_directory_check

    return enqueue_directory_check
