"""Running a program that somebody else wrote: where it may run, for how long, and what it may say.

Read ``_tiers`` first, then ``_supervisor`` (what confines), ``_confined`` (one program, from its scratch folder to its
end) and ``_probe`` (what of it holds on this machine).
"""

from deliberate.sandbox._probe import Probed, probe
from deliberate.sandbox._runner import SandboxRunner
from deliberate.sandbox._tiers import TIERS, TierName

__all__ = ["TIERS", "Probed", "SandboxRunner", "TierName", "probe"]
