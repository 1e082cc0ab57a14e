"""The documentation's site: `make docs` builds it of `pages/`, its pictures of logs included."""
