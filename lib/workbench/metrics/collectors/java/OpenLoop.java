import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.ConcurrentHistogram;

/**
 * Sends requests at a fixed rate, whether or not earlier ones are answered, and times each from when it was due.
 *
 * <p>Arguments: class of the Target, requests a second, seconds, seconds before them that are not counted, threads,
 * seconds that answers may take beyond the last one due; the rest is the Target's. The last line that it prints is
 * JSON. It is compiled by Janino: no lambdas. A Java program, for in Python the interpreter's lock would make
 * requests wait for each other.
 */
public class OpenLoop {
    static final long LONGEST = 3600000000L; // microseconds, an hour
    static final double[] PERCENTILES = {50, 90, 99, 99.9, 99.99};
    static final long LATE = 1000000L; // nanoseconds
    static final long CANARY = 1000000L;
    static final long CLOSING = 60000L; // milliseconds

    final ConcurrentHistogram service = new ConcurrentHistogram(1L, LONGEST, 3);
    final ConcurrentHistogram response = new ConcurrentHistogram(1L, LONGEST, 3);
    final AtomicInteger next = new AtomicInteger();
    final AtomicInteger working = new AtomicInteger();
    final AtomicLong answer = new AtomicLong();
    final AtomicInteger late = new AtomicInteger();
    final Map errors = new TreeMap();
    Target target;
    double rate;
    int first;
    int total;
    long begin;
    long end;
    long overslept;
    volatile boolean over;

    public static void main(String[] args) throws Exception {
        OpenLoop loop = new OpenLoop();
        Class kind = Thread.currentThread().getContextClassLoader().loadClass(args[0]);
        loop.target = (Target) kind.getDeclaredConstructor(new Class[0]).newInstance(new Object[0]);
        loop.rate = Double.parseDouble(args[1]);
        double seconds = Double.parseDouble(args[2]);
        loop.first = (int) (loop.rate * Double.parseDouble(args[3]));
        loop.total = loop.first + (int) (loop.rate * seconds);
        loop.target.open((String[]) Arrays.copyOfRange(args, 6, args.length));
        System.out.println(loop.run(Integer.parseInt(args[4]), Double.parseDouble(args[5])));
        System.out.flush();
        Runtime.getRuntime().halt(0); // nobody waits for what is still asked
    }

    String run(int threads, double patience) throws Exception {
        begin = System.nanoTime() + 100000000L;
        working.set(threads);
        for (int number = 0; number < threads; number++) {
            start(new Worker(this));
        }
        start(new Canary(this));
        sleepUntil(due(first));
        double epoch = System.currentTimeMillis() / 1000.0;
        double uptime = ManagementFactory.getRuntimeMXBean().getUptime() / 1000.0;
        long deadline = due(total) + (long) (patience * 1e9);
        while (working.get() > 0 && System.nanoTime() < deadline) {
            LockSupport.parkNanos(5000000L);
        }
        over = true;
        Closing closing = new Closing(target);
        start(closing);
        closing.join(CLOSING); // a server that is dead may keep its client waiting for long
        return figures(epoch, uptime, closing.found);
    }

    long due(int number) {
        return begin + (long) (number * 1e9 / rate);
    }

    static void start(Thread thread) {
        thread.setDaemon(true);
        thread.start();
    }

    static void sleepUntil(long time) {
        long left = time - System.nanoTime();
        while (left > 0) {
            LockSupport.parkNanos(left);
            left = time - System.nanoTime();
        }
    }

    void count(String error) {
        synchronized (errors) {
            Integer before = (Integer) errors.get(error);
            errors.put(error, Integer.valueOf(before == null ? 1 : before.intValue() + 1));
        }
    }

    synchronized void ended(long time) {
        end = Math.max(end, time);
    }

    String figures(double epoch, double uptime, String closing) {
        long requests = response.getTotalCount();
        StringBuilder text = new StringBuilder("{\"requests\": " + requests);
        text.append(", \"errors\": {");
        synchronized (errors) {
            Iterator names = errors.keySet().iterator();
            while (names.hasNext()) {
                String name = (String) names.next();
                text.append("\"" + name + "\": " + errors.get(name) + (names.hasNext() ? ", " : ""));
            }
        }
        text.append("}, \"due\": " + (total - first) + ", \"late\": " + late.get());
        text.append(", \"seconds\": " + Math.max(end - due(first), 1) / 1e9);
        text.append(", \"canary_seconds\": " + overslept / 1e9);
        text.append(", \"begin_epoch\": " + epoch + ", \"begin_uptime\": " + uptime);
        text.append(", \"answer\": \"" + answer.get() + " " + closing + "\"");
        text.append(", \"service\": " + percentiles(service) + ", \"response\": " + percentiles(response));
        return text.append("}").toString();
    }

    static String percentiles(ConcurrentHistogram values) {
        StringBuilder text = new StringBuilder("{");
        for (int place = 0; place < PERCENTILES.length; place++) {
            double percentile = PERCENTILES[place];
            text.append("\"" + percentile + "\": " + values.getValueAtPercentile(percentile) + ", ");
        }
        return text.append("\"max\": " + values.getMaxValue() + "}").toString();
    }

    /** Takes the next request, waits until it is due, sends it. */
    static class Worker extends Thread {
        final OpenLoop loop;

        Worker(OpenLoop loop) {
            this.loop = loop;
        }

        public void run() {
            try {
                int number = loop.next.getAndIncrement();
                while (number < loop.total && !loop.over) {
                    send(number);
                    number = loop.next.getAndIncrement();
                }
            } finally {
                loop.working.decrementAndGet();
            }
        }

        void send(int number) {
            long due = loop.due(number);
            sleepUntil(due);
            long begin = System.nanoTime();
            long value = 0;
            String error = null;
            try {
                value = loop.target.call(number);
            } catch (Exception raised) {
                error = raised.getClass().getSimpleName();
            }
            long end = System.nanoTime();
            if (number < loop.first || loop.over) {
                return;
            }
            loop.ended(end);
            if (begin - due > LATE) {
                loop.late.incrementAndGet();
            }
            if (error != null) {
                loop.count(error);
                return;
            }
            loop.answer.addAndGet(value);
            loop.service.recordValue(microseconds(end - begin));
            loop.response.recordValue(microseconds(end - due));
        }

        static long microseconds(long nanoseconds) {
            return Math.min(LONGEST, Math.max(1L, (nanoseconds + 500L) / 1000L));
        }
    }

    /** Asks the target what it found. */
    static class Closing extends Thread {
        final Target target;
        volatile String found = "failed: no answer";

        Closing(Target target) {
            this.target = target;
        }

        public void run() {
            try {
                found = target.close();
            } catch (Exception error) {
                found = "failed: " + error.getClass().getSimpleName();
            }
        }
    }

    /** Sleeps a millisecond again and again, and keeps by how much it overslept most. */
    static class Canary extends Thread {
        final OpenLoop loop;

        Canary(OpenLoop loop) {
            this.loop = loop;
        }

        public void run() {
            sleepUntil(loop.due(loop.first));
            while (!loop.over) {
                long before = System.nanoTime();
                LockSupport.parkNanos(CANARY);
                loop.overslept = Math.max(loop.overslept, System.nanoTime() - before - CANARY);
            }
        }
    }
}
