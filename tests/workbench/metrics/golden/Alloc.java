public class Alloc {
    static volatile Object sink;
    static Object[] live;
    public static void main(String[] args) throws Exception {
        int keep = Integer.parseInt(args[0]), seconds = Integer.parseInt(args[1]), threads = Integer.parseInt(args[2]);
        live = new Object[keep];
        final long end = System.nanoTime() + seconds * 1000000000L;
        Thread[] all = new Thread[threads];
        for (int t = 0; t < threads; t++) {
            final int seed = t;
            all[t] = new Thread(new Runnable() { public void run() {
                int n = seed;
                while (System.nanoTime() < end) {
                    for (int i = 0; i < 2000; i++) { byte[] b = new byte[1024]; sink = b; live[(n++ & 0x7fffffff) % live.length] = b; }
                }
            }});
            all[t].start();
        }
        for (Thread t : all) t.join();
        System.out.println("done");
    }
}
