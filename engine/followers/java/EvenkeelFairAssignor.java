package io.evenkeel;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.TopicPartition;

/**
 * KIP-49's fair: each partition goes to the subscriber that owns fewest, the most constrained topics first.
 *
 * <p>Topics with fewest subscribers are dealt first, of those the ones with more partitions, then by name; of several
 * subscribers that own as few the first by member id takes it. The answers are those of evenkeel's {@code fair}, and of
 * the FairAssignor of the KIP's author, by whose name members list it: both may be in one group.
 *
 * <p>There is nothing to configure. It rebalances eagerly, looks at no rack and keeps nothing where it was. It needs
 * kafka-clients 3.5 or newer, Java 11 or newer, and nothing else.
 */
public class EvenkeelFairAssignor implements ConsumerPartitionAssignor {
    /** By this name members list it. */
    public static final String NAME = "fair";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public GroupAssignment assign(Cluster metadata, GroupSubscription group) {
        Map<String, TreeSet<String>> subscribers = new TreeMap<>();
        Map<String, List<TopicPartition>> given = new HashMap<>();
        group.groupSubscription().forEach((member, one) -> {
            given.put(member, new ArrayList<>());
            one.topics().forEach(topic -> subscribers.computeIfAbsent(topic, t -> new TreeSet<>()).add(member));
        });
        List<String> topics = new ArrayList<>(subscribers.keySet());
        topics.sort(Comparator.comparingInt((String topic) -> subscribers.get(topic).size())
            .thenComparing(topic -> size(metadata, topic), Comparator.reverseOrder())); // stable: then by name
        for (String topic : topics) {
            PriorityQueue<String> waiting = new PriorityQueue<>(
                Comparator.comparingInt((String member) -> given.get(member).size())
                    .thenComparing(Comparator.naturalOrder()));
            waiting.addAll(subscribers.get(topic));
            for (int number = 0; number < size(metadata, topic); number++) {
                String least = waiting.poll(); // what it owns is its place in line: out while that grows
                given.get(least).add(new TopicPartition(topic, number));
                waiting.add(least);
            }
        }
        Map<String, Assignment> assignments = new HashMap<>();
        given.forEach((member, own) -> assignments.put(member, new Assignment(Collections.unmodifiableList(own))));
        return new GroupAssignment(assignments);
    }

    /** How many partitions a topic has; a topic that is not there has none. */
    private static int size(Cluster metadata, String topic) {
        Integer count = metadata.partitionCountForTopic(topic);
        return count == null ? 0 : count;
    }
}
