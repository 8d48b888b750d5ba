"""The assignors of other clients than Java's, asked about random groups, beside Kafka's."""
