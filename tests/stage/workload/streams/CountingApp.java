import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.processor.StateRestoreListener;

/**
 * Two small Kafka Streams applications, each as two instances of two threads, in one JVM: four JVMs
 * would take four times the memory, and to the brokers it makes no difference (an instance is a
 * process id, and every KafkaStreams object has one of its own).
 *
 * Arguments: bootstrap servers, state directory, then one or two of
 * application id : topic : protocol (classic or streams), where only one of the instances is to run
 * followed by : its number. A file of settings that the system property {@code settings} names stands
 * in the place of those that are usual here with the classic protocol.
 */
public class CountingApp {
    private static final String[] RACKS = {"rack-a", "rack-b"};

    public static void main(String[] args) throws Exception {
        List<KafkaStreams> running = new ArrayList<>();
        for (int i = 2; i < args.length; i++) {
            String[] app = args[i].split(":");
            int only = app.length > 3 ? Integer.parseInt(app[3]) : 0;
            int last = only > 0 ? only : RACKS.length;
            for (int instance = Math.max(1, only); instance <= last; instance++) {
                String name = app[0] + "-" + instance;
                KafkaStreams streams =
                    new KafkaStreams(topology(app[1]), settings(args[0], args[1], app, instance));
                // The parent process reads these lines.
                streams.setStateListener((now, before) -> System.out.println("STATE " + name + " " + now));
                streams.setGlobalStateRestoreListener(telling(name));
                streams.start();
                running.add(streams);
            }
        }
        // The virtual machine waits for its shutdown hooks, which run at the same time.
        for (KafkaStreams streams : running) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> leave(streams)));
        }
        new CountDownLatch(1).await();
    }

    /** A line for each store that is restored: instance, thread, partition of its changelog, records, begin, end. */
    private static StateRestoreListener telling(String name) {
        Map<TopicPartition, Long> began = new ConcurrentHashMap<>();
        return new StateRestoreListener() {
            @Override
            public void onRestoreStart(TopicPartition log, String store, long first, long end) {
                began.put(log, System.currentTimeMillis());
            }

            @Override
            public void onBatchRestored(TopicPartition log, String store, long last, long count) {}

            @Override
            public void onRestoreEnd(TopicPartition log, String store, long records) {
                String thread = Thread.currentThread().getName();
                System.out.println("RESTORED " + name + " " + thread + " " + log.partition() + " " + records
                    + " " + began.get(log) + " " + System.currentTimeMillis());
            }
        };
    }

    private static void leave(KafkaStreams streams) {
        streams.close(CloseOptions.timeout(java.time.Duration.ofSeconds(20))
            .withGroupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP));
    }

    /** A change of key makes a second subtopology behind a repartition topic, the count a changelog. */
    private static org.apache.kafka.streams.Topology topology(String topic) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream(topic)
            .groupBy((key, value) -> value)
            .count(Materialized.as("counts"));
        return builder.build();
    }

    private static Properties settings(String bootstrap, String state, String[] app, int instance)
            throws IOException {
        Properties it = new Properties();
        it.put(StreamsConfig.APPLICATION_ID_CONFIG, app[0]);
        it.put(StreamsConfig.CLIENT_ID_CONFIG, app[0] + "-" + instance);
        it.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        it.put(StreamsConfig.STATE_DIR_CONFIG, state + "/" + app[0] + "-" + instance);
        it.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 2);
        it.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        it.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        // In memory: the jar of RocksDB is larger than all others together.
        it.put(StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG,
            "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers");
        it.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 100_000);
        it.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, -1);
        // Idle most of the time: this shares two cores with everything else.
        it.put(StreamsConfig.POLL_MS_CONFIG, 500);
        it.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 5_000);
        it.put("consumer.fetch.min.bytes", 100_000);
        it.put("consumer.fetch.max.wait.ms", 2_000);
        it.put("client.rack", RACKS[(instance - 1) % RACKS.length]);
        it.put("group.protocol", app[2]);
        String own = System.getProperty("settings");
        if (own != null) {
            try (Reader file = Files.newBufferedReader(Path.of(own))) {
                it.load(file);
            }
        } else if (app[2].equals("classic")) {
            it.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, 1);
            it.put(StreamsConfig.CLIENT_TAG_PREFIX + "zone", RACKS[instance - 1]);
            it.put(StreamsConfig.RACK_AWARE_ASSIGNMENT_TAGS_CONFIG, "zone");
            it.put(StreamsConfig.RACK_AWARE_ASSIGNMENT_STRATEGY_CONFIG, "min_traffic");
        }
        return it;
    }
}
