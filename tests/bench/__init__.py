"""Tests of the parts of the benchmarks that decide or compute something; ``make bench`` runs them as a whole."""
