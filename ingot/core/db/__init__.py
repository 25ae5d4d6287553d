"""Database access: engines, transactions, column types, paging and the statement cache."""
