"""
What several strategies share, one idea per file; nothing here is a strategy. What only one strategy uses lives with it.

* Java's collection orders: `java_order` (strings, maps, sets, UUIDs)
* `orders`: orders as arrays, distinct numbers; `members`: Kafka's orders of members and topics, who subscribes to what
* `settle`: a group through its rebalances until nothing is transferring
* `kernels`: loops that may be compiled
"""
