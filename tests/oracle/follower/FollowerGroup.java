package io.evenkeel;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Members of groups on real brokers, many in one JVM: told on standard input what to do, a line each.
 *
 * {@code start} a member, {@code stop} some at once, let one {@code rebalance} its group, say what each has ({@code owned}).
 */
public final class FollowerGroup {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, Member> MEMBERS = new TreeMap<>();
    /** Group and partition to who has it, as the listeners have heard. */
    private static final Map<String, String> OWNERS = new ConcurrentHashMap<>();
    private static final List<String> TROUBLES = new ArrayList<>();

    private FollowerGroup() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err); // a log line must not stand among the answers
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.print(JSON.writeValueAsString(answer(JSON.readTree(line))) + "\n");
            out.flush();
        }
        System.exit(0); // whoever asks is gone
    }

    private static Map<String, Object> answer(JsonNode asked) throws InterruptedException {
        String name = asked.path("name").asText();
        switch (asked.get("ask").asText()) {
            case "start":
                Member member = new Member(name, asked);
                MEMBERS.put(name, member);
                member.start();
                break;
            case "stop":
                List<Member> leaving = new ArrayList<>();
                asked.get("names").forEach(each -> leaving.add(MEMBERS.remove(each.asText())));
                leaving.forEach(each -> each.ending = true);
                for (Member each : leaving) {
                    each.join();
                }
                break;
            case "rebalance":
                MEMBERS.get(name).rebalance = true;
                break;
            default:
        }
        Map<String, Object> owned = new TreeMap<>();
        MEMBERS.forEach((each, member) -> owned.put(each, member.owned));
        synchronized (TROUBLES) {
            List<String> troubles = new ArrayList<>(TROUBLES);
            TROUBLES.clear(); // each is told once
            return Map.of("owned", owned, "troubles", troubles);
        }
    }

    private static void trouble(String what) {
        synchronized (TROUBLES) {
            TROUBLES.add(what);
        }
    }

    private static final class Member extends Thread implements ConsumerRebalanceListener {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final List<String> topics = new ArrayList<>();
        private final String group;
        private volatile List<List<Object>> owned = List.of();
        private volatile boolean ending;
        private volatile boolean rebalance;

        Member(String name, JsonNode asked) {
            super(name);
            Properties configs = new Properties();
            asked.get("configs").fields().forEachRemaining(one -> configs.put(one.getKey(), one.getValue().asText()));
            configs.put("key.deserializer", ByteArrayDeserializer.class);
            configs.put("value.deserializer", ByteArrayDeserializer.class);
            group = configs.getProperty("group.id");
            asked.get("topics").forEach(one -> topics.add(one.asText()));
            consumer = new KafkaConsumer<>(configs);
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                consumer.subscribe(topics, this);
                while (!ending) {
                    if (rebalance) {
                        rebalance = false;
                        consumer.enforceRebalance();
                    }
                    consumer.poll(Duration.ofMillis(50));
                    List<List<Object>> now = new ArrayList<>();
                    consumer.assignment().forEach(one -> now.add(List.of(one.topic(), one.partition())));
                    owned = now;
                }
            } catch (RuntimeException problem) {
                trouble(getName() + ": " + problem);
            } finally {
                consumer.close();
            }
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            for (TopicPartition one : partitions) {
                String other = OWNERS.put(group + " " + one, getName());
                if (other != null && !other.equals(getName())) {
                    trouble(getName() + " got " + one + " while " + other + " had it");
                }
            }
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            partitions.forEach(one -> OWNERS.remove(group + " " + one, getName()));
        }
    }
}
