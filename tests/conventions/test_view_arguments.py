"""Arguments that response structs get by position: each must fill its own field.

Positions are faster than keywords (2 instead of 57 µs for a project), but neither a type checker nor most tests notice
two exchanged booleans.
"""

import ast

from tests.conventions.view_arguments import ViewCall, fit, view_calls

# Arguments whose names do not tell which field they fill; a changed one is compared with its field by hand.
EXPRESSIONS = {
    "AttachmentLinkView.url": {"path"},
    "CommitDetailView.created_at": {"committed"},
    "CommitDetailView.id": {"oid"},
    "CommitDetailView.parent_ids": {"list(commit.parents)"},
    "CommitDetailView.short_id": {"oid[:_SHORT_OID_LENGTH]"},
    "CommitView.created_at": {"committed"},
    "CommitView.id": {"oid"},
    "CommitView.parent_ids": {"list(commit.parents)"},
    "CommitView.short_id": {"oid[:_SHORT_OID_LENGTH]"},
    "ContainerTagDetails.path": {"f'{path}:{tag.name}'"},
    "ContainerTagView.path": {"f'{path}:{tag.name}'"},
    "DetailedStatusView.tooltip": {"label"},
    "ExportLinks.web_url": {"f'{base}/{project.full_path}/-/settings/export/download'"},
    "FailureView.exception_message": {"reason"},
    "FoundFileView.filename": {"path"},
    "GroupStatisticsView.storage_size": {"sum(used)"},
    "ImportedProjectView.refs_url": {"f'/{project.full_path}/refs'"},
    "InstanceDeployKeyView.projects_with_write_access": {"views(key, True)"},
    "IssueLinksView.self_": {"url"},
    "JobArtifactRequest.when": {"'always'"},
    "JobImage.ports": {"[]"},
    "JobProcessView.pid": {"os.getpid()"},
    "JobProcessView.queues": {"['default']"},
    "JobProcessView.tag": {"'ingot'"},
    "JobService.ports": {"[]"},
    "JobService.variables": {"[{'key': str(key), 'value': str(value)} for key, value in pa"},
    "JobStep.when": {"'always'", "'on_success'"},
    "KeyView.usage_type": {"'auth_and_signing'"},
    "KeyWithUserView.deploy_keys_projects": {"links"},
    "KeyWithUserView.usage_type": {"'auth_and_signing'"},
    "ListedCommitView.created_at": {"committed"},
    "ListedCommitView.id": {"oid"},
    "ListedCommitView.parent_ids": {"list(commit.parents)"},
    "ListedCommitView.short_id": {"oid[:_SHORT_OID_LENGTH]"},
    "MergeRefusalView.message": {"'405 Method Not Allowed'", "'406 Not Acceptable'"},
    "MergeRequestDetailView.has_conflicts": {"merge_request.state == 'opened' and mergeability == 'conflic"},
    "MergeRequestDetailView.reference": {"short"},
    "MergeRequestDetailView.references": {"ReferencesView(short, short, f'{target.path}{short}')"},
    "MergeRequestDetailView.sha": {"merge_request.head_oid"},
    "MergeRequestDetailView.work_in_progress": {"draft"},
    "MergeRequestView.has_conflicts": {"merge_request.state == 'opened' and mergeability == 'conflic"},
    "MergeRequestView.reference": {"short"},
    "MergeRequestView.references": {"ReferencesView(short, short, f'{target.path}{short}')"},
    "MergeRequestView.sha": {"merge_request.head_oid"},
    "MergeRequestView.work_in_progress": {"draft"},
    "ProjectLinksView.labels": {"f'{url}/labels'"},
    "ProjectLinksView.members": {"f'{url}/members'"},
    "ProjectLinksView.repo_branches": {"f'{url}/repository/branches'"},
    "ProjectLinksView.self": {"url"},
    "ProjectView.shared_with_groups": {"[SharedGroupView(share.group_id, share.group_name, share.gro"},
    "ProjectView.tag_list": {"topics"},
    "ProjectView.web_url": {"f'{urls.base}/{path}'"},
    "PushDataView.before": {"push.commit_from or NO_OID"},
    "ReferencesView.relative": {"short"},
    "RelationBatchView.status": {"number"},
    "RelationExportView.status": {"number"},
    "RunnerDetailsView.is_shared": {"runner.runner_type == 'instance_type'"},
    "RunnerDetailsView.paused": {"not runner.active"},
    "RunnerDetailsView.tag_list": {"tags_of_runner(runner)"},
    "RunnerView.paused": {"not runner.active"},
    "SimpleProjectView.web_url": {"f'{urls.base}/{path}'"},
    "SourceUserView.source_user_identifier": {"each.source_key"},
    "StatusView.availability": {"'not_set'"},
    "StatusView.emoji": {"'speech_balloon'"},
    "TaskCompletionView.count": {"total"},
    "TestReportView.total_time": {"seconds"},
    "TestSuiteSummaryView.total_time": {"seconds"},
    "TestSuiteView.total_time": {"seconds"},
    "TestTotalsView.time": {"seconds"},
    "UserCountsView.assigned_merge_requests": {"assigned"},
    "UserCountsView.merge_requests": {"assigned"},
}


def _text(argument: ast.expr) -> str:
    return ast.unparse(argument)[:60]


def _is_listed(call: ViewCall, field: str, argument: ast.expr) -> bool:
    return _text(argument) in EXPRESSIONS.get(f"{call.view.__name__}.{field}", ())


def test_arguments_fill_the_fields_that_they_name() -> None:
    """No two arguments fit the fields of each other as well as their own, unless one is listed."""
    exchangeable = set()
    for call in view_calls():
        for (field, argument), (other_field, other) in call.pairs():
            own = fit(argument, field) + fit(other, other_field)
            listed = _is_listed(call, field, argument) or _is_listed(call, other_field, other)
            if own <= fit(argument, other_field) + fit(other, field) and not listed:
                exchangeable.add((call.place, call.view.__name__, field, other_field))
    assert exchangeable == set()


def test_listed_expressions_are_used() -> None:
    passed = {
        (f"{call.view.__name__}.{field}", _text(argument))
        for call in view_calls()
        for field, argument in zip(call.view.__struct_fields__, call.arguments, strict=False)
    }
    assert {(field, each) for field, texts in EXPRESSIONS.items() for each in texts} - passed == set()


def test_starred_arguments_are_known() -> None:
    """``view_arguments.py`` names their values, unless they are a tuple in the same module."""
    starred = [
        (call.place, ast.unparse(argument))
        for call in view_calls()
        for argument in call.arguments
        if isinstance(argument, ast.Starred)
    ]
    assert starred == []
    assert [call.place for call in view_calls() if len(call.arguments) > len(call.view.__struct_fields__)] == []
