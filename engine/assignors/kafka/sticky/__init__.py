"""
The core of Kafka's sticky assignors (`AbstractStickyAssignor` of Kafka 4.3), cut into its ideas.

`owned` reads what members say they own, `rack_info` when racks matter. `choose` takes `constrained` for a group whose
members all subscribe to the same (ConstrainedAssignmentBuilder), `general` for all others (GeneralAssignmentBuilder);
`plan` holds what comes out. `constrained` hands out by `unfilled`. `general` knows `potential_consumers`, keeps a
`current_assignment`, fills it by `assign_unassigned`, and moves partitions of its `participants` by `reassignment`
while `balance` says so, `partition_movements` remembering which.
"""
