/* Counts what a program does to files of one folder, and lets one of these calls go wrong. For LD_PRELOAD, on Linux.
 *
 * FAULT_FOLDER  the folder, as an absolute path without links
 * FAULT_LOG     a file elsewhere: gets a line for each call, its name and its file
 * FAULT_ENDS    only calls count that are about a file whose path ends so: " (deleted)" for files without a name
 * FAULT_AT      number of the call, from 1; 0 or nothing: none
 * FAULT_DO      what happens then:
 *               kill    the program dies before the call
 *               torn    a write does the first half, then the program dies; other calls: like kill
 *               short   a write does the first half, and says so
 *               int     the program gets a SIGINT, then the call goes on; term: a SIGTERM
 *               run     a shell runs what FAULT_RUN says, then the call goes on
 *               NUMBER  the call fails with this errno; with a + behind it, so does each one after it that needs room
 * FAULT_DISK    a file elsewhere: gets what changes files and the folder, in its order (see note)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum effect { NONE, KILL, TORN, SHORT, SIGNAL, RUN, FAIL };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *folder;
static size_t length;
static const char *ending;
static int report = -1;
static long at;
static enum effect effect;
static int number;  /* of the signal, or errno */
static int lasting;
static int disk = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long calls;

#define REAL(result, name, ...) \
    static result (*real)(__VA_ARGS__); \
    if (!real) real = (result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static ssize_t raw_write(int file, const void *bytes, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t);
    return real(file, bytes, size);
}

static void start(void) {
    const char *text = getenv("FAULT_LOG");
    int (*real_open)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    if (text) report = real_open(text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    text = getenv("FAULT_DISK");
    if (text) disk = real_open(text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    folder = getenv("FAULT_FOLDER");
    length = folder ? strlen(folder) : 0;
    ending = getenv("FAULT_ENDS");
    text = getenv("FAULT_AT");
    at = text ? atol(text) : 0;
    text = getenv("FAULT_DO");
    if (!text) text = "";
    number = atoi(text);
    lasting = strchr(text, '+') != NULL;
    if (!strcmp(text, "kill")) effect = KILL;
    else if (!strcmp(text, "torn")) effect = TORN;
    else if (!strcmp(text, "short")) effect = SHORT;
    else if (!strcmp(text, "run")) effect = RUN;
    else if (!strcmp(text, "int")) effect = SIGNAL, number = SIGINT;
    else if (!strcmp(text, "term")) effect = SIGNAL, number = SIGTERM;
    else if (number) effect = FAIL;
}

static int is_inside(const char *path) {
    return length && !strncmp(path, folder, length) && (path[length] == '/' || path[length] == 0);
}

/* What a call that names a file, or has it open, is about; NULL if that is not our business. */
static const char *named(int base, const char *path, char *buffer) {
    if (!path) return NULL;
    if (path[0] == '/') return is_inside(path) ? path : NULL;
    char whole[PATH_MAX];
    if (base == AT_FDCWD) {
        if (!getcwd(whole, sizeof whole)) return NULL;
    } else {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", base);
        ssize_t size = readlink(link, whole, sizeof whole - 1);
        if (size < 0) return NULL;
        whole[size] = 0;
    }
    if (!strcmp(path, ".")) path = "";
    if (snprintf(buffer, PATH_MAX, "%s%s%s", whole, *path ? "/" : "", path) >= PATH_MAX) return NULL;
    return is_inside(buffer) ? buffer : NULL;
}

static const char *opened(int file, char *buffer) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, buffer, PATH_MAX - 1);
    if (size < 0) return NULL;
    buffer[size] = 0;
    return is_inside(buffer) ? buffer : NULL;
}

static int ends_so(const char *path) {
    size_t of_path = strlen(path), of_ending = ending ? strlen(ending) : 0;
    return of_path >= of_ending && !strcmp(path + of_path - of_ending, ending ? ending : "");
}

