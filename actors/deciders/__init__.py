"""What schedulers decide, one folder a kind of decider: its books and how it asks its policies."""
