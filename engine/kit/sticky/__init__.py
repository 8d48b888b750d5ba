"""
The core of Kafka's sticky assignors (`AbstractStickyAssignor` of Kafka 4.3), cut into its ideas.

`past` reads what members say they own, `racks` when racks matter. `choose` takes `constrained` for a group whose
members all subscribe to the same, `general` for all others; `plan` holds what comes out. The others are steps of these
two.
"""
