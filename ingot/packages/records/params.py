"""Request parameters of packages."""

from typing import Literal

from ingot.core.api.params import Params
from ingot.packages.records.tables import PackageStatus, PackageType

SortOrder = Literal["asc", "desc"]


class PackageFilters(Params):
    """Filters of lists of packages."""

    sort: SortOrder = "asc"
    package_type: PackageType | None = None
    package_name: str | None = None
    package_version: str | None = None
    include_versionless: bool = False
    status: PackageStatus | None = None


class ListPackages(PackageFilters):
    """Filters and order of the list of a project's packages."""

    order_by: Literal["created_at", "name", "version", "type"] = "created_at"


class ListGroupPackages(PackageFilters):
    """Filters and order of the list of a group's packages."""

    order_by: Literal["created_at", "name", "version", "type", "project_path"] = "created_at"
    exclude_subgroups: bool = False


class ListPackageFiles(Params):
    """Order of the list of a package's files."""

    order_by: Literal["id", "file_name", "created_at"] = "id"
    sort: SortOrder = "asc"
