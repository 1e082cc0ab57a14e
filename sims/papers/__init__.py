"""The papers' tables and figures, regenerated: `catalogue.toml` says what each is and what is
printed of it; a folder for each paper has campaign files, and its module what no file can say."""
