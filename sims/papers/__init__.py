"""The papers' tables and figures, regenerated: `catalogue.toml` says what each is and what the paper
prints; a folder for each paper has their campaign files, and its module what no file can say."""
