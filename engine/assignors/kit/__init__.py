"""
What several strategies share, one idea per file; nothing here is a strategy. What only one strategy uses lives with it.

* Java's collection orders: `java_order` (strings, maps, sets, UUIDs), `orders` and `permute` (orders as arrays),
  `member_order` (Kafka's MemberInfo)
* who subscribes to what: `subscribers`, `subscription_type`; which racks are near: `racks`
* `sticky`: the plan of `sticky` and `cooperative-sticky`, Kafka's AbstractStickyAssignor
* `uniform`: Kafka's server-side assignor of that name, by whose counts `racks-server` goes
* `raw_assignment`: the lists that a class of Kafka would send, and what is wrong with them
* `settle`: a group through its rebalances until nothing is transferring
* least cost: `flow` (OR-Tools, and the rule for ties), `rack_flow` (KIP-925's network of tasks and racks, for Streams
  too) and `min_cost` (the same for plain groups);
  `least_cost_flow` (where the order of arcs decides ties, as in our assignor for brokers)
* election: `protocol_names` and `election`
* tools: `distinct` numbers, `compiled` loops
"""
