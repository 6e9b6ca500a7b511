"""Answers and words: frozen values that can be pickled, stored and sent.

May import: table, method, search.
"""
