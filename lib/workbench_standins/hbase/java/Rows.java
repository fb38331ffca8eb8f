import java.util.ArrayList;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Reads and writes of rows of HBase, for OpenLoop. Request n reads a row that was there before, or writes one that no
 * other request writes; what a read must bring is known by its key. At the end each acknowledged write is looked for.
 *
 * <p>Arguments: rows that are there before, bytes of a value, writes of 100 requests. Janino compiles it: no lambdas.
 */
public class Rows implements Target {
    static final byte[] FAMILY = Bytes.toBytes("f");
    static final byte[] COLUMN = Bytes.toBytes("v");
    static final TableName NAME = TableName.valueOf("load");
    static final int MILLISECONDS = 10000; // that a request may take, its repeats included
    static final int BATCH = 500;

    Connection connection;
    int rows;
    int bytes;
    int writes;
    BitSet acknowledged = new BitSet();

    public void open(String[] arguments) throws Exception {
        rows = Integer.parseInt(arguments[0]);
        bytes = Integer.parseInt(arguments[1]);
        writes = Integer.parseInt(arguments[2]);
        Configuration conf = HBaseConfiguration.create();
        conf.setInt("hbase.rpc.timeout", MILLISECONDS);
        conf.setInt("hbase.client.operation.timeout", MILLISECONDS);
        conf.setInt("hbase.client.meta.operation.timeout", MILLISECONDS);
        conf.setInt("hbase.client.scanner.timeout.period", MILLISECONDS);
        conf.setInt("hbase.client.retries.number", 5);
        conf.setInt("hbase.client.pause", 50);
        conf.setInt("zookeeper.recovery.retry", 1);
        connection = ConnectionFactory.createConnection(conf);
        Admin admin = connection.getAdmin();
        TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(NAME);
        table.setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY));
        admin.createTable(table.build());
        admin.close();
        Table target = connection.getTable(NAME);
        List puts = new ArrayList();
        for (int row = 0; row < rows; row++) {
            puts.add(put("r", row));
            if (puts.size() == BATCH || row == rows - 1) {
                target.put(puts);
                puts = new ArrayList();
            }
        }
        target.close();
    }

    public long call(int number) throws Exception {
        long drawn = Mixed.of(number);
        Table target = connection.getTable(NAME);
        try {
            if (drawn % 100 < writes) {
                target.put(put("w", number));
                synchronized (acknowledged) {
                    acknowledged.set(number);
                }
                return number;
            }
            int row = (int) ((drawn / 100) % rows);
            Result result = target.get(new Get(key("r", row)));
            if (!Bytes.equals(value(row), result.getValue(FAMILY, COLUMN))) {
                throw new IllegalStateException("row " + row + " has another value");
            }
            return row;
        } finally {
            target.close();
        }
    }

    /** Looks for each acknowledged write; answers how many of them are not there. */
    public String close() throws Exception {
        BitSet expected; // as of now: a request that is still on its way may be acknowledged meanwhile
        synchronized (acknowledged) {
            expected = (BitSet) acknowledged.clone();
        }
        int lost = expected.cardinality();
        Table target = connection.getTable(NAME);
        Scan scan = new Scan();
        scan.setRowPrefixFilter(Bytes.toBytes("w"));
        scan.setCaching(BATCH);
        ResultScanner scanner = target.getScanner(scan);
        Iterator results = scanner.iterator();
        while (results.hasNext()) {
            Result result = (Result) results.next();
            int number = Integer.parseInt(Bytes.toString(result.getRow()).substring(1));
            boolean right = Bytes.equals(value(number), result.getValue(FAMILY, COLUMN));
            lost -= expected.get(number) && right ? 1 : 0;
        }
        scanner.close();
        target.close();
        return "lost " + lost;
    }

    Put put(String kind, int number) {
        Put put = new Put(key(kind, number));
        put.addColumn(FAMILY, COLUMN, value(number));
        return put;
    }

    static byte[] key(String kind, int number) {
        String digits = String.valueOf(number);
        return Bytes.toBytes(kind + "0000000000".substring(digits.length()) + digits);
    }

    byte[] value(int number) {
        byte[] value = new byte[bytes];
        long drawn = Mixed.of(number);
        for (int place = 0; place < bytes; place++) {
            value[place] = (byte) (drawn >>> ((place & 7) * 8));
        }
        return value;
    }
}
