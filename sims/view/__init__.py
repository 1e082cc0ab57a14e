"""One page that shows a log: self-contained, interactive; needs `pip install 'holdfast[view]'`."""
