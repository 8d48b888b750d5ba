import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Supplier;

/**
 * Asks Kafka's own assignors: a case per line on standard input, an answer per line on standard output, in order.
 *
 * What an assignor throws is its answer. The process ends with its input.
 */
public final class Oracle {
    private static final ObjectMapper JSON = JsonMapper.builder()
        .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
        .disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET)
        .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
        .build();

    private Oracle() {}

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err); // a log line of Kafka's must not stand among the answers
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JSON.writeValue(out, answer(JSON.readValue(line, Case.class)));
            out.print('\n');
            out.flush();
        }
    }

    private static Case.Answer answer(Case asked) {
        try {
            return ServerGroup.ASSIGNORS.containsKey(asked.strategy()) ? answer(new ServerGroup(asked), asked) : answer(new ClientGroup(asked), asked);
        } catch (RuntimeException problem) {
            return Case.Answer.failed(asked.id(), problem);
        }
    }

    private static <R> Case.Answer answer(Group<R> group, Case asked) {
        for (int i = 0; i < asked.warmUp(); i++) {
            group.call().get();
        }
        long[] times = new long[Math.max(asked.repeat(), 1)];
        R given = null;
        for (int i = 0; i < times.length; i++) {
            Supplier<R> call = group.call();
            long began = System.nanoTime();
            given = call.get();
            times[i] = System.nanoTime() - began;
        }
        return group.answer(asked.id(), given, asked.repeat() > 0 ? median(times) / 1e6 : null);
    }

    private static double median(long[] values) {
        Arrays.sort(values);
        int half = values.length / 2;
        return values.length % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2.0;
    }
}
