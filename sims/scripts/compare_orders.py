"""Which order of a queue is better on the same random failures, by how much, and how surely?"""

import holdfast

table = holdfast.compare(
    holdfast.example("batch-rigid"),
    {"policy.order": ["LPT", "SPT", "HPA", "RANDOM"]},
    runs=20,
)
print(table)
table.plot("compare_orders.svg")
