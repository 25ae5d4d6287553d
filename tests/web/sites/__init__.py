"""Tests of the pages about static sites."""
