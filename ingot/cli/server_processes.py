"""Processes of ``ingot serve``, which are forked from one that has loaded their modules and built their application."""

import gc
import os
import sys
from dataclasses import replace
from functools import partial
from importlib import import_module
from socket import socket
from typing import NamedTuple

from ingot.cli import background, jobs, ssh, web
from ingot.core.jobs.job_processes import JobProcesses
from ingot.core.late_imports import DeferredFunction
from ingot.core.log import Log
from ingot.core.markup.render_pool import POOL
from ingot.core.settings import Settings, url_host
from ingot.server.allocator import compact_heap
from ingot.server.app import App
from ingot.server.jobs import minutely_jobs, run_maintenance
from ingot.server.registry import endpoint_table
from ingot.server.sockets import SiteSockets
from ingot.server.supervisor import ForkRequests, SupervisedProcess, close_descriptors, run_and_exit
from ingot.server.warm_up import warm_up
from ingot.web.template_environment import compile_templates

_NO_SITES = SiteSockets()
_BACKGROUND_CACHE_SHARE = 1 / 8
"""Share of the cache budget for SSH and jobs, which cache little."""
_LATE_MODULES = ("uvicorn.loops.uvloop", "uvicorn.lifespan.off", "encodings.idna", "ingot.web.component")
"""Modules that the children would import by themselves."""


class ServerSockets(NamedTuple):
    """Sockets that the supervisor opens and its children use."""

    http: socket
    ssh: socket | None
    forks: socket
    """For requests to fork rendering processes."""
    maintenance: socket | None
    """For requests to fork processes that run maintenance jobs; None where no job worker runs."""
    sites: SiteSockets = _NO_SITES


def load_modules() -> None:
    """Load what importing this module does not."""
    for name in _LATE_MODULES:
        import_module(name)
    endpoint_table()


def server_processes(settings: Settings, sockets: ServerSockets, workers: int) -> list[SupervisedProcess]:
    """Build and warm up the application, and return the processes that serve it."""
    app = web.build_app(_with_cache_share(settings, (1 - _BACKGROUND_CACHE_SHARE) / workers), whole_node=True)
    warm_up(app, minutely_jobs(settings))
    _compile_templates()
    compact_heap()
    # Garbage collection would otherwise write to all these objects, and so copy their memory in each child.
    gc.freeze()
    return [
        *_background_processes(settings, app, sockets),
        *web_processes(app, sockets, workers),
        *([SupervisedProcess("runner", partial(_run_runner, settings, app, sockets))] if settings.runner else []),
    ]


def web_processes(app: App, sockets: ServerSockets, workers: int) -> list[SupervisedProcess]:
    """Return the web workers, the first of which reports for all of them that this machine serves them."""
    return [
        SupervisedProcess(f"web-{number}", partial(_run_web, app, sockets, number == 0)) for number in range(workers)
    ]


def _background_processes(settings: Settings, app: App, sockets: ServerSockets) -> list[SupervisedProcess]:
    if not settings.separate_jobs:
        settings = _with_cache_share(settings, _BACKGROUND_CACHE_SHARE)
        return [SupervisedProcess("ssh+jobs", partial(_run_background, settings, app, sockets))]
    settings = _with_cache_share(settings, _BACKGROUND_CACHE_SHARE / 2)
    return [
        SupervisedProcess("ssh", partial(_run_ssh, settings, sockets)),
        SupervisedProcess("jobs", partial(_run_jobs, settings, sockets)),
    ]


def _with_cache_share(settings: Settings, share: float) -> Settings:
    """Return the settings of a process that uses a share of the server's cache budget."""
    return replace(settings, cache_mb=max(1, round(settings.cache_mb * share)))


def _compile_templates() -> None:
    """Compile the templates that are not compiled yet, in a process of its own: it takes longer than a start should."""
    if sys.dont_write_bytecode or os.fork() != 0:
        return
    close_descriptors()
    os.nice(10)
    run_and_exit(compile_templates)


def _run_web(app: App, sockets: ServerSockets, reports: bool, lifeline: int) -> None:
    _close(sockets.ssh)
    POOL.use_fork_server(sockets.forks)
    web.serve(app, [sockets.http], lifeline, reports=reports, sites=sockets.sites)


def _run_background(settings: Settings, app: App, sockets: ServerSockets, lifeline: int) -> None:
    _close(sockets.http, *sockets.sites)
    POOL.use_fork_server(sockets.forks)
    background.serve(settings, app.database, sockets.ssh, lifeline, _job_processes(sockets))


def _run_ssh(settings: Settings, sockets: ServerSockets, lifeline: int) -> None:
    _close(sockets.http, *sockets.sites)
    ssh.serve(settings, sockets.ssh, lifeline)


def _run_jobs(settings: Settings, sockets: ServerSockets, lifeline: int) -> None:
    _close(sockets.http, *sockets.sites)
    _close(sockets.ssh)
    POOL.use_fork_server(sockets.forks)
    jobs.serve(settings, lifeline, _job_processes(sockets))


def _job_processes(sockets: ServerSockets) -> JobProcesses | None:
    return None if sockets.maintenance is None else JobProcesses(sockets.maintenance)


def _run_runner(settings: Settings, app: App, sockets: ServerSockets, lifeline: int) -> None:
    """Run a runner that registers itself like any other; only its registration token comes from the database."""
    from ingot.ci.runners.registration import instance_registration_token
    from ingot.cli.runner import serve_runner

    _close(sockets.http, *sockets.sites)
    _close(sockets.ssh)
    token = app.database.read(instance_registration_token)
    app.database.close()
    serve_runner(_local_url(settings), token, settings.data / "runner", Log(settings.log_format), lifeline)


def _local_url(settings: Settings) -> str:
    """Return the address at which a process of this machine reaches the server."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(settings.host, settings.host)  # noqa: S104 - Compared only.
    return f"http://{url_host(host)}:{settings.port}"


def _close(*listeners: socket | None) -> None:
    for listener in listeners:
        if listener is not None:
            listener.close()


def render_requests() -> ForkRequests:
    """Return the requests for processes that render Markdown, whose modules the first one imports."""
    return ForkRequests(
        DeferredFunction("ingot.core.markup.render_process:run_renderer"),
        DeferredFunction("ingot.core.markup.render_server:load_libraries"),
    )


def maintenance_requests(settings: Settings) -> ForkRequests:
    """Return the requests for processes that run maintenance jobs."""
    return ForkRequests(partial(run_maintenance, _with_cache_share(settings, _BACKGROUND_CACHE_SHARE)))
