"""Jobs of ``sites``."""

from typing import TYPE_CHECKING

from ingot.core.jobs.handlers import JobHandler
from ingot.core.jobs.schedule import RecurringWork
from ingot.core.settings import Settings
from ingot.server.job_kinds.job_context import JobContext
from ingot.server.job_kinds.job_table import DAILY, HOURLY, JobTable

if TYPE_CHECKING:
    from ingot.sites.deployments.jobs import SiteJobs

table = JobTable()


def _site_jobs(context: JobContext) -> "SiteJobs":
    from ingot.sites.deployments.jobs import SiteJobs
    from ingot.sites.files.store import site_store_of

    return SiteJobs(context.settings, context.artifacts, site_store_of(context.settings))


@table.kind
def deploy_site(context: JobContext) -> JobHandler:
    return _site_jobs(context).deploy


@table.kind
def delete_site_files(context: JobContext) -> JobHandler:
    return _site_jobs(context).delete_files


@table.seldom_kind
def remove_old_deployments(context: JobContext) -> JobHandler:
    return _site_jobs(context).remove_old


@table.seldom_kind
def sweep_sites(context: JobContext) -> JobHandler:
    return _site_jobs(context).sweep


@table.kind
def verify_pages_domain(context: JobContext) -> JobHandler:
    from ingot.sites.domains.verification import DomainVerification

    return DomainVerification(context.settings).run


@table.kind
def obtain_certificate(context: JobContext) -> JobHandler:
    from ingot.sites.domains.acme_orders import CertificateOrders

    return CertificateOrders(context.settings).run


@table.every(DAILY)
def enqueue_site_sweep(_: Settings) -> RecurringWork:
    from ingot.sites.deployments.jobs import enqueue_site_sweep

    return enqueue_site_sweep


@table.every(HOURLY)
def enqueue_deployment_removal(_: Settings) -> RecurringWork:
    from ingot.sites.deployments.jobs import enqueue_deployment_removal

    return enqueue_deployment_removal


@table.every(HOURLY)
def enqueue_verifications(_: Settings) -> RecurringWork:
    from ingot.sites.domains.verification import enqueue_verifications

    return enqueue_verifications


@table.every(HOURLY, lambda settings: bool(settings.pages_acme_email))
def enqueue_renewals(_: Settings) -> RecurringWork:
    from ingot.sites.domains.acme_orders import enqueue_renewals

    return enqueue_renewals
