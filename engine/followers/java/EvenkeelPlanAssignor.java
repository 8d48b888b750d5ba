package io.evenkeel;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Configurable;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.utils.Utils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives the members of a group what a plan of evenkeel says, and lets a strategy of the client decide the rest.
 *
 * <p>Beside this file stands how to configure it; one folder up what a plan is, and by which rule a group follows it.
 * It promises that
 * <ol>
 * <li>whatever is wrong with a plan, or with where it is read from, never fails a rebalance: the fallback decides;</li>
 * <li>in a cooperative group nobody gets what another member still claims (KIP-429);</li>
 * <li>the plan is read by the leader alone, once in each rebalance, and within {@code evenkeel.plan.timeout.ms};</li>
 * <li>each reason not to follow the plan is logged once, as a warning, until it changes; no credentials are.</li>
 * </ol>
 * It needs kafka-clients 3.5 or newer, Java 11 or newer, and nothing else.
 */
public class EvenkeelPlanAssignor implements ConsumerPartitionAssignor, Configurable {
    /** By this name the group elects to follow a plan; the followers in other languages have it, too. */
    public static final String NAME = "evenkeel-plan";

    /** Where the plan is: a path, a {@code file:} URI, an {@code https://} address or {@code topic:NAME}; required. */
    public static final String PLAN = "evenkeel.plan";

    /** What decides while there is no plan to read; one of {@link Fallback#NAMES}. */
    public static final String FALLBACK = "evenkeel.plan.fallback";

    /** The address by which brokers see this host, where it is none of its own; several with commas between them. */
    public static final String ADDRESS = "evenkeel.plan.address";

    /** How long the leader may wait for the plan, in milliseconds. */
    public static final String TIMEOUT_MS = "evenkeel.plan.timeout.ms";

    private static final Logger LOG = LoggerFactory.getLogger(EvenkeelPlanAssignor.class);

    private static final int LONGEST_REASON = 1_000;

    private Settings settings;
    private Set<String> told = Collections.emptySet();
    private String followed = "";
    private List<TopicPartition> had = Collections.emptyList();

