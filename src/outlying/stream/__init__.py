"""Tables that outgrow memory: two passes over batches of rows, mergeable in any order.

The first (profile) draws a sample, on which the search runs; the second (verify) computes what is
reported from all rows.
"""
