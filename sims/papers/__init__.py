"""The papers' tables and figures, regenerated: a folder for each paper, with a campaign file for
each table or figure, and what a file can't say: scenarios, views, printed values."""
