"""Run many simulations, and compare their results in a table and a figure.

    from sims.campaign.engine import execute
    from sims.campaign.file import load_campaign
    from sims.campaign.results import Store

    results = execute(load_campaign(Path("mine.toml")), store=Store(Path("results")))
    results.runs()                              # a row per run
    results.comparisons()                       # by cell: means, ratios, verdicts
    Table(results).frame()                      # the same as a frame (sims.campaign.tables)
    draw(results, Path("mine.png"))             # sims.campaign.picture

What is asked is one frozen `Question` (`question`): of what, varied how, measured by what, how
surely, where. A campaign file (`file`), the command line and Python each build it. `execute` runs
the missing runs on the cores of this machine or on any `concurrent.futures.Executor` (`executors`).
`asking`, `tuning` and `sensitivity` answer the three kinds of questions. `engine.run_many` runs
tasks that are no scenarios on the same executors.
"""
