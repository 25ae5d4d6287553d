"""Control of a server for tests of other programs: reset, seed, clock, faults, recorded requests and webhooks."""
