"""Pictures, drawn from logs and tables after the fact; needs `pip install 'holdfast[plot]'`."""
