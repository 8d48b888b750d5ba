"""Real Kafka brokers on this machine, from jars alone."""
