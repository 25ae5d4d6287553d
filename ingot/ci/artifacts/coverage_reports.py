"""Covered lines of the files that a merge request changes, from the coverage reports of its pipeline."""

from collections.abc import Collection, Iterable, Iterator

from ingot.ci.artifacts.reports.cobertura import CoberturaReport, parse_cobertura
from ingot.ci.artifacts.reports.content import InvalidReport
from ingot.ci.artifacts.store import ArtifactStore
from ingot.ci.artifacts.tables import JobArtifact

CoveredLines = dict[str, dict[int, int]]
"""Number of executions by path and line."""


def read_coverage(
    store: ArtifactStore, artifacts: Iterable[JobArtifact], project_path: str, paths: Collection[str]
) -> tuple[CoveredLines, int, int]:
    """Return the lines of the given paths, and the numbers of covered and of all lines of the reports."""
    changed: CoveredLines = {}
    covered = total = 0
    for report in _readable_reports(store, artifacts):
        for name, lines in report.files.items():
            covered += sum(hits > 0 for hits in lines.values())
            total += len(lines)
            path = next((each for each in _candidates(name, report.sources, project_path) if each in paths), None)
            if path is not None:
                merged = changed.setdefault(path, {})
                for number, hits in lines.items():
                    merged[number] = merged.get(number, 0) + hits
    return changed, covered, total


def _readable_reports(store: ArtifactStore, artifacts: Iterable[JobArtifact]) -> Iterator[CoberturaReport]:
    for artifact in artifacts:
        try:
            with store.open(artifact.storage_key) as file:
                yield parse_cobertura(file, artifact.file_format)
        except (FileNotFoundError, InvalidReport):  # Other reports of the pipeline are still shown.
            continue


def _candidates(name: str, sources: Iterable[str], project_path: str) -> Iterator[str]:
    """Yield the paths in the repository that a file name of a report may stand for."""
    yield name.removeprefix("./")
    for source in (name.rpartition("/")[0], *sources):
        _, inside, folder = f"{source}/".partition(f"/{project_path}/")
        if inside:
            yield f"{folder}{name.rpartition('/')[2] if name.startswith('/') else name}"
