"""Projects without activity, which the instance deletes after a warning."""

from ingot.core.access.levels import Level
from ingot.projects.projects.inactive_projects import check_inactive_project, enqueue_inactive_projects
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, changed_settings, later, make_project
from tests.instance_settings import PATH

ON = {"delete_inactive_projects": True, "inactive_projects_delete_after_months": 3}


def _check(instance: Instance, project: Project) -> None:
    """Check one project: those of other tests are as inactive."""
    check_inactive_project(instance.app.database, project.id)


def _warnings(instance: Instance, address: str) -> int:
    return sum(f"To: {address}" in mail and "will be deleted" in mail for mail in instance.mails())


def test_maintainers_are_warned_before_the_deletion(api: Api, make: Make, instance: Instance) -> None:
    owner, developer = make.user(), make.user()
    project = make_project(make, owner, members={developer: Level.DEVELOPER})
    with changed_settings(make, **ON):
        _check(instance, project)
        assert _warnings(instance, owner.email) == 0
        with later(instance, days=31):
            for _ in range(2):
                _check(instance, project)
            assert (_warnings(instance, owner.email), _warnings(instance, developer.email)) == (1, 0)
        with later(instance, days=89):
            _check(instance, project)
            assert api.get(project.url, make.root).status_code == 200
        with later(instance, days=92):
            _check(instance, project)
    assert api.get(project.url, make.root).status_code == 404


def test_months_until_the_warning(make: Make, instance: Instance) -> None:
    owner = make.user()
    project = make_project(make, owner)
    with changed_settings(make, **ON, inactive_projects_send_warning_email_after_months=2):
        for days, warnings in ((45, 0), (65, 1)):
            with later(instance, days=days):
                _check(instance, project)
                assert _warnings(instance, owner.email) == warnings


def test_maintainers_are_warned_first_even_after_years(api: Api, make: Make, instance: Instance) -> None:
    owner = make.user()
    project = make_project(make, owner)
    with later(instance, days=700):
        _check(instance, project)
        with changed_settings(make, **ON, inactive_projects_min_size_mb=1):
            _check(instance, project)
            assert _warnings(instance, owner.email) == 0, "The repository is small."
        with changed_settings(make, **ON, deletion_adjourned_period=7):
            for days in (0, 61):
                with later(instance, days=days):
                    _check(instance, project)
    shown = api.get(project.url, make.root).json()
    assert shown["marked_for_deletion_on"] is not None, "It can be restored."


def test_the_check_is_enqueued_for_inactive_projects_only(make: Make, instance: Instance) -> None:
    make_project(make)
    instance.app.database.write(enqueue_inactive_projects)
    refused = make.api.put(PATH, make.root, inactive_projects_send_warning_email_after_months=2)
    assert list(refused.json()["message"]) == ["inactive_projects_send_warning_email_after_months"]
