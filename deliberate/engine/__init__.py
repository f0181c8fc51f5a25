"""Sessions: many cases, limits, budget, resume.

``session`` owns everything an evaluation needs; ``calls`` holds the functions a script awaits.
"""

from deliberate.engine._providers import open_provider
from deliberate.engine.calls import evaluate, judge
from deliberate.engine.estimate import Code, Estimate
from deliberate.engine.session import Session
from deliberate.engine.stream import Stream

__all__ = ["Code", "Estimate", "Session", "Stream", "evaluate", "judge", "open_provider"]
