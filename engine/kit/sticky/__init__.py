"""
The core of Kafka's sticky assignors (`AbstractStickyAssignor` of Kafka 4.3), cut into its ideas.

`past` reads what members say they own, `racks` when racks matter; `constrained` plans for groups whose members all
subscribe to the same, `general` for all others; `plan` chooses between the two and holds what comes out.
"""
