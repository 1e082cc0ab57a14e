"""Decides which workers get how many tasks of an iterative job, and when that changes
(volatile13)."""

from actors.deciders.enrolment.decider import EnrolmentDecider

__all__ = ["EnrolmentDecider"]
