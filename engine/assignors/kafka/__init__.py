"""How Kafka assigns: the orders in which it walks, elections, names on the wire, and the cores of its strategies."""