/* Counts a call; whether it is to go wrong. */
static int turn(const char *call, const char *path, int needs_room) {
    pthread_once(&once, start);
    if (!path || !ends_so(path)) return 0;
    int saved = errno;
    pthread_mutex_lock(&lock);
    long now = ++calls;
    char line[PATH_MAX + 64];
    int size = snprintf(line, sizeof line, "%s %s\n", call, path);
    if (report >= 0 && size > 0) raw_write(report, line, size);
    pthread_mutex_unlock(&lock);
    errno = saved;
    if (effect == NONE || at == 0 || now < at || (now > at && !(lasting && needs_room))) return 0;
    if (effect == SIGNAL) {
        kill(getpid(), number);
        /* The thread that heeds signals gets its turn. */
        usleep(50000);
        return 0;
    }
    if (effect == RUN) {
        /* What it starts is not watched. */
        unsetenv("LD_PRELOAD");
        const char *script = getenv("FAULT_RUN");
        /* Unlike system(), this leaves SIGINT to the program. */
        pid_t child = fork();
        if (child == 0) {
            execl("/bin/sh", "sh", "-c", script ? script : "", (char *)NULL);
            _exit(127);
        }
        int status = 0;
        while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR);
        if (child < 0 || status) abort();
        errno = saved;
        return 0;
    }
    if (effect == KILL) kill(getpid(), SIGKILL);
    return 1;
}

/* Writes down a change that has been made: a line, then the bytes of a write.
 *
 *     WHAT INODE PLACE SIZE NAME
 *
 * WHAT is write, truncate, sync, create (a file that was not there), name (of a file that is there) or unname.
 */
static void note(const char *what, long inode, long place, long size, const char *path, const void *bytes) {
    if (disk < 0) return;
    int saved = errno;
    const char *name = path ? strrchr(path, '/') : NULL;
    char line[PATH_MAX + 128];
    int length = snprintf(line, sizeof line, "%s %ld %ld %ld %s\n", what, inode, place, size, name ? name + 1 : "");
    pthread_mutex_lock(&lock);
    if (length > 0) raw_write(disk, line, length);
    if (bytes) raw_write(disk, bytes, size);
    pthread_mutex_unlock(&lock);
    errno = saved;
}

/* The file behind a descriptor of ours, 0 if it is none of the folder's. */
static long inode(int file) {
    char buffer[PATH_MAX];
    struct stat about;
    return disk >= 0 && opened(file, buffer) && !fstat(file, &about) ? (long)about.st_ino : 0;
}

static void note_name(const char *what, const char *path) {
    struct stat about;
    if (disk >= 0 && path && !lstat(path, &about)) note(what, about.st_ino, 0, 0, path, NULL);
}

/* The call fails. */
static int fail(void) {
    if (effect == TORN) kill(getpid(), SIGKILL);
    errno = number;
    return -1;
}

#define BEFORE(path_of, call, room) \
    char buffer[PATH_MAX]; \
    pthread_once(&once, start); \
    if (turn(call, path_of, room) && effect != SHORT) return fail()

