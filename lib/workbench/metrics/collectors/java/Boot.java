import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import org.codehaus.janino.JavaSourceClassLoader;

/** Runs a class from folders of Java sources, so that no Java compiler is needed: folders, class, its arguments. */
public class Boot {
    public static void main(String[] args) throws Throwable {
        String[] names = args[0].split(File.pathSeparator);
        File[] folders = new File[names.length];
        for (int place = 0; place < names.length; place++) {
            folders[place] = new File(names[place]);
        }
        ClassLoader loader = new JavaSourceClassLoader(Boot.class.getClassLoader(), folders, "UTF-8");
        Thread.currentThread().setContextClassLoader(loader);
        String[] rest = (String[]) Arrays.copyOfRange(args, 2, args.length);
        Class[] kinds = new Class[] {String[].class};
        try {
            loader.loadClass(args[1]).getMethod("main", kinds).invoke(null, new Object[] {rest});
        } catch (InvocationTargetException error) {
            throw error.getCause();
        }
    }
}
