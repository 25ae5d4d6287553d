"""Building blocks of every package: endpoint kernel, HTTP, database, jobs, events, access, outgoing requests."""
