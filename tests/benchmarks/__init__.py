"""How long strategies take beside Kafka's own classes, on the same groups in one run; nothing asserts a time."""
