"""Registration of pages that exist for both projects and groups."""

from collections.abc import Callable

from ingot.web.issues.group_context import ProjectOrGroupContext, group_context
from ingot.web.page_routes import Notice, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext, project_context

ContextHandler = Callable[[ProjectOrGroupContext], PageResponse]
_PREFIXES: tuple[tuple[str, Callable[[Visit], ProjectOrGroupContext]], ...] = (
    ("/:path/-", project_context),
    ("/groups/:path/-", group_context),
)


class SharedPages:
    """Router that registers each page for projects and for groups."""

    def __init__(self) -> None:
        self.pages = PageRoutes()

    def get(self, path: str, *, open: bool = False, slashes: str = "") -> Callable[[ContextHandler], ContextHandler]:
        """Register a GET page."""

        def declare(show: ContextHandler) -> ContextHandler:
            for start, find in _PREFIXES:
                self.pages.get(start + path, open=open, slashes=slashes)(_with_parent(find, show))
            return show

        return declare

    def form(
        self, method: str, path: str, *, notice: Notice = "", slashes: str = ""
    ) -> Callable[[ContextHandler], ContextHandler]:
        """Register a form action."""

        def declare(act: ContextHandler) -> ContextHandler:
            for start, find in _PREFIXES:
                getattr(self.pages, method)(start + path, notice=notice, slashes=slashes)(_with_parent(find, act))
            return act

        return declare


def _with_parent(
    find: Callable[[Visit], ProjectOrGroupContext], act: ContextHandler
) -> Callable[[Visit], PageResponse]:
    return lambda visit: act(find(visit))


def planning_page(
    parent: ProjectOrGroupContext, template: str, tab: str, context: dict[str, object], status: int = 200
) -> TemplateResponse:
    """Render a template in the layout of the project or group."""
    layout = "project.html" if isinstance(parent, ProjectContext) else "issues/group.html"
    # In a project, planning pages belong to the Issues tab.
    return parent.page(
        template, "issues" if isinstance(parent, ProjectContext) else tab, {"layout": layout, **context}, status
    )
