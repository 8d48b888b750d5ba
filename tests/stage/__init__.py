"""The demo's stage, a program of its own: brokers, a workload and all services on one machine."""
