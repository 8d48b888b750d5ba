package io.evenkeel;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.evenkeel.EvenkeelPlanAssignor.Followed;
import io.evenkeel.EvenkeelPlanAssignor.Plan;
import io.evenkeel.EvenkeelPlanAssignor.PlanError;
import io.evenkeel.EvenkeelPlanAssignor.Present;
import io.evenkeel.EvenkeelPlanAssignor.Rule;
import io.evenkeel.EvenkeelPlanAssignor.Told;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupAssignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigException;

/**
 * Asks Java's follower: a question per line on standard input, an answer per line on standard output, in order.
 *
 * {@code follow}: the rule alone, on a plan and the fallback's answer. {@code settle}: the assignor itself, called with
 * a group until nobody has to give up anything. What it warns of goes to standard error, as log4j writes it.
 */
public final class FollowerOracle {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int MOST_ROUNDS = 40;

    private FollowerOracle() {}

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err); // a log line must not stand among the answers
        Map<String, EvenkeelPlanAssignor> kept = new HashMap<>();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.print(JSON.writeValueAsString(answer(JSON.readTree(line), kept)) + "\n");
            out.flush();
        }
    }

    private static Map<String, Object> answer(JsonNode asked, Map<String, EvenkeelPlanAssignor> kept) {
        try {
            switch (asked.get("ask").asText()) {
                case "follow":
                    return follow(asked);
                case "join":
                    return join(asked);
                default:
                    return settle(asked, kept);
            }
        } catch (PlanError | ConfigException refused) {
            return Map.of("refused", refused.getMessage());
        } catch (RuntimeException problem) {
            return Map.of("error", problem.toString());
        }
    }

    private static Map<String, Object> follow(JsonNode asked) {
        Plan plan = Plan.read(Base64.getDecoder().decode(asked.get("plan").asText()));
        List<Present> present = new ArrayList<>();
        for (JsonNode one : asked.get("present")) {
            Told told = Told.read(Told.joining(texts(one.get("addresses")), null));
            present.add(new Present(
                one.get("member_id").asText(), text(one, "instance_id"), text(one, "client_id"),
                texts(one.get("topics")), pairs(one.get("owned")), told, List.of()));
        }
        Map<String, List<TopicPartition>> fallback = new HashMap<>();
        asked.get("fallback").fields().forEachRemaining(each -> fallback.put(each.getKey(), pairs(each.getValue())));
        Instant now = Instant.parse(asked.get("now").asText());
        Followed followed = Rule.follow(plan, asked.get("group").asText(), now, present, fallback);
        return Map.of(
            "assignment", shown(followed.assignment),
            "withheld", shown(Rule.withhold(followed.assignment, present)),
            "reasons", followed.reasons);
    }

    /** What a member sends along that was given something before. */
    private static Map<String, Object> join(JsonNode asked) {
        EvenkeelPlanAssignor assignor = new EvenkeelPlanAssignor();
        assignor.configure(configs(asked));
        assignor.onAssignment(new Assignment(pairs(asked.get("given"))), null);
        ByteBuffer sent = assignor.subscriptionUserData(Set.of());
        return Map.of("sent", StandardCharsets.UTF_8.decode(sent).toString());
    }

    private static Map<String, Object> configs(JsonNode asked) {
        Map<String, Object> configs = new HashMap<>();
        asked.get("configs").fields().forEachRemaining(each -> configs.put(each.getKey(), each.getValue().asText()));
        return configs;
    }

    /** An assignor of the same {@code keep} is the same object: what it has told, it has told. */
    private static Map<String, Object> settle(JsonNode asked, Map<String, EvenkeelPlanAssignor> kept) {
        Map<String, Object> configs = configs(asked);
        EvenkeelPlanAssignor assignor = kept.computeIfAbsent(asked.path("keep").asText(configs.toString()), any -> {
            EvenkeelPlanAssignor made = new EvenkeelPlanAssignor();
            made.configure(configs);
            return made;
        });
        Cluster cluster = cluster(asked.get("topics"));
        Map<String, Set<TopicPartition>> owned = new HashMap<>();
        asked.get("members").forEach(one -> owned.put(one.get("id").asText(), new HashSet<>(pairs(one.get("owned")))));
        Map<String, List<List<Object>>> first = null;
        for (int round = 1; round <= MOST_ROUNDS; round++) {
            Map<String, Subscription> members = new HashMap<>();
            asked.get("members").forEach(one -> members.put(one.get("id").asText(), subscription(one, owned)));
            GroupAssignment given = assignor.assign(cluster, new GroupSubscription(members));
            Map<String, List<TopicPartition>> last = new HashMap<>();
            given.groupAssignment().forEach((member, own) -> last.put(member, own.partitions()));
            first = first == null ? shown(last) : first;
            if (!changes(given, owned)) {
                Map<String, String> told = new HashMap<>();
                given.groupAssignment().forEach((member, own) ->
                    told.put(member, StandardCharsets.UTF_8.decode(own.userData()).toString()));
                return Map.of("rounds", round, "first", first, "assignment", shown(last), "told", told);
            }
        }
        return Map.of("error", "it does not settle");
    }

    /** Takes over what was given; says whether anybody had to give up something, who then joins again. */
    private static boolean changes(GroupAssignment given, Map<String, Set<TopicPartition>> owned) {
        Set<TopicPartition> added = new HashSet<>();
        Set<TopicPartition> revoked = new HashSet<>();
        owned.replaceAll((member, had) -> {
            Set<TopicPartition> has = new HashSet<>(given.groupAssignment().get(member).partitions());
            has.stream().filter(one -> !had.contains(one)).forEach(added::add);
            had.stream().filter(one -> !has.contains(one)).forEach(revoked::add);
            return has;
        });
        Set<TopicPartition> both = new HashSet<>(added);
        both.retainAll(revoked);
        if (!both.isEmpty()) { // for this the client would end the rebalance
            throw new IllegalStateException("given away while another claims it: " + both);
        }
        return !revoked.isEmpty();
    }

    private static Subscription subscription(JsonNode one, Map<String, Set<TopicPartition>> owned) {
        String sent = one.path("user_data").asText("");
        Subscription subscription = new Subscription(
            texts(one.get("topics")),
            sent.isEmpty() ? null : ByteBuffer.wrap(sent.getBytes(StandardCharsets.UTF_8)),
            new ArrayList<>(owned.get(one.get("id").asText())),
            one.path("generation").asInt(1),
            Optional.ofNullable(text(one, "rack")));
        subscription.setGroupInstanceId(Optional.ofNullable(text(one, "instance_id")));
        return subscription;
    }

    private static Cluster cluster(JsonNode topics) {
        Node node = new Node(1, "broker", 9092);
        List<PartitionInfo> partitions = new ArrayList<>();
        topics.fields().forEachRemaining(each -> {
            for (int number = 0; number < each.getValue().asInt(); number++) {
                partitions.add(new PartitionInfo(each.getKey(), number, node, new Node[] {node}, new Node[] {node}));
            }
        });
        return new Cluster("oracle", List.of(node), partitions, Set.of(), Set.of());
    }

    private static Map<String, List<List<Object>>> shown(Map<String, List<TopicPartition>> assignment) {
        Map<String, List<List<Object>>> shown = new TreeMap<>();
        assignment.forEach((member, own) ->
            shown.put(member, own.stream().map(one -> List.<Object>of(one.topic(), one.partition())).toList()));
        return shown;
    }

    private static String text(JsonNode one, String key) {
        return one.hasNonNull(key) ? one.get(key).asText() : null;
    }

    private static List<String> texts(JsonNode list) {
        List<String> texts = new ArrayList<>();
        list.forEach(one -> texts.add(one.asText()));
        return texts;
    }

    private static List<TopicPartition> pairs(JsonNode list) {
        List<TopicPartition> pairs = new ArrayList<>();
        list.forEach(one -> pairs.add(new TopicPartition(one.get(0).asText(), one.get(1).asInt())));
        return pairs;
    }
}
