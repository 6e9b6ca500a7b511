"""Answers and words: frozen values that can be pickled, stored and sent; none of them computes.

Assembly of findings; pairs, stories and their culprits, patterns of many rows, detections; notes,
wording in the terms of who asked, the JSON contract and its schema.
May import: table, method, search.
"""
