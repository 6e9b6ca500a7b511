"""Answers and words: frozen values that can be pickled, stored and sent; none of them computes.

Assembly of findings, findings and pairs, stories, detections, notes, wording, the JSON contract.
May import: table, method, search.
"""
