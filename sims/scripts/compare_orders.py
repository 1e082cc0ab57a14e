"""Compare two orders of a queue on the same random failures: which is better, by how much, and how
surely."""

import holdfast

table = holdfast.compare(
    holdfast.example("batch-rigid"),
    {"policy.order": ["LPT", "SPT", "HPA", "RANDOM"]},
    runs=20,
)
print(table)
table.plot("compare_orders.svg")
