"""Ratings -> statistic: how far raters concur.

One statistic a file, a pure function on ordered labels; missing votes are missing, never 0.
"""
