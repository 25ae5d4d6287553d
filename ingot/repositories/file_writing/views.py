"""Response struct of a written file."""

from ingot.core.api.views import View


class WrittenFileView(View):
    """Path and branch of a written file."""

    file_name: str
    file_path: str
    branch: str


def written_file_view(path: str, branch: str) -> WrittenFileView:
    """Return the view of a written file."""
    return WrittenFileView(path.rpartition("/")[2], path, branch)
