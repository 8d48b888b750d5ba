// A consumer of franz-go that joins a group and does what its coordinator says: `leader ADDRESS STRATEGY`.
package main

import (
	"context"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	balancer := map[string]kgo.GroupBalancer{
		"range":              kgo.RangeBalancer(),
		"roundrobin":         kgo.RoundRobinBalancer(),
		"sticky":             kgo.StickyBalancer(),
		"cooperative-sticky": kgo.CooperativeStickyBalancer(),
	}[os.Args[2]]
	client, err := kgo.NewClient(
		kgo.SeedBrokers(os.Args[1]),
		kgo.ConsumerGroup("evenkeel-test-oracle"),
		kgo.ConsumeTopics("evenkeel-test-oracle"),
		kgo.Balancers(balancer),
	)
	if err != nil {
		panic(err)
	}
	for parent := os.Getppid(); os.Getppid() == parent; {
		soon, cancel := context.WithTimeout(context.Background(), time.Second)
		client.PollFetches(soon)
		cancel()
	}
}
