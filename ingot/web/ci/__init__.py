"""Pages of CI: pipelines, jobs, artifacts, runners, schedules, environments and the lint."""
