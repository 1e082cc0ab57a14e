"""Agents: actors of a user's own in the world, which hear of events and act on workers and jobs.

`agent` has what they are made of; `user`, `adversary`, `autoscaler` and `operator` have one each,
`once` those of `holdfast chaos`.
"""
