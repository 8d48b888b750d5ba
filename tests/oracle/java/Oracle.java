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
            boolean server = asked.strategy().equals("uniform") || asked.strategy().equals("range-server");
            Group group = server ? new ServerGroup(asked) : new ClientGroup(asked);
            return group.answer(asked.id(), asked.repeat() > 0 ? median(group, asked) : null);
        } catch (RuntimeException problem) {
            return Case.Answer.failed(asked.id(), problem);
        }
    }

    /** Milliseconds of the assignor alone. */
    private static double median(Group group, Case asked) {
        for (int i = 0; i < asked.warmUp(); i++) {
            group.call().run();
        }
        long[] times = new long[asked.repeat()];
        for (int i = 0; i < times.length; i++) {
            Runnable call = group.call();
            long began = System.nanoTime();
            call.run();
            times[i] = System.nanoTime() - began;
        }
        Arrays.sort(times);
        int half = times.length / 2;
        return (times.length % 2 == 1 ? times[half] : (times[half - 1] + times[half]) / 2.0) / 1e6;
    }
}
