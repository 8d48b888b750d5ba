package io.evenkeel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Configurable;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * KIP-169's lag-aware: topic by topic equal counts first, then the longest lag to who has least of it.
 *
 * <p>The partitions of a topic are dealt by falling lag, then by number; each goes to the subscriber with fewest
 * partitions of this topic, of those to the one with the least lag of this topic, of those to the first by member id.
 * The answers are those of evenkeel's {@code lag-aware}, and of the KIP's prototype, by whose name members list it: both
 * may be in one group.
 *
 * <p>Lag is the end of a partition less the group's commit, or less the log start where retention has passed that. A
 * partition without commit lags by nothing where {@code auto.offset.reset} is {@code latest}, and by all it holds where
 * it is anything else. The leader alone reads these offsets, once in each rebalance, with the settings of the
 * application, by a consumer of the same group that never joins it (KIP-169, "Obtaining Consumer Group Offsets").
 * Where they cannot be read within {@code evenkeel.lag.timeout.ms} no rebalance fails: all lags count as equal, so that
 * the counts are even still, and a warning says why.
 *
 * <p>It rebalances eagerly, looks at no rack and keeps nothing where it was. It needs kafka-clients 3.5 or newer, Java
 * 11 or newer, and nothing else.
 */
public class EvenkeelLagAwareAssignor implements ConsumerPartitionAssignor, Configurable {
    /** By this name members list it. */
    public static final String NAME = "lag";

    /** How long the leader may wait for the offsets, in milliseconds. */
    public static final String TIMEOUT_MS = "evenkeel.lag.timeout.ms";

    private static final Logger LOG = LoggerFactory.getLogger(EvenkeelLagAwareAssignor.class);

    private final Map<String, Object> configs = new HashMap<>();
    private boolean latest = true;
    private Duration patience = Duration.ofSeconds(5);

    /**
     * Takes the settings of the client, ours among them.
     *
     * @throws ConfigException Ours is no number of milliseconds above 0. That ends the application at its start.
     */
    @Override
    public void configure(Map<String, ?> client) {
        Object told = client.get(TIMEOUT_MS);
        try {
            patience = told == null ? patience : Duration.ofMillis(Long.parseLong(told.toString().trim()));
        } catch (NumberFormatException other) {
            patience = Duration.ZERO;
        }
        if (patience.isZero() || patience.isNegative()) {
            throw new ConfigException(TIMEOUT_MS + " is " + told + ": give milliseconds, 1 at least");
        }
        Object reset = client.get("auto.offset.reset");
        latest = reset == null || reset.toString().trim().equalsIgnoreCase("latest");
        client.forEach((key, value) -> {
            if (!key.startsWith("evenkeel.") && !key.startsWith("config.providers")) {
                configs.put(key, value);
            }
        });
        // what makes it a member, or is the application's alone
        configs.keySet().removeAll(Arrays.asList(
            "group.instance.id", "group.protocol", "group.remote.assignor", "interceptor.classes"));
        configs.put("partition.assignment.strategy", Collections.singletonList(RangeAssignor.class));
        configs.put("key.deserializer", ByteArrayDeserializer.class);
        configs.put("value.deserializer", ByteArrayDeserializer.class);
        configs.put("client.id", client.containsKey("client.id") ? client.get("client.id") + "-" + NAME : NAME);
        configs.put("metric.reporters", "");
        configs.put("enable.metrics.push", "false");
        configs.put("enable.auto.commit", "false");
        configs.put("allow.auto.create.topics", "false");
    }

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
        Map<String, List<TopicPartition>> partitions = new TreeMap<>();
        subscribers.keySet().forEach(topic -> partitions.put(topic, partitions(metadata, topic)));
        Set<TopicPartition> all = new HashSet<>();
        partitions.values().forEach(all::addAll);
        Map<TopicPartition, Long> lags = known(all);
        partitions.forEach((topic, own) -> deal(own, lags, subscribers.get(topic), given));
        Map<String, Assignment> assignments = new HashMap<>();
        given.forEach((member, own) -> assignments.put(member, new Assignment(own)));
        return new GroupAssignment(assignments);
    }

    private static List<TopicPartition> partitions(Cluster metadata, String topic) {
        Integer count = metadata.partitionCountForTopic(topic);
        List<TopicPartition> partitions = new ArrayList<>();
        for (int number = 0; count != null && number < count; number++) {
            partitions.add(new TopicPartition(topic, number));
        }
        return partitions;
    }

    /** Deals out one topic; its partitions stand by number. */
    private static void deal(
            List<TopicPartition> partitions, Map<TopicPartition, Long> lags, Collection<String> subscribers,
            Map<String, List<TopicPartition>> given) {
        Map<String, Long> count = new HashMap<>();
        Map<String, Long> total = new HashMap<>();
        PriorityQueue<String> waiting = new PriorityQueue<>(
            Comparator.comparing((String member) -> count.getOrDefault(member, 0L))
                .thenComparing(member -> total.getOrDefault(member, 0L))
                .thenComparing(Comparator.naturalOrder()));
        waiting.addAll(subscribers);
        List<TopicPartition> falling = new ArrayList<>(partitions);
        falling.sort(Comparator.comparing((TopicPartition one) -> lags.getOrDefault(one, 0L)).reversed()); // stable
        for (TopicPartition one : falling) {
            String least = waiting.poll(); // what it has is its place in line: out while that grows
            given.get(least).add(one);
            count.merge(least, 1L, Long::sum);
            total.merge(least, lags.getOrDefault(one, 0L), Long::sum);
            waiting.add(least);
        }
    }

    private Map<TopicPartition, Long> known(Set<TopicPartition> partitions) {
        try {
            return partitions.isEmpty() ? Collections.emptyMap() : lags(partitions);
        } catch (RuntimeException problem) { // nobody shall stand still for it
            LOG.warn("Group {}: lags cannot be read ({}); counts alone decide", configs.get("group.id"),
                String.valueOf(problem).replaceAll("\\p{C}|\\p{Zl}|\\p{Zp}", " "));
            return Collections.emptyMap();
        }
    }

    /**
     * By how many offsets the group lags in each of some partitions.
     *
     * @throws RuntimeException They cannot be told.
     */
    @SuppressWarnings("deprecation") // clients before 4.1 have no other way to close at once
    protected Map<TopicPartition, Long> lags(Set<TopicPartition> partitions) {
        long until = System.nanoTime() + patience.toNanos();
        KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(configs);
        try {
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, left(until));
            Map<TopicPartition, Long> begins = consumer.beginningOffsets(partitions, left(until));
            Map<TopicPartition, OffsetAndMetadata> commits = consumer.committed(partitions, left(until));
            Map<TopicPartition, Long> lags = new HashMap<>();
            for (TopicPartition one : partitions) {
                OffsetAndMetadata commit = commits.get(one);
                long end = ends.get(one);
                long from = commit != null ? Math.max(commit.offset(), begins.get(one)) : latest ? end : begins.get(one);
                lags.put(one, Math.max(end - from, 0L));
            }
            return lags;
        } finally {
            consumer.close(Duration.ZERO);
        }
    }

    private static Duration left(long until) {
        return Duration.ofNanos(Math.max(until - System.nanoTime(), 0L));
    }
}
