/* Starts JARVIS Desktop with the Python of its bundle. A program with the bundle's name is asked for
   the microphone and shown in the menu bar; one that only called Python would be "Python" there. */

#include <Python.h>
#include <limits.h>
#include <stdlib.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#else /* where it is tested */
#include <unistd.h>
#endif

static int own_path(char *path)
{
    char named[PATH_MAX];
#ifdef __APPLE__
    uint32_t size = sizeof named;
    if (_NSGetExecutablePath(named, &size))
        return 0;
#else
    ssize_t size = readlink("/proc/self/exe", named, sizeof named - 1);
    if (size < 0)
        return 0;
    named[size] = 0;
#endif
    return realpath(named, path) != NULL;
}

int main(int count, char **given)
{
    char path[PATH_MAX], python[PATH_MAX + 64];
    char **words = calloc((size_t)count + 4, sizeof *words);
    if (!words || !own_path(path))
        return 1;
    for (int up = 0; up < 2; up++) { /* Contents/MacOS/jarvis-desktop */
        char *end = strrchr(path, '/');
        if (!end)
            return 1;
        *end = 0;
    }
    snprintf(python, sizeof python, "%s/Resources/python/bin/python" PYTHON_VERSION, path);
    words[0] = python;
    words[1] = "-I";
    words[2] = "-m";
    words[3] = "jarvis_desktop";
    for (int at = 1; at < count; at++)
        words[at + 3] = given[at];

    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    /* Child processes are started with sys.executable, which must be a Python. */
    PyStatus status = PyConfig_SetBytesString(&config, &config.program_name, python);
    if (!PyStatus_Exception(status))
        status = PyConfig_SetBytesArgv(&config, count + 3, words);
    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status))
        Py_ExitStatusException(status);
    return Py_RunMain();
}
