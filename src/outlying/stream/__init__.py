"""Tables that outgrow memory: two passes over batches of rows, mergeable in any order.

The first (profile) counts, draws a sample and finds the rows that are asked for; the search runs on
the sample; the second (verify) computes what is reported from all rows. May import: everything
below results.
"""
