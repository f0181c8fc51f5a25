"""Running a program that somebody else wrote: where it may run, for how long, and what it may say."""

from deliberate.sandbox._process import ProcessRunner

__all__ = ["ProcessRunner"]
