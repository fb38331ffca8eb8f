/** What OpenLoop asks. */
public interface Target {
    /** Makes ready what is asked. */
    void open(String[] arguments) throws Exception;

    /** Sends a request, from one of several threads; answers a number that is the same in each run. */
    long call(int number) throws Exception;

    /** Looks at the end whether all is right; answers what it found, in words that are the same in each run. */
    String close() throws Exception;
}
