"""Tests of faults: killed processes, full disks, clock changes, missing services."""
