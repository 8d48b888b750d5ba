"""Kafka's own classes asked the same questions: random groups, both answers side by side."""
