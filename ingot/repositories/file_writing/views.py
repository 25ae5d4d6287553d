"""What is shown of a file that was written."""

from ingot.core.api.views import View


class WrittenFileView(View):
    """Which file, and where."""

    file_name: str
    file_path: str
    branch: str


def written_file_view(path: str, branch: str) -> WrittenFileView:
    """A file by its path."""
    return WrittenFileView(path.rpartition("/")[2], path, branch)
