"""The ground's database: engines, units of work, column types and the statement cache."""
