import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/** What every oracle does: it reads cases, times calls where that is asked for, and writes answers. */
final class Harness {
    static final ObjectMapper JSON = JsonMapper.builder()
        .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
        .disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET)
        .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
        .build();

    /**
     * What the last call gave, and the median processor time of those that were timed; null where none was to be.
     *
     * It is that of the calling thread: what else the machine does does not count, nor do the collector and the
     * compiler of the JVM, which work beside it.
     */
    record Timed<R>(R given, Double milliseconds) {}

    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    private Harness() {}

    /** Answer a case per line of standard input by a line on standard output, in order, until the input ends. */
    static <C> void serve(Class<C> kind, Function<C, ?> answer) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err); // a log line of Kafka's must not stand among the answers
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JSON.writeValue(out, answer.apply(JSON.readValue(line, kind)));
            out.print('\n');
            out.flush();
        }
    }

    /** Call once at least; what makes a call ready is not timed. */
    static <R> Timed<R> timed(int warmUp, int repeat, Supplier<? extends Supplier<? extends R>> ready) {
        for (int i = 0; i < warmUp; i++) {
            ready.get().get();
        }
        long[] times = new long[Math.max(repeat, 1)];
        R given = null;
        for (int i = 0; i < times.length; i++) {
            Supplier<? extends R> call = ready.get();
            long began = CLOCK.getCurrentThreadCpuTime();
            given = call.get();
            times[i] = CLOCK.getCurrentThreadCpuTime() - began;
        }
        return new Timed<>(given, repeat > 0 ? median(times) / 1e6 : null);
    }

    /** Calls one after the other as one call, which gives what the first gave. */
    static <R> Supplier<R> inTurn(List<Supplier<R>> calls) {
        return () -> calls.stream().map(Supplier::get).toList().get(0);
    }

    /** Milliseconds of calls whose answers nobody wants; null where none are asked for. */
    static Double milliseconds(int warmUp, int repeat, Supplier<? extends Supplier<?>> ready) {
        return repeat == 0 ? null : Harness.<Object>timed(warmUp, repeat, ready).milliseconds();
    }

    private static double median(long[] values) {
        Arrays.sort(values);
        int half = values.length / 2;
        return values.length % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2.0;
    }
}
