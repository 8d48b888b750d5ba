package io.evenkeel;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.evenkeel.EvenkeelServerAssignor.Partition;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignorException;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Plans of evenkeel in a folder of the broker, and what a group gets that one of them is made for.
 *
 * <p>Beside this file stands how an operator uses it; one folder up what a plan is, and by which rule it is followed.
 * It promises that
 * <ol>
 * <li>whatever is wrong with a plan or with the folder never fails an assignment: the racks decide;</li>
 * <li>the coordinator waits for the folder for {@link #PATIENCE} at most ({@link #FIRST_PATIENCE} for the first look,
 * before which no plan is known), and for one look at it at a time: a thread of its own looks, no oftener than
 * {@link #EVERY}, and reads only files that have changed;</li>
 * <li>whoever has the answer keeps it: asked again, nothing moves, but a few of more than 20,000 partitions may;</li>
 * <li>each reason not to follow a plan is logged once, as a warning, until it changes.</li>
 * </ol>
 */
final class EvenkeelServerPlans {
    static final Duration EVERY = Duration.ofSeconds(2);

    static final Duration PATIENCE = Duration.ofMillis(500);

    static final Duration FIRST_PATIENCE = Duration.ofSeconds(5);

    private static final int MOST_BYTES = 8 << 20;

    /** Of all plans together: they stay in memory. */
    private static final int MOST_BYTES_TOGETHER = 64 << 20;

    /** How often the rule is put to its own answer until that does not change; once nearly always does. */
    private static final int MOST_TURNS = 4;

    /** In a group of more partitions it is put once: a coordinator has more to do. */
    private static final int MOST_TO_SETTLE = 20_000;

    private static final int LONGEST_REASON = 1_000;

    private static final Logger LOG = LoggerFactory.getLogger(EvenkeelServerAssignor.class);

    /** What decides where no plan does. */
    interface Racks {
        GroupAssignment assign(GroupSpec group, SubscribedTopicDescriber topics);
    }

    private final Folder folder;
    private final Told ambiguous = new Told();
    private final Told failed = new Told();

    EvenkeelServerPlans(Path folder) {
        this.folder = new Folder(folder);
    }

    /**
     * Who gets what: by the plan of the group if there is one, else by the racks.
     *
     * @param racks What decides of what a plan does not say; it starts from what members of the group it is given have.
     * @throws PartitionAssignorException As {@code racks} throws it.
     */
    GroupAssignment assign(GroupSpec group, SubscribedTopicDescriber topics, Racks racks) {
        try {
            List<Stored> stored = folder.now();
            Here here = stored.isEmpty() ? null : new Here(group, topics);
            Stored chosen = here == null ? null : chosen(here, stored);
            if (chosen != null) {
                return new Followed(chosen.plan, here, racks).answer(chosen.told);
            }
        } catch (PartitionAssignorException told) {
            throw told;
        } catch (RuntimeException problem) { // an error of ours: the group shall not stand still for it
            failed.tell("No plan is followed where this happens", Set.of(problem.toString()));
        }
        return racks.assign(group, topics);
    }

    /**
     * The plan to be followed, null for none.
     *
     * <p>A broker does not tell an assignor which group it asks for. A plan fits one that has a member of it, with a
     * topic of it. Member ids are unique, so a plan that has one of them is the group's whatever others fit; else
     * instance ids count, by which plans of several groups may fit: then none is followed. Of plans of one group the
     * newest counts.
     */
    private Stored chosen(Here here, List<Stored> stored) {
        List<Stored> fit = stored.stream().filter(one -> here.fits(one.plan)).toList();
        List<Stored> sure = fit.stream().filter(one -> here.isSurely(one.plan)).toList();
        Map<String, Stored> newest = new TreeMap<>();
        for (Stored one : sure.isEmpty() ? fit : sure) {
            newest.merge(one.plan.group, one, (a, b) -> b.plan.madeAt.isBefore(a.plan.madeAt) ? a : b);
        }
        if (newest.size() > 1) {
            String files = newest.values().stream().map(one -> one.name).sorted().collect(Collectors.joining(", "));
            ambiguous.tellMore("No plan is followed", files + " fit the same group: their members have the same names");
        }
        if (newest.size() != 1) {
            return null;
        }
        Stored one = newest.values().iterator().next();
        if (Instant.now().isBefore(one.plan.validUntil)) {
            return one;
        }
        one.told.tell(one.name, Set.of("the plan expired at " + text(one.plan.validUntil) + "; racks decide"));
        return null;
    }

    private static final DateTimeFormatter SECONDS =
        DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss 'UTC'", Locale.ROOT).withZone(ZoneOffset.UTC);

    private static String text(Instant moment) {
        return SECONDS.format(moment);
    }

    /** Names in it are others': no line of the log is theirs to write, and none is endless. */
    private static String line(String reason) {
        String line = reason.replaceAll("\\p{Cntrl}|\\p{Zl}|\\p{Zp}", " ");
        return line.length() <= LONGEST_REASON ? line : line.substring(0, LONGEST_REASON) + "...";
    }

    /** What has been logged; several threads of a coordinator may come at once. */
    private static final class Told {
        private final AtomicReference<Set<String>> last = new AtomicReference<>(Set.of());

        /** Logs what was not so when this was last called. */
        void tell(String of, Collection<String> reasons) {
            Set<String> before = last.getAndSet(Set.copyOf(reasons));
            reasons.stream().filter(one -> !before.contains(one)).forEach(one -> LOG.warn("{}", line(of + ": " + one)));
        }

        /** Logs what never was so. */
        void tellMore(String of, String reason) {
            Set<String> before = last.getAndUpdate(all -> with(all, reason));
            if (!before.contains(reason)) {
                LOG.warn("{}", line(of + ": " + reason));
            }
        }

        private static Set<String> with(Set<String> all, String reason) {
            Set<String> more = new HashSet<>(all);
            more.add(reason);
            return more;
        }

        void forget() {
            last.set(Set.of());
        }
    }

    /** A file that holds no plan; the message says why. */
    private static final class PlanError extends RuntimeException {
        private static final long serialVersionUID = 1L;

        PlanError(String message) {
            super(message, null, false, false);
        }
    }

    /** A member of a plan: known by its instance id, or where that is null by its member id. */
    private record Entry(String instanceId, String memberId) {
        String name() {
            return instanceId == null ? memberId : instanceId;
        }
    }

    /** A plan, as far as a broker goes by it; {@code entryOf} says by its place in {@code members} who gets what. */
    private record Plan(
            String group,
            Instant madeAt,
            Instant validUntil,
            Set<Uuid> topics,
            List<Entry> members,
            Map<Partition, Integer> entryOf) {
        private static final String SCHEMA = "evenkeel-plan/1";

        private static final ObjectReader JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build()
            .reader();

        /**
         * Reads a plan.
         *
         * @throws PlanError It is none, or of another schema; a partition stands in it twice; it names no topic ids.
         */
        static Plan read(byte[] bytes) {
            JsonNode found;
            try {
                found = JSON.readTree(bytes);
            } catch (JsonProcessingException problem) {
                throw new PlanError("it is no JSON: " + problem.getOriginalMessage());
            } catch (IOException problem) { // no UTF-8
                throw new PlanError("it is no JSON: " + problem.getMessage());
            }
            if (!found.isObject()) {
                throw new PlanError("it is no JSON object");
            }
            if (!SCHEMA.equals(found.path("schema").textValue())) {
                throw new PlanError("its schema is " + found.path("schema") + ", this broker reads '" + SCHEMA + "'");
            }
            Map<String, Uuid> ids = ids(found.get("topics"));
            List<Entry> members = new ArrayList<>();
            Map<Partition, Integer> entryOf = new HashMap<>();
            for (JsonNode one : of(found.get("members"), JsonNode::isArray, "members should be a list")) {
                of(one, JsonNode::isObject, "a member should be an object");
                int place = members.size();
                members.add(new Entry(optional(one, "instance_id"), optional(one, "member_id")));
                give(one.get("partitions"), ids, place, entryOf);
            }
            return new Plan(
                text(found, "group"), moment(found, "made_at"), moment(found, "valid_until"), Set.copyOf(ids.values()),
                members, entryOf);
        }

        private static Map<String, Uuid> ids(JsonNode topics) {
            Map<String, Uuid> ids = new HashMap<>();
            of(topics, JsonNode::isObject, "topics should be an object").properties().forEach(each -> {
                String id = optional(of(each.getValue(), JsonNode::isObject, "a topic should be an object"), "id");
                if (id != null) {
                    ids.put(each.getKey(), uuid(id));
                }
            });
            if (ids.isEmpty()) {
                throw new PlanError("it names no topic ids, and a broker knows topics by nothing else");
            }
            return ids;
        }

        private static Uuid uuid(String id) {
            try {
                UUID same = UUID.fromString(id);
                return new Uuid(same.getMostSignificantBits(), same.getLeastSignificantBits());
            } catch (IllegalArgumentException other) {
                throw lacks("'" + id + "' is no topic id");
            }
        }

        private static void give(
                JsonNode partitions, Map<String, Uuid> ids, int place, Map<Partition, Integer> entryOf) {
            of(partitions, JsonNode::isObject, "the partitions of a member should be an object")
                .properties().forEach(each -> {
                    String topic = each.getKey();
                    for (JsonNode own : of(each.getValue(), JsonNode::isArray, "partitions should be a list")) {
                        if (!own.isIntegralNumber() || !own.canConvertToInt() || own.intValue() < 0) {
                            throw lacks(own + " is no partition");
                        }
                        Uuid id = ids.get(topic);
                        if (id != null && entryOf.put(new Partition(id, own.intValue()), place) != null) {
                            throw new PlanError("it gives " + topic + "-" + own + " to two members");
                        }
                    }
                });
        }

        private static JsonNode of(JsonNode found, Predicate<JsonNode> kind, String should) {
            if (found == null || !kind.test(found)) {
                throw lacks(should);
            }
            return found;
        }

        private static String text(JsonNode found, String key) {
            String text = optional(found, key);
            if (text == null) {
                throw lacks("there is no " + key);
            }
            return text;
        }

        private static String optional(JsonNode found, String key) {
            JsonNode text = found.get(key);
            if (text == null || text.isNull()) {
                return null;
            }
            return of(text, JsonNode::isTextual, key + " should be text").textValue();
        }

        private static Instant moment(JsonNode found, String key) {
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

    /** A group as its coordinator tells it, by integers: members by the order of their ids. */
    private static final class Here {
        private final GroupSpec group;
        private final SubscribedTopicDescriber topics;
        private final List<String> members;
        private final List<Set<Uuid>> subscribed = new ArrayList<>();
        private final Map<String, Integer> byInstance = new HashMap<>();
        private final Map<String, Integer> dynamic = new HashMap<>();
        private final Set<String> ids;

        Here(GroupSpec group, SubscribedTopicDescriber topics) {
            this.group = group;
            this.topics = topics;
            members = group.memberIds().stream().sorted().toList();
            ids = Set.copyOf(members);
            for (int member = 0; member < members.size(); member++) {
                String id = members.get(member);
                int place = member;
                subscribed.add(group.memberSubscription(id).subscribedTopicIds());
                group.memberSubscription(id).instanceId().ifPresentOrElse(
                    instance -> byInstance.put(instance, place), () -> dynamic.put(id, place));
            }
        }

        /** Which member an entry is of; null: it is not here. */
        Integer member(Entry entry) {
            return entry.instanceId == null ? dynamic.get(entry.memberId) : byInstance.get(entry.instanceId);
        }

        boolean fits(Plan plan) {
            return plan.members.stream()
                .map(this::member)
                .anyMatch(member -> member != null && subscribed.get(member).stream().anyMatch(plan.topics::contains));
        }

        boolean isSurely(Plan plan) {
            return plan.members.stream().anyMatch(entry -> entry.memberId != null && ids.contains(entry.memberId));
        }

        /** The rack of a member; empty: unknown. */
        Set<String> rack(int member) {
            return group.memberSubscription(members.get(member)).rackId().map(Set::of).orElse(Set.of());
        }

        /** Whether a member may have a partition. */
        boolean may(int member, Partition one) {
            return subscribed.get(member).contains(one.topic()) && one.number() < topics.numPartitions(one.topic());
        }

        /** Partition to its owner now, of those that may stay; of two that claim one the first has it. */
        Map<Partition, Integer> owners() {
            Map<Partition, Integer> owners = new HashMap<>();
            for (int member = 0; member < members.size(); member++) {
                int owner = member;
                group.memberAssignment(members.get(member)).partitions().forEach((topic, numbers) ->
                    numbers.stream()
                        .map(number -> new Partition(topic, number))
                        .filter(one -> one.number() >= 0 && may(owner, one))
                        .forEach(one -> owners.putIfAbsent(one, owner)));
            }
            return owners;
        }

        GroupAssignment assignment(Map<Partition, Integer> owners) {
            List<Map<Uuid, Set<Integer>>> given = new ArrayList<>();
            members.forEach(member -> given.add(new HashMap<>()));
            owners.forEach((one, owner) ->
                given.get(owner).computeIfAbsent(one.topic(), any -> new HashSet<>()).add(one.number()));
            Map<String, MemberAssignment> assignment = new HashMap<>();
            for (int member = 0; member < members.size(); member++) {
                assignment.put(members.get(member), new EvenkeelServerAssignor.Given(given.get(member)));
            }
            return new GroupAssignment(assignment);
        }
    }

    /**
     * Topics whose planned partitions are in the rack of their member, wherever their replicas are.
     *
     * <p>Else racks would move them home, which the plan undoes, and deal out the others by counts that do not come.
     */
    private record AtHome(SubscribedTopicDescriber of, Map<Partition, Set<String>> rackOf)
            implements SubscribedTopicDescriber {
        @Override
        public int numPartitions(Uuid topic) {
            return of.numPartitions(topic);
        }

        @Override
        public Set<String> racksForPartition(Uuid topic, int number) {
            Set<String> rack = rackOf.get(new Partition(topic, number));
            return rack == null ? of.racksForPartition(topic, number) : rack;
        }
    }

    /** A group that follows a plan. */
    private static final class Followed {
        private final Plan plan;
        private final Here here;
        private final Racks racks;
        private final Set<Integer> known = new HashSet<>();
        private final List<String> absent = new ArrayList<>();
        /** Partition to its member in the plan, where that is here and may have it. */
        private final Map<Partition, Integer> planned = new HashMap<>();
        private final Map<Partition, Set<String>> rackOf = new HashMap<>();

        Followed(Plan plan, Here here, Racks racks) {
            this.plan = plan;
            this.here = here;
            this.racks = racks;
            for (Entry entry : plan.members) {
                Integer member = here.member(entry);
                if (member == null) {
                    absent.add(entry.name());
                } else {
                    known.add(member);
                }
            }
            plan.entryOf.forEach((one, place) -> {
                Integer member = here.member(plan.members.get(place));
                if (member != null && here.may(member, one)) {
                    planned.put(one, member);
                    rackOf.put(one, here.rack(member));
                }
            });
        }

        /** By the rule, put to its own answer until that stays. */
        GroupAssignment answer(Told told) {
            Map<Partition, Integer> owners = here.owners();
            for (int turn = 0; turn < MOST_TURNS; turn++) {
                Map<Partition, Integer> next = ruled(started(owners));
                boolean settled = next.equals(owners) || next.size() > MOST_TO_SETTLE;
                owners = next;
                if (settled) {
                    break;
                }
            }
            told.tell("Group " + plan.group, misfits(owners));
            return here.assignment(owners);
        }

        /**
         * What the racks start from: what members have, but what is another's in the plan is that one's.
         *
         * <p>Whom the plan does not know keeps what it has of it: it would get as much again, and other partitions.
         */
        private Map<Partition, Integer> started(Map<Partition, Integer> owners) {
            Map<Partition, Integer> started = new HashMap<>(owners);
            planned.forEach((one, member) -> started.merge(one, member, (now, by) -> known.contains(now) ? by : now));
            return started;
        }

        /** Partition to its owner: whom the plan does not know keeps what racks give it, else the plan is first. */
        private Map<Partition, Integer> ruled(Map<Partition, Integer> started) {
            GroupAssignment given = racks.assign(
                new EvenkeelServerAssignor.Cleared(here.group, here.members, started),
                new AtHome(here.topics, rackOf));
            Map<Partition, Integer> owners = new HashMap<>();
            for (int member = 0; member < here.members.size(); member++) {
                int owner = member;
                MemberAssignment own = given.members().get(here.members.get(member));
                Map<Uuid, Set<Integer>> partitions = own == null ? Map.of() : own.partitions();
                partitions.forEach((topic, numbers) -> numbers.forEach(number -> {
                    Partition one = new Partition(topic, number);
                    Integer by = known.contains(owner) ? planned.get(one) : null;
                    owners.put(one, by == null ? owner : by);
                }));
            }
            return owners;
        }

        private List<String> misfits(Map<Partition, Integer> owners) {
            List<String> reasons = new ArrayList<>();
            if (!absent.isEmpty()) {
                reasons.add("not here, but in the plan: " + absent.stream().sorted().collect(Collectors.joining(", ")));
            }
            if (known.size() < here.members.size()) {
                Map<Integer, String> names = new HashMap<>();
                here.byInstance.forEach((name, member) -> names.put(member, name));
                here.dynamic.forEach((name, member) -> names.put(member, name));
                names.keySet().removeAll(known);
                reasons.add("here, but not in the plan: "
                    + names.values().stream().sorted().collect(Collectors.joining(", ")));
            }
            long unplanned = owners.entrySet().stream()
                .filter(each -> !each.getValue().equals(planned.get(each.getKey())))
                .count();
            if (unplanned > 0) {
                reasons.add(unplanned + " partitions are given by racks, not by the plan");
            }
            return reasons;
        }
    }

    /** What tells one state of a file from another. */
    private record Version(FileTime modified, long size, Object key) {
        static Version of(BasicFileAttributes found) {
            return new Version(found.lastModifiedTime(), found.size(), found.fileKey());
        }
    }

    /** A file as it was read; {@code plan} is null where it holds none. */
    private record Stored(String name, Version version, Plan plan, Told told) {}

    /** The folder of plans. */
    private final class Folder {
        private final Path path;
        private final Told told = new Told();
        private List<Stored> files = List.of();
        private volatile Duration patience = FIRST_PATIENCE;
        private FutureTask<List<Stored>> looking;
        private long began;

        Folder(Path path) {
            this.path = path;
        }

        /** The plans, as of a look that is not older than {@link #EVERY}, unless the folder keeps it waiting. */
        List<Stored> now() {
            FutureTask<List<Stored>> look = look();
            try {
                if (look != null) {
                    List<Stored> found = look.get(patience.toMillis(), TimeUnit.MILLISECONDS);
                    return found.stream().filter(one -> one.plan != null).toList();
                }
            } catch (TimeoutException late) {
                told.tell(path.toString(), Set.of("no answer within " + patience.toMillis() + " ms"));
            } catch (InterruptedException ending) {
                Thread.currentThread().interrupt();
            } catch (ExecutionException problem) { // an error of ours, or no memory
                told.tell(path.toString(), Set.of("it cannot be looked at: " + problem.getCause()));
            }
            return known();
        }

        private synchronized List<Stored> known() {
            return files.stream().filter(one -> one.plan != null).toList();
        }

        /** The look to wait for; null where one hangs: who came first has waited for it. */
        private synchronized FutureTask<List<Stored>> look() {
            long now = System.nanoTime();
            boolean over = looking == null || looking.isDone();
            if (!over) {
                return now - began < patience.toNanos() ? looking : null;
            }
            if (looking == null || now - began >= EVERY.toNanos()) {
                List<Stored> before = files;
                looking = new FutureTask<>(() -> looked(before));
                began = now;
                Thread thread = new Thread(looking, "evenkeel-plans");
                thread.setDaemon(true);
                thread.start();
            }
            return looking;
        }

        private List<Stored> looked(List<Stored> before) {
            Map<String, Stored> old = before.stream().collect(Collectors.toMap(Stored::name, Function.identity()));
            List<Stored> found = new ArrayList<>();
            Set<String> reasons = new HashSet<>();
            try {
                long together = 0;
                for (Path file : listed()) {
                    Stored one = stored(file, old.get(file.toString()), MOST_BYTES_TOGETHER - together);
                    if (one != null) {
                        found.add(one);
                        together += one.plan == null ? 0 : one.version.size;
                    }
                }
            } catch (IOException problem) {
                reasons.add("the folder cannot be read (" + problem + "); racks decide");
                found.clear();
            }
            told.tell(path.toString(), reasons);
            if (!found.equals(before)) {
                ambiguous.forget();
            }
            synchronized (this) {
                files = List.copyOf(found);
                patience = PATIENCE;
                return files;
            }
        }

        /** Its files by name, but those that are being written ({@code .orders.json.partial}, or hidden at all). */
        private List<Path> listed() throws IOException {
            List<Path> files = new ArrayList<>();
            try (DirectoryStream<Path> found = Files.newDirectoryStream(path, "*.json")) {
                found.forEach(files::add);
            } catch (DirectoryIteratorException problem) {
                throw problem.getCause();
            }
            files.removeIf(file -> file.getFileName().toString().startsWith("."));
            files.sort(Comparator.comparing(Path::toString));
            return files;
        }

        /** A file as it is now, unless it is gone (null) or as it was. */
        private Stored stored(Path file, Stored before, long room) {
            Version version = null;
            try {
                BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
                version = Version.of(attributes);
                if (before != null && version.equals(before.version)) {
                    return before;
                }
                if (!attributes.isRegularFile()) {
                    throw new PlanError("it is no file");
                }
                Plan plan = Plan.read(bytes(file, room));
                LOG.info("{}: the plan of group {}, made at {}, valid until {}", file, line(plan.group),
                    text(plan.madeAt), text(plan.validUntil));
                return new Stored(file.toString(), version, plan, new Told());
            } catch (NoSuchFileException gone) {
                return null;
            } catch (PlanError problem) {
                return unread(file, version, before, problem.getMessage());
            } catch (IOException | RuntimeException | StackOverflowError | LinkageError problem) {
                return unread(file, version, before, problem.toString());
            }
        }

        private Stored unread(Path file, Version version, Stored before, String why) {
            Told last = before != null && before.plan == null ? before.told : new Told();
            last.tell(file.toString(), Set.of("no plan can be read (" + why + "); racks decide"));
            return new Stored(file.toString(), version, null, last);
        }

        private static byte[] bytes(Path file, long room) throws IOException {
            int most = (int) Math.min(MOST_BYTES, room);
            try (InputStream stream = Files.newInputStream(file)) {
                byte[] found = stream.readNBytes(most + 1);
                if (found.length > most) {
                    throw new PlanError(most < MOST_BYTES
                        ? "all plans together are larger than " + (MOST_BYTES_TOGETHER >> 20) + " MiB"
                        : "it is larger than " + (MOST_BYTES >> 20) + " MiB");
                }
                return found;
            }
        }
    }
}
