/** SplitMix64's last step: what follows from a number looks drawn, and is the same each time. Not negative. */
public class Mixed {
    public static long of(long number) {
        long mixed = (number + 1) * 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return (mixed ^ (mixed >>> 31)) & Long.MAX_VALUE;
    }
}
