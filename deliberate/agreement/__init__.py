"""Ratings -> statistic: how far raters concur.

One statistic a file, a pure function on ordered labels; missing votes are missing, never 0. A statistic gives a number,
or None where it is undefined; ``measure`` gives the number with all that must be said with it: n, missing votes, the
tie rule and an interval. Rules for whoever adds one: say in ``@statistic`` what it is at perfect agreement and at
chance; give its *plan* (``_plan``), so that intervals come by themselves; import numpy inside functions.
"""

from deliberate.agreement._measure import Measured, measure, sampled
from deliberate.agreement._pairs import pairwise_kappa
from deliberate.agreement._statistic import Facts, facts_of

__all__ = ["Facts", "Measured", "facts_of", "measure", "pairwise_kappa", "sampled"]
