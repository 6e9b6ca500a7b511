"""Which rows are odd: feature bagging (Lazarevic & Kumar 2005), other detectors, given scores.

May import: everything but cli and paper.
"""