#define WRITE(name, arguments, parameters, half, start_of) \
    ssize_t name parameters { \
        REAL(ssize_t, #name, arguments); \
        char buffer[PATH_MAX]; \
        pthread_once(&once, start); \
        long ours = inode(file), from = ours ? (long)(start_of) : 0; \
        if (turn("write", opened(file, buffer), 1)) { \
            if (effect == FAIL) return fail(); \
            if (size > 1) size /= 2; \
            ssize_t written = half; \
            if (effect == TORN) kill(getpid(), SIGKILL); \
            return written; \
        } \
        ssize_t done = half; \
        if (ours && done > 0) note("write", ours, from, done, NULL, bytes); \
        return done; \
    }

#define COMMA ,
WRITE(write, int COMMA const void * COMMA size_t, (int file, const void *bytes, size_t size), real(file, bytes, size),
      lseek(file, 0, SEEK_CUR))
WRITE(pwrite, int COMMA const void * COMMA size_t COMMA off_t,
      (int file, const void *bytes, size_t size, off_t place), real(file, bytes, size, place), place)
WRITE(pwrite64, int COMMA const void * COMMA size_t COMMA off64_t,
      (int file, const void *bytes, size_t size, off64_t place), real(file, bytes, size, place), place)

#define OPEN(name, arguments, parameters, base, call_with, call_without) \
    int name parameters { \
        REAL(int, #name, arguments); \
        BEFORE(named(base, path, buffer), flags & O_CREAT ? "create" : "open", !!(flags & O_CREAT)); \
        if (flags & (O_CREAT | O_TMPFILE)) { \
            va_list rest; \
            va_start(rest, flags); \
            mode_t mode = va_arg(rest, mode_t); \
            va_end(rest); \
            const char *made = disk >= 0 ? named(base, path, buffer) : NULL; \
            int is_new = made && access(made, F_OK); \
            int file = call_with; \
            if (is_new && file >= 0) note_name("create", made); \
            return file; \
        } \
        return call_without; \
    }

OPEN(open, const char * COMMA int COMMA ..., (const char *path, int flags, ...), AT_FDCWD,
     real(path, flags, mode), real(path, flags))
OPEN(open64, const char * COMMA int COMMA ..., (const char *path, int flags, ...), AT_FDCWD,
     real(path, flags, mode), real(path, flags))
OPEN(openat, int COMMA const char * COMMA int COMMA ..., (int base, const char *path, int flags, ...), base,
     real(base, path, flags, mode), real(base, path, flags))
OPEN(openat64, int COMMA const char * COMMA int COMMA ..., (int base, const char *path, int flags, ...), base,
     real(base, path, flags, mode), real(base, path, flags))

int fsync(int file) {
    REAL(int, "fsync", int);
    BEFORE(opened(file, buffer), "sync", 0);
    int done = real(file);
    if (!done && inode(file)) note("sync", inode(file), 0, 0, NULL, NULL);
    return done;
}

int fdatasync(int file) {
    REAL(int, "fdatasync", int);
    BEFORE(opened(file, buffer), "sync", 0);
    int done = real(file);
    if (!done && inode(file)) note("sync", inode(file), 0, 0, NULL, NULL);
    return done;
}

int ftruncate(int file, off_t size) {
    REAL(int, "ftruncate", int, off_t);
    BEFORE(opened(file, buffer), "truncate", 1);
    int done = real(file, size);
    if (!done && inode(file)) note("truncate", inode(file), 0, size, NULL, NULL);
    return done;
}

int ftruncate64(int file, off64_t size) {
    REAL(int, "ftruncate64", int, off64_t);
    BEFORE(opened(file, buffer), "truncate", 1);
    int done = real(file, size);
    if (!done && inode(file)) note("truncate", inode(file), 0, size, NULL, NULL);
    return done;
}

int rename(const char *path, const char *to) {
    REAL(int, "rename", const char *, const char *);
    BEFORE(named(AT_FDCWD, path, buffer), "rename", 1);
    int done = real(path, to);
    if (!done) {
        char other[PATH_MAX];
        const char *ours = named(AT_FDCWD, path, buffer);
        if (ours) note("unname", 0, 0, 0, ours, NULL);
        note_name("name", named(AT_FDCWD, to, other));
    }
    return done;
}

int link(const char *path, const char *to) {
    REAL(int, "link", const char *, const char *);
    BEFORE(named(AT_FDCWD, path, buffer), "link", 1);
    int done = real(path, to);
    if (!done) note_name("name", named(AT_FDCWD, to, buffer));
    return done;
}

/* What is linked may have no name yet: the new name says which folder that is about. */
int linkat(int base, const char *path, int other, const char *to, int flags) {
    REAL(int, "linkat", int, const char *, int, const char *, int);
    BEFORE(named(other, to, buffer), "link", 1);
    int done = real(base, path, other, to, flags);
    if (!done) note_name("name", named(other, to, buffer));
    return done;
}

int unlink(const char *path) {
    REAL(int, "unlink", const char *);
    BEFORE(named(AT_FDCWD, path, buffer), "unlink", 0);
    int done = real(path);
    const char *ours = named(AT_FDCWD, path, buffer);
    if (!done && ours) note("unname", 0, 0, 0, ours, NULL);
    return done;
}

int unlinkat(int base, const char *path, int flags) {
    REAL(int, "unlinkat", int, const char *, int);
    BEFORE(named(base, path, buffer), "unlink", 0);
    int done = real(base, path, flags);
    const char *ours = named(base, path, buffer);
    if (!done && ours) note("unname", 0, 0, 0, ours, NULL);
    return done;
}