    /**
     * Takes the settings of the client, ours among them.
     *
     * @throws ConfigException One of ours is missing or wrong. That ends the application at its start, as with any
     *     setting of the client; later nothing does.
     */
    @Override
    public void configure(Map<String, ?> configs) {
        settings = new Settings(configs);
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<RebalanceProtocol> supportedProtocols() {
        return Arrays.asList(RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER);
    }

    /** What the leader cannot see otherwise: the addresses of this host, and what an eager group gives up to join. */
    @Override
    public ByteBuffer subscriptionUserData(Set<String> topics) {
        return Told.joining(settings.addresses(), settings.eager ? had : null);
    }

    @Override
    public void onAssignment(Assignment assignment, ConsumerGroupMetadata metadata) {
        had = new ArrayList<>(assignment.partitions());
    }

    @Override
    public GroupAssignment assign(Cluster metadata, GroupSubscription group) {
        Map<String, Subscription> members = group.groupSubscription();
        List<Present> present = present(members);
        List<String> reasons = new ArrayList<>();
        Followed answer = whole(metadata, members, present, reasons);
        Map<String, List<TopicPartition>> whole = Rule.leave(answer.assignment, present, reasons);
        tell(reasons);
        Map<String, List<TopicPartition>> given = Rule.withhold(whole, present);
        Map<String, Assignment> assignments = new HashMap<>();
        for (Present one : present) {
            ByteBuffer told = Told.leading(answer.plan, one);
            assignments.put(one.memberId, new Assignment(given.get(one.memberId), told));
        }
        return new GroupAssignment(assignments);
    }

    /** Who shall get what, none withheld; what of it is not by the plan goes to {@code reasons}. */
    private Followed whole(
            Cluster metadata, Map<String, Subscription> members, List<Present> present, List<String> reasons) {
        Plan plan = null;
        try {
            plan = Plan.read(settings.source.read());
        } catch (Exception | StackOverflowError | LinkageError problem) {
            reasons.add("no plan can be read from " + settings.source + " (" + settings.source.why(problem) + "); "
                + settings.fallback + " decides");
        }
        String strategy = plan == null ? settings.fallback : plan.fallback;
        Map<String, List<TopicPartition>> fallback =
            Fallback.ask(strategy, metadata, members, present, anchors(plan, present), reasons);
        Followed answer = new Followed(Rule.sorted(present, fallback), Collections.emptyList(), null);
        try {
            if (plan != null) {
                answer = Rule.follow(plan, settings.group, Instant.now(), present, fallback);
                boolean fits = answer.plan != null;
                answer.reasons.forEach(reason -> reasons.add(fits ? reason : reason + "; " + strategy + " decides"));
            }
            tellWhich(answer.plan);
        } catch (RuntimeException problem) { // an error of ours: nobody shall stand still for it
            reasons.add("the plan cannot be followed (" + problem + "); " + strategy + " decides");
        }
        return answer;
    }

    private Map<String, List<TopicPartition>> anchors(Plan plan, List<Present> present) {
        try {
            return plan == null
                ? Collections.emptyMap()
                : Rule.anchors(plan, settings.group, Instant.now(), present);
        } catch (RuntimeException problem) { // an error of ours: what members claim does as well
            LOG.debug("Group {}: no anchors: {}", settings.group, line(String.valueOf(problem)));
            return Collections.emptyMap();
        }
    }

    private void tell(List<String> reasons) {
        Set<String> now = new LinkedHashSet<>();
        reasons.forEach(reason -> now.add(line(reason)));
        for (String reason : now) {
            if (!told.contains(reason)) {
                LOG.warn("Group {}: {}", settings.group, reason);
            }
        }
        told = now;
    }

    /** Names in it are others': no line of the log is theirs to write, and none is endless. */
    private static String line(String reason) {
        String line = reason.replaceAll("\\p{C}|\\p{Zl}|\\p{Zp}", " ");
        return line.length() <= LONGEST_REASON ? line : line.substring(0, LONGEST_REASON) + "...";
    }

    private void tellWhich(Plan plan) {
        String times = plan == null ? "" : Rule.text(plan.madeAt) + ", valid until " + Rule.text(plan.validUntil);
        if (plan != null && !times.equals(followed)) {
            LOG.info("Group {} follows the plan of {}, made at {}", settings.group, settings.source, times);
        }
        followed = times;
    }

    private static final Pattern UUID_BEHIND =
        Pattern.compile("-\\p{XDigit}{8}(?:-\\p{XDigit}{4}){3}-\\p{XDigit}{12}\\z");

    /** The members that are here, in the order of their ids, with those of their claims that are to be believed. */
    static List<Present> present(Map<String, Subscription> members) {
        Map<TopicPartition, Integer> newest = new HashMap<>();
        Map<String, Told> said = new HashMap<>();
        members.forEach((member, one) -> {
            said.put(member, Told.read(one.userData()));
            if (!said.get(member).lost(member)) {
                one.ownedPartitions().forEach(each -> newest.merge(each, generation(one), Math::max));
            }
        });
        List<Present> present = new ArrayList<>();
        members.keySet().stream().sorted(Rule.BY_CODE_POINTS).forEach(member -> {
            Subscription one = members.get(member);
            String instance = one.groupInstanceId().orElse(null);
            String client = instance == null ? UUID_BEHIND.matcher(member).replaceFirst("") : null;
            boolean lost = said.get(member).lost(member);
            List<TopicPartition> claims = one.ownedPartitions().stream()
                .filter(each -> lost ? !newest.containsKey(each) : newest.get(each) == generation(one))
                .collect(Collectors.toList());
            present.add(new Present(
                member, instance, client, one.topics(), lost ? Collections.emptyList() : claims, said.get(member),
                lost ? claims : Collections.emptyList()));
        });
        return present;
    }

    private static int generation(Subscription one) {
        return one.generationId().orElse(Fallback.NO_GENERATION);
    }

    /** What a member sends along when it joins, and the leader with what it gives; see the README one folder up. */
    static final class Told {
        private static final Long VERSION = 1L;

        final Set<String> addresses = new HashSet<>();
        final List<TopicPartition> had = new ArrayList<>();
        final String token;
        final String memberId;

        private Told(Map<?, ?> found) {
            token = found.get("token") instanceof String ? (String) found.get("token") : null;
            memberId = found.get("member_id") instanceof String ? (String) found.get("member_id") : null;
            listed(found.get("addresses")).filter(String.class::isInstance).forEach(one -> addresses.add((String) one));
            if (found.get("had") instanceof Map) {
                ((Map<?, ?>) found.get("had")).forEach((topic, own) -> listed(own)
                    .filter(Long.class::isInstance)
                    .forEach(one -> had.add(new TopicPartition((String) topic, ((Long) one).intValue()))));
            }
        }

        /** What it claims it got under another member id: it has lost that, and does not know. */
        boolean lost(String member) {
            return memberId != null && !memberId.equals(member);
        }

        /** What a member sent; nothing where it sent something else. */
        static Told read(ByteBuffer sent) {
            byte[] bytes = new byte[sent == null ? 0 : sent.remaining()];
            if (sent != null) {
                sent.duplicate().get(bytes);
            }
            try {
                Object found = bytes.length == 0 ? null : Json.parse(bytes);
                if (found instanceof Map && VERSION.equals(((Map<?, ?>) found).get("evenkeel"))) {
                    return new Told((Map<?, ?>) found);
                }
            } catch (PlanError | StackOverflowError other) {
                return new Told(Collections.emptyMap()); // of somebody else
            }
            return new Told(Collections.emptyMap());
        }

        /** What a member sends along; {@code had} is null in a cooperative group, where it claims what it owns. */
        static ByteBuffer joining(Collection<String> addresses, Collection<TopicPartition> had) {
            StringBuilder json = new StringBuilder("{\"evenkeel\": 1, \"addresses\": [");
            json.append(addresses.stream().map(Json::quoted).collect(Collectors.joining(", "))).append("]");
            if (had != null) {
                Map<String, String> byTopic = had.stream().collect(Collectors.groupingBy(
                    TopicPartition::topic,
                    Collectors.mapping(one -> String.valueOf(one.partition()), Collectors.joining(", "))));
                json.append(", \"had\": {").append(byTopic.entrySet().stream()
                    .map(each -> Json.quoted(each.getKey()) + ": [" + each.getValue() + "]")
                    .collect(Collectors.joining(", "))).append("}");
            }
            return bytes(json.append("}"));
        }

        /** What the leader sends along: which plan is followed, and back to a member with a token who it is. */
        static ByteBuffer leading(Plan followed, Present one) {
            StringBuilder json = new StringBuilder("{\"evenkeel\": 1, \"follows\": ");
            if (followed == null) {
                json.append("null");
            } else {
                json.append(Json.quoted(followed.strategy == null ? "" : followed.strategy)).append(", \"made_at\": ")
                    .append(Json.quoted(followed.madeAt.truncatedTo(ChronoUnit.SECONDS).toString()));
            }
            if (one.told.token != null) {
                json.append(", \"token\": ").append(Json.quoted(one.told.token))
                    .append(", \"member_id\": ").append(Json.quoted(one.memberId));
            }
            return bytes(json.append("}"));
        }

        private static ByteBuffer bytes(StringBuilder json) {
            return ByteBuffer.wrap(json.toString().getBytes(StandardCharsets.UTF_8));
        }

        private static Stream<?> listed(Object found) {
            return found instanceof List ? ((List<?>) found).stream() : Stream.empty();
        }
    }

    /** A plan that cannot be read; the message says why. */
    static final class PlanError extends RuntimeException {
        private static final long serialVersionUID = 1L;

        PlanError(String message) {
            super(message, null, false, false);
        }
    }

    /** A member that is here: what a leader knows of it. */
    static final class Present {
        final String memberId;
        final String instanceId;
        final String clientId;
        final Set<String> addresses;
        final Set<String> topics;
        final Set<TopicPartition> owned;
        final Told told;
        /** What it claims and has lost, and nobody else claims. */
        final Set<TopicPartition> lost;

        Present(
                String memberId,
                String instanceId,
                String clientId,
                Collection<String> topics,
                Collection<TopicPartition> owned,
                Told told,
                Collection<TopicPartition> lost) {
            this.memberId = memberId;
            this.instanceId = instanceId;
            this.clientId = clientId;
            this.addresses = told.addresses.stream().map(Rule::bare).collect(Collectors.toSet());
            this.topics = new HashSet<>(topics);
            this.owned = new HashSet<>(owned);
            this.told = told;
            this.lost = new HashSet<>(lost);
        }

        /** What a sticky strategy should let it keep: in an eager group it owns nothing when it joins. */
        Collection<TopicPartition> keeps() {
            return owned.isEmpty() ? told.had : owned;
        }
    }

    /** Who gets what, none withheld, and what of the plan does not fit. */
    static final class Followed {
        final Map<String, List<TopicPartition>> assignment;
        final List<String> reasons;
        /** The plan that is followed in it; null where none is. */
        final Plan plan;

        Followed(Map<String, List<TopicPartition>> assignment, List<String> reasons, Plan plan) {
            this.assignment = assignment;
            this.reasons = reasons;
            this.plan = plan;
        }
    }

    /** An entry of a plan: one member, and what it shall get. */
    static final class Entry {
        final String instanceId;
        final String clientId;
        final String host;
        final Set<TopicPartition> partitions;

        Entry(String instanceId, String clientId, String host, Set<TopicPartition> partitions) {
            this.instanceId = instanceId;
            this.clientId = clientId;
            this.host = host == null ? null : Rule.bare(host);
            this.partitions = partitions;
        }

        /** Whether this entry, one without instance id, means a member. */
        boolean means(Present one) {
            return one.instanceId == null
                && Objects.equals(clientId, one.clientId)
                && host != null
                && one.addresses.contains(host);
        }

        String name() {
            boolean named = instanceId != null && !instanceId.isEmpty();
            return named ? instanceId : clientId + "@" + (host == null ? "" : host);
        }
    }

    /** A plan, as far as a follower goes by it. */
    static final class Plan {
        static final String SCHEMA = "evenkeel-plan/1";

        final String group;
        final Instant madeAt;
        final Instant validUntil;
        final String fallback;
        /** By what it was made; null where it does not say. */
        final String strategy;
        final List<Entry> members;

        private Plan(Map<?, ?> found) {
            group = text(found, "group");
            madeAt = moment(found, "made_at");
            validUntil = moment(found, "valid_until");
            fallback = text(found, "fallback");
            strategy = optional(found, "strategy");
            members = new ArrayList<>();
            for (Object one : list(found.get("members"), "members")) {
                members.add(entry(map(one, "a member")));
            }
            if (found.containsKey("topics")) {
                map(found.get("topics"), "topics").forEach((name, topic) ->
                    number(map(topic, "topic " + name).get("partitions"), "the partitions of topic " + name));
            }
        }

        /**
         * Reads a plan.
         *
         * @param bytes JSON, in UTF-8.
         * @throws PlanError It is none, or of another schema; a partition stands in it twice; its fallback is unknown.
         */
        static Plan read(byte[] bytes) {
            Object found = Json.parse(bytes);
            if (!(found instanceof Map)) {
                throw new PlanError("it is no JSON object");
            }
            Object schema = ((Map<?, ?>) found).get("schema");
            if (!SCHEMA.equals(schema)) {
                String shown = schema instanceof String ? "'" + schema + "'" : String.valueOf(schema);
                throw new PlanError("its schema is " + shown + ", this follower reads '" + SCHEMA + "'");
            }
            Plan plan = new Plan((Map<?, ?>) found);
            if (!Fallback.NAMES.contains(plan.fallback)) {
                throw new PlanError(
                    "its fallback '" + plan.fallback + "' is none of " + String.join(", ", Fallback.NAMES));
            }
            Set<TopicPartition> seen = new HashSet<>();
            for (Entry entry : plan.members) {
                for (TopicPartition one : entry.partitions) {
                    if (!seen.add(one)) {
                        throw new PlanError("it gives " + one + " to two members");
                    }
                }
            }
            return plan;
        }

        private static Entry entry(Map<?, ?> found) {
            Set<TopicPartition> partitions = new LinkedHashSet<>();
            map(found.get("partitions"), "the partitions of a member").forEach((topic, own) -> {
                for (Object number : list(own, "the partitions of topic " + topic)) {
                    TopicPartition one = new TopicPartition((String) topic, number(number, "a partition of " + topic));
                    if (!partitions.add(one)) {
                        throw new PlanError("it gives " + one + " to two members");
                    }
                }
            });
            return new Entry(
                optional(found, "instance_id"), optional(found, "client_id"), optional(found, "host"), partitions);
        }

        private static Map<?, ?> map(Object found, String what) {
            if (found instanceof Map) {
                return (Map<?, ?>) found;
            }
            throw lacks(what + " should be an object");
        }

        private static List<?> list(Object found, String what) {
            if (found instanceof List) {
                return (List<?>) found;
            }
            throw lacks(what + " should be a list");
        }

        private static int number(Object found, String what) {
            if (found instanceof Long && (Long) found == ((Long) found).intValue()) {
                return ((Long) found).intValue();
            }
            throw lacks(what + " should be a whole number");
        }

        private static String text(Map<?, ?> found, String key) {
            String text = optional(found, key);
            if (text == null) {
                throw lacks("there is no " + key);
            }
            return text;
        }

        private static String optional(Map<?, ?> found, String key) {
            Object text = found.get(key);
            if (text == null || text instanceof String) {
                return (String) text;
            }
            throw lacks(key + " should be text");
        }

        private static Instant moment(Map<?, ?> found, String key) {
            String text = text(found, key);
            try {
                return OffsetDateTime.parse(text.replaceFirst(" ", "T")).toInstant();
            } catch (DateTimeParseException other) {
                throw lacks(key + " '" + text + "' is no time with a time zone");
            }
        }

        private static PlanError lacks(String what) {
            return new PlanError("it lacks something, or holds something else: " + what);
        }
    }

    /** By which rule a plan is followed; it stands in the README one folder up. */
    static final class Rule {
        static final Comparator<String> BY_CODE_POINTS =
            (one, other) -> Arrays.compare(one.codePoints().toArray(), other.codePoints().toArray());

        private static final Comparator<TopicPartition> IN_ORDER =
            Comparator.comparing(TopicPartition::topic, BY_CODE_POINTS).thenComparing(TopicPartition::partition);

        private static final DateTimeFormatter SECONDS =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss 'UTC'", Locale.ROOT).withZone(ZoneOffset.UTC);

        private Rule() {}

        static String text(Instant moment) {
            return SECONDS.format(moment);
        }

        /** An address without the slash that brokers show before it. */
        static String bare(String address) {
            return address.replaceFirst("^/+", "");
        }

        /**
         * Who gets what under a plan.
         *
         * @param group The group that asks.
         * @param fallback Member id to all that the fallback strategy gives it, none withheld.
         */
        static Followed follow(
                Plan plan,
                String group,
                Instant now,
                List<Present> present,
                Map<String, ? extends Collection<TopicPartition>> fallback) {
            String unfit = unfit(plan, group, now);
            if (unfit != null) {
                return new Followed(sorted(present, fallback), Collections.singletonList(unfit), null);
            }
            Map<String, Entry> entries = match(plan.members, present);
            Map<TopicPartition, String> planned = new HashMap<>();
            planned(entries, present).forEach((member, own) -> own.forEach(one -> planned.put(one, member)));
            Set<String> unknown = unknown(plan.members, entries, present);
            Map<String, Set<TopicPartition>> given = new HashMap<>();
            present.forEach(one -> given.put(one.memberId, new HashSet<>()));
            int unplanned = 0;
            for (Map.Entry<String, ? extends Collection<TopicPartition>> each : fallback.entrySet()) {
                for (TopicPartition one : each.getValue()) {
                    String own = unknown.contains(each.getKey()) ? null : planned.get(one);
                    given.get(own == null ? each.getKey() : own).add(one);
                    unplanned += own == null ? 1 : 0;
                }
            }
            return new Followed(sorted(present, given), misfits(plan, entries, unknown, unplanned), plan);
        }

        /**
         * The same, but who claims what it has lost keeps it for now, where nobody has it.
         *
         * <p>To give it to another at once would be right, yet Java's client takes every claim for true and would end
         * the rebalance. To withhold it would leave it with nobody: who has lost it already will not join again for it.
         */
        static Map<String, List<TopicPartition>> leave(
                Map<String, List<TopicPartition>> assignment, List<Present> present, List<String> reasons) {
            Map<TopicPartition, String> stays = new HashMap<>();
            for (Present one : present) {
                one.lost.stream()
                    .filter(each -> one.topics.contains(each.topic()))
                    .forEach(each -> stays.putIfAbsent(each, one.memberId));
            }
            if (stays.isEmpty()) {
                return assignment;
            }
            Map<String, Set<TopicPartition>> given = new HashMap<>();
            assignment.keySet().forEach(member -> given.put(member, new HashSet<>()));
            Set<String> keeping = new TreeSet<>(BY_CODE_POINTS);
            assignment.forEach((member, own) -> own.forEach(each -> {
                String keeper = stays.getOrDefault(each, member);
                given.get(keeper).add(each);
                if (!keeper.equals(member)) {
                    keeping.add(keeper);
                }
            }));
            if (!keeping.isEmpty()) {
                reasons.add("until the next rebalance they keep what they have lost: " + String.join(", ", keeping));
            }
            return sorted(present, given);
        }

        /** The same without what another member still claims: it is given away once that one has given it up. */
        static Map<String, List<TopicPartition>> withhold(
                Map<String, List<TopicPartition>> assignment, List<Present> present) {
            Set<TopicPartition> claimed = new HashSet<>();
            present.forEach(one -> claimed.addAll(one.owned));
            Map<String, List<TopicPartition>> first = new HashMap<>();
            for (Present one : present) {
                first.put(one.memberId, assignment.get(one.memberId).stream()
                    .filter(each -> one.owned.contains(each) || !claimed.contains(each))
                    .collect(Collectors.toList()));
            }
            return first;
        }

        /** Member id to its entry; members without one are left out. */
        static Map<String, Entry> match(List<Entry> entries, List<Present> present) {
            Map<String, Present> byInstance = new HashMap<>();
            present.stream().filter(one -> one.instanceId != null).forEach(one -> byInstance.put(one.instanceId, one));
            Map<String, Entry> found = new HashMap<>();
            List<Candidate> open = new ArrayList<>();
            for (int place = 0; place < entries.size(); place++) {
                Entry entry = entries.get(place);
                if (entry.instanceId == null) {
                    for (Present one : present) {
                        if (entry.means(one)) {
                            open.add(new Candidate(entry, place, one));
                        }
                    }
                } else if (byInstance.containsKey(entry.instanceId)) {
                    found.putIfAbsent(byInstance.get(entry.instanceId).memberId, entry);
                }
            }
            open.sort(Candidate.BEST_FIRST);
            Set<Integer> taken = new HashSet<>();
            for (Candidate each : open) {
                if (!taken.contains(each.place) && !found.containsKey(each.memberId)) {
                    taken.add(each.place);
                    found.put(each.memberId, each.entry);
                }
            }
            return found;
        }

        /**
         * What a sticky fallback takes for owned while a plan is followed: what the plan gives to each member that is here.
         *
         * <p>Not what members claim: that changes from one round of a cooperative rebalance to the next, and with it the
         * fallback's answer, by which the group would rebalance without end.
         *
         * @return Member id to partitions; empty where the plan is not followed, or nobody of it is here.
         */
        static Map<String, List<TopicPartition>> anchors(
                Plan plan, String group, Instant now, List<Present> present) {
            return unfit(plan, group, now) == null
                ? planned(match(plan.members, present), present)
                : Collections.emptyMap();
        }

        /** Member id to what its entry gives it of the topics it subscribes to. */
        private static Map<String, List<TopicPartition>> planned(Map<String, Entry> entries, List<Present> present) {
            Map<String, List<TopicPartition>> planned = new HashMap<>();
            present.stream().filter(one -> entries.containsKey(one.memberId)).forEach(one ->
                planned.put(one.memberId, entries.get(one.memberId).partitions.stream()
                    .filter(each -> one.topics.contains(each.topic()))
                    .sorted(IN_ORDER)
                    .collect(Collectors.toList())));
            return planned;
        }

        /** Members that the plan does not know; a double of one that restarts is known. */
        private static Set<String> unknown(List<Entry> all, Map<String, Entry> entries, List<Present> present) {
            return present.stream()
                .filter(one -> !entries.containsKey(one.memberId))
                .filter(one -> all.stream().noneMatch(entry -> entry.instanceId == null && entry.means(one)))
                .map(one -> one.memberId)
                .collect(Collectors.toSet());
        }

        private static String unfit(Plan plan, String group, Instant now) {
            if (!plan.group.equals(group)) {
                return "the plan is made for group '" + plan.group + "', this is '" + group + "'";
            }
            return now.isBefore(plan.validUntil) ? null : "the plan expired at " + text(plan.validUntil);
        }

        private static List<String> misfits(
                Plan plan, Map<String, Entry> entries, Set<String> unknown, int unplanned) {
            List<String> reasons = new ArrayList<>();
            Set<Entry> here = new HashSet<>(entries.values());
            String absent = plan.members.stream()
                .filter(entry -> !here.contains(entry))
                .map(Entry::name)
                .sorted(BY_CODE_POINTS)
                .collect(Collectors.joining(", "));
            if (here.size() < plan.members.size()) {
                reasons.add("not here, but in the plan: " + absent);
            }
            if (!unknown.isEmpty()) {
                reasons.add("here, but not in the plan: "
                    + unknown.stream().sorted(BY_CODE_POINTS).collect(Collectors.joining(", ")));
            }
            if (unplanned > 0) {
                reasons.add(unplanned + " partitions are given by " + plan.fallback + ", not by the plan");
            }
            return reasons;
        }

        static Map<String, List<TopicPartition>> sorted(
                List<Present> present, Map<String, ? extends Collection<TopicPartition>> given) {
            Map<String, List<TopicPartition>> sorted = new LinkedHashMap<>();
            for (Present one : present) {
                Collection<TopicPartition> own = given.get(one.memberId);
                List<TopicPartition> list = own == null ? new ArrayList<>() : new ArrayList<>(own);
                list.sort(IN_ORDER);
                sorted.put(one.memberId, list);
            }
            return sorted;
        }

        /** A member that an entry may be of; who claims most of it comes first. */
        private static final class Candidate {
            static final Comparator<Candidate> BEST_FIRST =
                Comparator.<Candidate>comparingLong(each -> -each.claims)
                    .thenComparingLong(each -> -each.had)
                    .thenComparingInt(each -> each.place)
                    .thenComparing(each -> each.memberId, BY_CODE_POINTS);

            final Entry entry;
            final int place;
            final String memberId;
            final long claims;
            final long had;

            Candidate(Entry entry, int place, Present one) {
                this.entry = entry;
                this.place = place;
                this.memberId = one.memberId;
                this.claims = entry.partitions.stream().filter(one.owned::contains).count();
                this.had = one.told.had.stream().filter(entry.partitions::contains).count();
            }
        }
    }

    /** The strategies of the client, asked for a whole assignment: nothing is withheld from it. */
    static final class Fallback {
        static final List<String> NAMES =
            Collections.unmodifiableList(Arrays.asList("cooperative-sticky", "sticky", "range", "roundrobin"));

        private static final int NO_GENERATION = -1;

        /** The generation of what a plan gives: no member's is newer than another's. */
        private static final int ONE_FOR_ALL = 1;

        private Fallback() {}

        /**
         * Member id to what a strategy gives it; should its class fail, range is asked, which goes by counts alone.
         *
         * @param anchors Member id to what a sticky strategy takes for owned; empty: what members claim.
         */
        static Map<String, List<TopicPartition>> ask(
                String strategy,
                Cluster metadata,
                Map<String, Subscription> members,
                List<Present> present,
                Map<String, List<TopicPartition>> anchors,
                List<String> reasons) {
            Map<String, Subscription> asked = new HashMap<>();
            for (Present one : present) {
                Subscription own = members.get(one.memberId);
                asked.put(one.memberId, anchors.isEmpty()
                    ? asked(strategy, own, one.keeps(), generation(own))
                    : asked(strategy, own, anchors.getOrDefault(one.memberId, Collections.emptyList()), ONE_FOR_ALL));
            }
            GroupSubscription group = new GroupSubscription(asked);
            GroupAssignment answer;
            try {
                answer = assignor(strategy).assign(metadata, group);
            } catch (RuntimeException problem) {
                reasons.add(strategy + " failed (" + problem + "); range decides");
                answer = assignor("range").assign(metadata, group);
            }
            Map<String, List<TopicPartition>> given = new HashMap<>();
            answer.groupAssignment().forEach((member, assignment) -> given.put(member, assignment.partitions()));
            return given;
        }

        /** Cooperative-sticky is sticky over what members claim, and then withholds; that is done here for all. */
        private static ConsumerPartitionAssignor assignor(String strategy) {
            switch (strategy) {
                case "range":
                    return new RangeAssignor();
                case "roundrobin":
                    return new RoundRobinAssignor();
                default:
                    return new StickyAssignor();
            }
        }

        private static Subscription asked(
                String strategy, Subscription one, Collection<TopicPartition> keeps, int generation) {
            ByteBuffer claims = strategy.endsWith("sticky") ? claims(keeps, generation) : null;
            Subscription asked =
                new Subscription(one.topics(), claims, new ArrayList<>(keeps), generation, one.rackId());
            asked.setGroupInstanceId(one.groupInstanceId());
            return asked;
        }

        /** What the sticky strategy sends along: topics with their partitions, then the generation (KIP-341). */
        private static ByteBuffer claims(Collection<TopicPartition> owned, int generation) {
            Map<String, List<Integer>> byTopic = new LinkedHashMap<>();
            owned.forEach(one -> byTopic.computeIfAbsent(one.topic(), topic -> new ArrayList<>()).add(one.partition()));
            int size = 2 * Integer.BYTES + owned.size() * Integer.BYTES;
            for (String topic : byTopic.keySet()) {
                size += Short.BYTES + topic.getBytes(StandardCharsets.UTF_8).length + Integer.BYTES;
            }
            ByteBuffer claims = ByteBuffer.allocate(size).putInt(byTopic.size());
            byTopic.forEach((topic, partitions) -> {
                byte[] name = topic.getBytes(StandardCharsets.UTF_8);
                claims.putShort((short) name.length).put(name).putInt(partitions.size());
                partitions.forEach(claims::putInt);
            });
            claims.putInt(generation).flip();
            return claims;
        }
    }

    /** Our settings, as they stand among those of the client. */
    static final class Settings {
        private static final long DEFAULT_TIMEOUT_MS = 5_000;

        final String group;
        final String fallback;
        final Source source;
        /** Whether members give up all before they join: some strategy that is listed, too, knows no other way. */
        final boolean eager;
        private final List<String> addresses;

        Settings(Map<String, ?> configs) {
            Object named = configs.get(ConsumerConfig.GROUP_ID_CONFIG);
            group = named == null ? "" : named.toString();
            fallback = text(configs, FALLBACK).orElse(Fallback.NAMES.get(0));
            if (!Fallback.NAMES.contains(fallback)) {
                throw new ConfigException(
                    FALLBACK + " is '" + fallback + "'; it must be one of " + String.join(", ", Fallback.NAMES));
            }
            addresses = text(configs, ADDRESS)
                .map(all -> Arrays.stream(all.split(",")).map(Settings::asBrokersWrite).collect(Collectors.toList()))
                .orElse(Collections.emptyList());
            String plan = text(configs, PLAN).orElseThrow(() -> new ConfigException(
                PLAN + " is missing: set it to a path, an https:// address, or topic:NAME"));
            source = Source.of(plan, timeout(configs), configs, group);
            Object strategies = configs.get(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG);
            eager = listed(strategies).anyMatch(Settings::isEager);
        }

        private static Stream<?> listed(Object strategies) {
            return strategies instanceof Collection
                ? ((Collection<?>) strategies).stream()
                : strategies == null ? Stream.empty() : Arrays.stream(strategies.toString().split(","));
        }

        /** As the client finds out; what it is not able to make ends the application anyway. */
        private static boolean isEager(Object strategy) {
            try {
                Class<?> found = strategy instanceof Class
                    ? (Class<?>) strategy
                    : Utils.loadClass(strategy.toString().trim(), ConsumerPartitionAssignor.class);
                return !((ConsumerPartitionAssignor) found.getDeclaredConstructor().newInstance())
                    .supportedProtocols().contains(RebalanceProtocol.COOPERATIVE);
            } catch (ReflectiveOperationException | RuntimeException | LinkageError other) {
                LOG.debug("{} does not tell how it rebalances", strategy, other);
                return false;
            }
        }

        /** IPv6 has many forms. */
        private static String asBrokersWrite(String address) {
            String trimmed = address.trim();
            try {
                return trimmed.contains(":") ? written(InetAddress.getByName(trimmed)) : trimmed;
            } catch (UnknownHostException other) {
                throw new ConfigException(ADDRESS + " has '" + trimmed + "', which is no address");
            }
        }

        private static String written(InetAddress address) {
            return address.getHostAddress().replaceFirst("%.*", "");
        }

        private static Optional<String> text(Map<String, ?> configs, String key) {
            return Optional.ofNullable(configs.get(key))
                .map(value -> value.toString().trim())
                .filter(text -> !text.isEmpty());
        }

        private static long timeout(Map<String, ?> configs) {
            String told = text(configs, TIMEOUT_MS).orElse(Long.toString(DEFAULT_TIMEOUT_MS));
            if (!told.matches("[1-9][0-9]{0,8}")) {
                throw new ConfigException(
                    TIMEOUT_MS + " is '" + told + "'; it must be a number of milliseconds above 0");
            }
            return Long.parseLong(told);
        }

        /** Those that were configured, else all that this host has now, written as brokers write them. */
        Collection<String> addresses() {
            if (!addresses.isEmpty()) {
                return addresses;
            }
            Set<String> own = new TreeSet<>();
            try {
                for (NetworkInterface each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
                    for (InetAddress address : Collections.list(each.getInetAddresses())) {
                        own.add(written(address));
                    }
                }
            } catch (SocketException | RuntimeException other) {
                LOG.debug("The addresses of this host are not known", other);
            }
            return own;
        }
    }

    /** Where the plan is read from; its text form is for the log, and without credentials. */
    abstract static class Source {
        static final int MOST_BYTES = 64 << 20;

        private final long timeoutMs;
        private Thread hanging;

        Source(long timeoutMs) {
            this.timeoutMs = timeoutMs;
        }

        static Source of(String plan, long timeoutMs, Map<String, ?> configs, String group) {
            if (plan.startsWith("topic:")) {
                return new OfTopic(plan.substring("topic:".length()), timeoutMs, configs, group);
            }
            Matcher scheme = Pattern.compile("(?i)(file:|([a-z][a-z0-9+.-]*)://).*", Pattern.DOTALL).matcher(plan);
            if (scheme.matches() && scheme.group(2) != null && !scheme.group(2).equalsIgnoreCase("file")) {
                return new OfAddress(plan, timeoutMs);
            }
            try {
                return new OfFile(scheme.matches() ? Paths.get(new URI(plan)) : Paths.get(plan), timeoutMs);
            } catch (URISyntaxException | IllegalArgumentException | FileSystemNotFoundException other) {
                throw new ConfigException(PLAN + " is '" + plan + "', which is neither a path nor a file: URI");
            }
        }

        /**
         * The plan, whole, and within the timeout.
         *
         * @throws Exception It cannot be had.
         */
        byte[] read() throws Exception {
            if (hanging != null && hanging.isAlive()) {
                throw new PlanError("the last try to read it is not over yet");
            }
            FutureTask<byte[]> task = new FutureTask<>(this::fetched);
            Thread thread = new Thread(task, NAME);
            thread.setDaemon(true);
            thread.start();
            try {
                return task.get(timeoutMs, TimeUnit.MILLISECONDS);
            } catch (TimeoutException late) {
                end(task, thread);
                throw new PlanError("no answer within " + timeoutMs + " ms");
            } catch (InterruptedException ending) {
                end(task, thread);
                Thread.currentThread().interrupt();
                throw new PlanError("the client was interrupted");
            } catch (ExecutionException failed) {
                throw failed.getCause() instanceof Exception ? (Exception) failed.getCause() : failed;
            }
        }

        /** It may not end at once, or at all: such threads shall not gather. */
        private void end(FutureTask<byte[]> task, Thread thread) {
            task.cancel(true);
            hanging = thread;
        }

        /** What stands there, read in a thread of its own: it may hang. */
        abstract byte[] fetched() throws Exception;

        /** Why it could not be read, in words that may be logged. */
        String why(Throwable problem) {
            String said = problem.getMessage();
            if (problem instanceof PlanError) {
                return said;
            }
            return problem.getClass().getSimpleName() + (said == null ? "" : ": " + said);
        }

        static byte[] bounded(InputStream stream) throws IOException {
            byte[] found = stream.readNBytes(MOST_BYTES + 1);
            if (found.length > MOST_BYTES) {
                throw new PlanError("it is larger than " + (MOST_BYTES >> 20) + " MiB");
            }
            return found;
        }
    }

    /** A file of this host. */
    private static final class OfFile extends Source {
        private final Path path;

        OfFile(Path path, long timeoutMs) {
            super(timeoutMs);
            this.path = path;
        }

        @Override
        byte[] fetched() throws IOException {
            try (InputStream stream = Files.newInputStream(path)) {
                return bounded(stream);
            }
        }

        @Override
        public String toString() {
            return path.toString();
        }
    }

    /** An address: https, or http where it does not leave this host. */
    private static final class OfAddress extends Source {
        private static final Pattern LOOPBACK = Pattern.compile("localhost|127(\\.\\d{1,3}){3}|\\[::1]");

        private final URI address;
        private final List<String> secrets = new ArrayList<>();
        private final String credentials;
        private final int timeoutMs;

        OfAddress(String plan, long timeoutMs) {
            super(timeoutMs);
            this.timeoutMs = (int) timeoutMs;
            URI told;
            try {
                told = new URI(plan);
                address = new URI(told.getScheme() + "://" + told.getHost()
                    + (told.getPort() < 0 ? "" : ":" + told.getPort())
                    + (told.getRawPath().isEmpty() ? "/" : told.getRawPath())
                    + (told.getRawQuery() == null ? "" : "?" + told.getRawQuery()));
            } catch (URISyntaxException | RuntimeException other) {
                throw new ConfigException(PLAN + " is no address that can be asked"); // it may hold credentials
            }
            String scheme = told.getScheme().toLowerCase(Locale.ROOT);
            if (told.getHost() == null || !scheme.equals("https") && !scheme.equals("http")) {
                throw new ConfigException(
                    PLAN + " is " + this + ": only paths, https:// addresses and topic:NAME are read");
            }
            if (scheme.equals("http") && !LOOPBACK.matcher(told.getHost().toLowerCase(Locale.ROOT)).matches()) {
                throw new ConfigException(
                    PLAN + " is " + this + ": who can change what comes over http decides who gets what; use https://");
            }
            credentials = told.getUserInfo();
            Stream.of(told.getRawUserInfo(), credentials, told.getRawQuery(), told.getQuery())
                .filter(secret -> secret != null && !secret.isEmpty())
                .forEach(secrets::add);
        }

        @Override
        byte[] fetched() throws IOException {
            HttpURLConnection connection = (HttpURLConnection) address.toURL().openConnection();
            connection.setConnectTimeout(timeoutMs);
            connection.setReadTimeout(timeoutMs);
            connection.setUseCaches(false);
            // it could lead from https to where anybody may answer, and credentials along
            connection.setInstanceFollowRedirects(false);
            connection.setRequestProperty("Accept", "application/json");
            if (credentials != null) {
                byte[] plain = credentials.getBytes(StandardCharsets.UTF_8);
                String encoded = Base64.getEncoder().encodeToString(plain);
                connection.setRequestProperty("Authorization", "Basic " + encoded);
            }
            try {
                int status = connection.getResponseCode();
                if (status != HttpURLConnection.HTTP_OK) {
                    throw new PlanError("it answers with status " + status);
                }
                try (InputStream stream = connection.getInputStream()) {
                    return bounded(stream);
                }
            } finally {
                connection.disconnect();
            }
        }

        @Override
        String why(Throwable problem) {
            String said = super.why(problem);
            for (String secret : secrets) {
                said = said.replace(secret, "***");
            }
            return said;
        }

        @Override
        public String toString() {
            String port = address.getPort() < 0 ? "" : ":" + address.getPort();
            return address.getScheme() + "://" + address.getHost() + port + address.getRawPath();
        }
    }

    /** The newest record of a compacted topic whose key is the group id; read with the client's own settings. */
    private static final class OfTopic extends Source {
        private final String topic;
        private final String group;
        private final Map<String, Object> configs = new HashMap<>();
        private final Duration patience;

        OfTopic(String topic, long timeoutMs, Map<String, ?> client, String group) {
            super(timeoutMs);
            if (topic.isEmpty()) {
                throw new ConfigException(PLAN + " is 'topic:': name the topic behind the colon");
            }
            this.topic = topic;
            this.group = group;
            this.patience = Duration.ofMillis(timeoutMs);
            client.forEach((key, value) -> {
                if (!key.startsWith("evenkeel.") && !key.startsWith("config.providers")) {
                    configs.put(key, value);
                }
            });
            // what makes it a member, or is the application's alone
            configs.keySet().removeAll(Arrays.asList(
                "group.id", "group.instance.id", "group.protocol", "group.remote.assignor", "interceptor.classes",
                "max.poll.records", "max.partition.fetch.bytes", "fetch.max.bytes"));
            configs.put("partition.assignment.strategy", Collections.singletonList(RangeAssignor.class));
            configs.put("key.deserializer", ByteArrayDeserializer.class);
            configs.put("value.deserializer", ByteArrayDeserializer.class);
            configs.put("client.id", client.containsKey("client.id") ? client.get("client.id") + "-" + NAME : NAME);
            configs.put("metric.reporters", "");
            configs.put("enable.metrics.push", "false");
            configs.put("enable.auto.commit", "false");
            configs.put("auto.offset.reset", "earliest");
            configs.put("allow.auto.create.topics", "false");
            configs.put("isolation.level", "read_committed");
            configs.put("fetch.min.bytes", "1");
            configs.put("fetch.max.wait.ms", "100");
            configs.put("default.api.timeout.ms", Long.toString(timeoutMs));
        }

        @Override
        @SuppressWarnings("deprecation") // clients before 4.1 have no other way to close at once
        byte[] fetched() {
            KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(configs);
            try {
                return newest(consumer);
            } finally {
                consumer.close(Duration.ZERO);
            }
        }

        private byte[] newest(KafkaConsumer<byte[], byte[]> consumer) {
            List<PartitionInfo> found = consumer.partitionsFor(topic, patience);
            if (found == null || found.isEmpty()) {
                throw new PlanError("there is no such topic");
            }
            List<TopicPartition> partitions =
                found.stream().map(one -> new TopicPartition(topic, one.partition())).collect(Collectors.toList());
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, patience);
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            byte[] key = group.getBytes(StandardCharsets.UTF_8);
            ConsumerRecord<byte[], byte[]> newest = null;
            while (!partitions.stream().allMatch(one -> consumer.position(one, patience) >= ends.get(one))) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    // in one partition the later one; keys that were spread otherwise at some time, by the clock
                    if (Arrays.equals(key, record.key()) && (newest == null
                            || record.partition() == newest.partition() || record.timestamp() >= newest.timestamp())) {
                        newest = record;
                    }
                }
            }
            if (newest == null || newest.value() == null) {
                throw new PlanError("it has no record whose key is '" + group + "'");
            }
            return newest.value();
        }

        @Override
        public String toString() {
            return "topic " + topic;
        }
    }

    /** As much of JSON as a plan needs: objects are maps, whole numbers Long, others Double. */
    static final class Json {
        private static final int DEEPEST = 200;

        private final String text;
        private int at;
        private int depth;

        private Json(String text) {
            this.text = text;
        }

        /**
         * Reads one value.
         *
         * @param bytes UTF-8.
         * @throws PlanError It is no JSON, with the place of what is wrong.
         */
        static Object parse(byte[] bytes) {
            String text;
            try {
                text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
            } catch (CharacterCodingException other) {
                throw new PlanError("it is no JSON: it is not in UTF-8");
            }
            Json json = new Json(text.startsWith("\ufeff") ? text.substring(1) : text);
            Object value = json.value();
            json.space();
            if (json.at < json.text.length()) {
                throw json.wrong("the end");
            }
            return value;
        }

        /** A text as JSON, in ASCII. */
        static String quoted(String text) {
            StringBuilder quoted = new StringBuilder("\"");
            for (char each : text.toCharArray()) {
                boolean plain = each >= ' ' && each <= '~' && each != '"' && each != '\\';
                quoted.append(plain ? String.valueOf(each) : String.format("\\u%04x", (int) each));
            }
            return quoted.append('"').toString();
        }

        private Object value() {
            space();
            if (at >= text.length()) {
                throw wrong("a value");
            }
            switch (text.charAt(at)) {
                case '{':
                    return object();
                case '[':
                    return list();
                case '"':
                    return string();
                case 't':
                    return word("true", Boolean.TRUE);
                case 'f':
                    return word("false", Boolean.FALSE);
                case 'n':
                    return word("null", null);
                default:
                    return number();
            }
        }

        private Map<String, Object> object() {
            Map<String, Object> found = new LinkedHashMap<>();
            open();
            if (!next('}')) {
                do {
                    space();
                    String key = string();
                    need(':');
                    found.put(key, value());
                } while (next(','));
                need('}');
            }
            depth--;
            return found;
        }

        private List<Object> list() {
            List<Object> found = new ArrayList<>();
            open();
            if (!next(']')) {
                do {
                    found.add(value());
                } while (next(','));
                need(']');
            }
            depth--;
            return found;
        }

        private void open() {
            at++;
            if (++depth > DEEPEST) {
                throw wrong("less depth");
            }
        }

        private String string() {
            if (at >= text.length() || text.charAt(at) != '"') {
                throw wrong("a text");
            }
            StringBuilder found = new StringBuilder();
            for (at++; at < text.length(); at++) {
                char each = text.charAt(at);
                if (each == '"') {
                    at++;
                    return found.toString();
                }
                if (each < ' ') {
                    throw wrong("a text without control characters");
                }
                found.append(each == '\\' ? escaped() : each);
            }
            throw wrong("the end of a text");
        }

        private char escaped() {
            at++;
            int known = at < text.length() ? "\"\\/bfnrtu".indexOf(text.charAt(at)) : -1;
            if (known < 0) {
                throw wrong("an escape");
            }
            if (text.charAt(at) != 'u') {
                return "\"\\/\b\f\n\r\t".charAt(known);
            }
            String code = text.substring(at + 1, Math.min(at + 5, text.length()));
            if (!code.matches("\\p{XDigit}{4}")) {
                throw wrong("four hexadecimal digits");
            }
            at += 4;
            return (char) Integer.parseInt(code, 16);
        }

        private static final Pattern NUMBER = Pattern.compile("-?(?:0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?");

        private Object number() {
            Matcher found = NUMBER.matcher(text).region(at, text.length());
            if (!found.lookingAt()) {
                throw wrong("a value");
            }
            at = found.end();
            boolean whole = found.group(1) == null && found.group(2) == null && found.end() - found.start() < 19;
            return whole ? (Object) Long.valueOf(found.group()) : (Object) Double.valueOf(found.group());
        }

        private Object word(String word, Object value) {
            if (!text.startsWith(word, at)) {
                throw wrong("a value");
            }
            at += word.length();
            return value;
        }

        private void space() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
        }

        private boolean next(char wanted) {
            space();
            if (at < text.length() && text.charAt(at) == wanted) {
                at++;
                return true;
            }
            return false;
        }

        private void need(char wanted) {
            if (!next(wanted)) {
                throw wrong("'" + wanted + "'");
            }
        }

        private PlanError wrong(String wanted) {
            return new PlanError("it is no JSON: " + wanted + " is missing at character " + at);
        }
    }
}
