"""Many simulations and what they tell: from one file to a table and a figure.

    from sims.campaign.campaign import load_campaign
    from sims.campaign.engine import execute
    from sims.campaign.results import Store

    results = execute(load_campaign(Path("mine.toml")), store=Store(Path("results")))
    results.runs()                              # a row per run
    results.comparisons()                       # by cell: means, ratios, verdicts
    Table(results).frame()                      # the same as a frame (sims.campaign.tables)
    draw(results, Path("mine.png"))             # sims.campaign.picture

`load_campaign` reads a campaign file (`Campaign` says what may stand in it), `execute` runs what is
missing on the cores of this machine or on any `concurrent.futures.Executor` (`executors`), and
`Results` answers: a frame, comparisons within each cell, a picture. `engine.run_many` runs tasks
that are no scenarios on what all of it runs on.
"""
