"""Tests of the job API."""
