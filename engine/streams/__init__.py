"""
Kafka Streams: tasks placed on clients, near their data, without moving more than pays.

Read it in this order: `model` (tasks, clients and answers as integers).
"""
