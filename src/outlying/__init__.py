"""Why is this row an outlier?"""
