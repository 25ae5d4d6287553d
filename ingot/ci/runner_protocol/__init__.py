"""The protocol of runners: polls for jobs, traces and results."""
