package io.evenkeel;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Configurable;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * A member that tells its leader something as user data, JSON in UTF-8, here what its setting {@code telling.says} has;
 * and a leader that assigns by what all have told. One strategy by weight, one by the racks of leaders.
 */
public abstract class TellingAssignor implements ConsumerPartitionAssignor, Configurable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private String says;

    @Override
    public void configure(Map<String, ?> configs) {
        says = String.valueOf(configs.get("telling.says"));
    }

    @Override
    public ByteBuffer subscriptionUserData(Set<String> topics) {
        return ByteBuffer.wrap(says.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public GroupAssignment assign(Cluster cluster, GroupSubscription group) {
        Map<String, Subscription> members = new TreeMap<>(group.groupSubscription());
        Map<String, JsonNode> told = new HashMap<>();
        Map<String, List<TopicPartition>> given = new HashMap<>();
        Set<String> topics = new TreeSet<>();
        members.forEach((member, sent) -> {
            told.put(member, read(sent.userData()));
            given.put(member, new ArrayList<>());
            topics.addAll(sent.topics());
        });
        for (String topic : topics) {
            List<PartitionInfo> partitions = new ArrayList<>(cluster.partitionsForTopic(topic));
            partitions.sort(Comparator.comparingInt(PartitionInfo::partition));
            for (PartitionInfo one : partitions) {
                String taker = members.keySet().stream()
                        .filter(member -> members.get(member).topics().contains(topic))
                        .min(Comparator.comparingDouble(
                                member -> cost(told.get(member), given.get(member).size(), one)))
                        .orElseThrow();
                given.get(taker).add(new TopicPartition(topic, one.partition()));
            }
        }
        Map<String, Assignment> answer = new HashMap<>();
        given.forEach((member, own) -> answer.put(member, new Assignment(own)));
        return new GroupAssignment(answer);
    }

    /** What it costs to give a partition to a member that has {@code owned}: the least takes it, of several the first by id. */
    abstract double cost(JsonNode told, int owned, PartitionInfo partition);

    private static JsonNode read(ByteBuffer sent) {
        try {
            return JSON.readTree(StandardCharsets.UTF_8.decode(sent).toString());
        } catch (JsonProcessingException problem) {
            throw new IllegalStateException(problem);
        }
    }

    /** A member of weight 2 gets twice as many. */
    public static final class Weighted extends TellingAssignor {
        @Override
        public String name() {
            return "weighted";
        }

        @Override
        double cost(JsonNode told, int owned, PartitionInfo partition) {
            return (owned + 1) / told.path("weight").asDouble(1);
        }
    }

    /** To members in the rack of the partition's leader. */
    public static final class LeaderRack extends TellingAssignor {
        @Override
        public String name() {
            return "leader-rack";
        }

        @Override
        double cost(JsonNode told, int owned, PartitionInfo partition) {
            boolean beside = told.path("rack").asText().equals(partition.leader().rack());
            return owned + (beside ? 0 : 1e9);
        }
    }
}
