"""The search for pairs of context and property: the paper's level-wise one, and a guided one.

Attributes of a population, the object's properties and conditions, contexts, exact scores,
exhaustive and guided search (beam search after a screen), shortlists, reference rows. May import:
table, method.
"""
