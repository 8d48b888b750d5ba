"""The local cluster of the tests and the demo: real brokers and a workload on one machine."""
