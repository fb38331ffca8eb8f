/**
 * A store in the memory of the JVM that asks it: what a collector has to keep, and what each request leaves to it.
 *
 * <p>Arguments: rows, bytes of a row, writes of 100 requests, bytes that a request leaves. Janino compiles it.
 */
public class Memory implements Target {
    byte[][] rows;
    int bytes;
    int writes;
    int left;
    volatile Object last;

    public void open(String[] arguments) throws Exception {
        rows = new byte[Integer.parseInt(arguments[0])][];
        bytes = Integer.parseInt(arguments[1]);
        writes = Integer.parseInt(arguments[2]);
        left = Integer.parseInt(arguments[3]);
        for (int row = 0; row < rows.length; row++) {
            rows[row] = value(row);
        }
    }

    public long call(int number) throws Exception {
        long drawn = Mixed.of(number);
        int row = (int) ((drawn / 100) % rows.length);
        for (int made = 0; made < left; made += 1000) {
            last = new byte[1000];
        }
        if (drawn % 100 < writes) {
            rows[row] = value(row);
        }
        byte[] read = (byte[]) rows[row].clone();
        last = read;
        return row + read[row % bytes];
    }

    public String close() throws Exception {
        int wrong = 0;
        for (int row = 0; row < rows.length; row++) {
            wrong += rows[row][row % bytes] == value(row)[row % bytes] ? 0 : 1;
        }
        return "wrong " + wrong;
    }

    byte[] value(int row) {
        byte[] value = new byte[bytes];
        value[row % bytes] = (byte) Mixed.of(row);
        return value;
    }
}
