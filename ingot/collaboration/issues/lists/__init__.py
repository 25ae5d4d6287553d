"""Lists of issues: filters, SQL statements, pages, totals, and the order by priority."""
