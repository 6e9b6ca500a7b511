"""What a detector puts first, and which rows it calls exceptional, on tables with known wrong rows.

python -m benchmarks.ranking --only groups users --half choose

Each suite makes tables whose wrong rows are known; a ranker scores all rows of a table; `metrics`
compares. Half of the tables are for choosing rules and constants, half only for reporting.
"""
