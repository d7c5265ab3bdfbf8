#define _GNU_SOURCE
#include "CTerminalRestore.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

// Design note. A trap in Swift raises SIGILL. The handler writes the reset text, puts the terminal's modes back, gives
// the signal to the handler that was installed before (Swift's backtracer) and returns: the trapping instruction runs
// again, and the trace is printed to a terminal in order. Nothing here allocates or locks.

static const int fatal_signals[] = {SIGILL, SIGTRAP, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGQUIT, SIGSYS};
enum { fatal_count = sizeof fatal_signals / sizeof *fatal_signals };
static struct sigaction fatal_before[fatal_count];

static volatile sig_atomic_t is_armed;
static int terminal_descriptor = -1;
static int errors_before = -1;
static struct termios modes_before;
static int has_modes;
static char reset_text[512];
static size_t reset_length;

static void restore_now(void) {
    if (!is_armed) return;
    is_armed = 0;
    size_t written = 0;
    while (written < reset_length) {
        ssize_t count = write(terminal_descriptor, reset_text + written, reset_length - written);
        if (count <= 0) {
            if (count < 0 && errno == EINTR) continue;
            break;
        }
        written += (size_t)count;
    }
    if (has_modes) tcsetattr(terminal_descriptor, TCSANOW, &modes_before);
    if (errors_before >= 0) dup2(errors_before, STDERR_FILENO);
}

static void handle_fatal(int number, siginfo_t *info, void *context) {
    (void)context;
    int saved = errno;
    restore_now();
    if (info->si_code <= 0) {
        // Sent by a process: no instruction raises it again, and a handler that waits for that would let the program go
        // on, taking keys without a screen. So it ends here.
        signal(number, SIG_DFL);
        raise(number);
        errno = saved;
        return;
    }
    // A fault comes again by itself.
    for (int i = 0; i < fatal_count; i++)
        if (fatal_signals[i] == number) sigaction(number, &fatal_before[i], NULL);
    errno = saved;
}

void terminal_restore_remember(int terminal) { has_modes = tcgetattr(terminal, &modes_before) == 0; }

void terminal_restore_arm(int terminal, const char *reset, size_t length, int errors) {
    static int registered;
    terminal_descriptor = terminal;
    errors_before = errors;
    reset_length = length < sizeof reset_text ? length : sizeof reset_text;
    memcpy(reset_text, reset, reset_length);
    is_armed = 1;
    if (!registered) {
        registered = 1;
        atexit(restore_now);
    }
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle_fatal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < fatal_count; i++) sigaction(fatal_signals[i], &action, &fatal_before[i]);
}

void terminal_restore_disarm(void) {
    if (!is_armed) return;
    is_armed = 0;
    for (int i = 0; i < fatal_count; i++) sigaction(fatal_signals[i], &fatal_before[i], NULL);
}

// Signals for the event loop.

static const int loop_signals[] = {SIGWINCH, SIGTSTP, SIGCONT, SIGTERM, SIGHUP, SIGINT};
enum { loop_count = sizeof loop_signals / sizeof *loop_signals };
static struct sigaction loop_before[loop_count];
static int signal_pipe[2] = {-1, -1};

static void handle_loop(int number) {
    int saved = errno;
    unsigned char byte = (unsigned char)number;
    ssize_t ignored = write(signal_pipe[1], &byte, 1);
    (void)ignored;
    errno = saved;
}

static void install_loop_handler(int number, struct sigaction *before) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle_loop;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, before);
}

int terminal_signals_begin(void) {
    if (pipe2(signal_pipe, O_NONBLOCK | O_CLOEXEC) != 0) return -1;
    // The parent process may have had them blocked, and we would inherit that.
    sigset_t ours;
    sigemptyset(&ours);
    for (int i = 0; i < loop_count; i++) {
        install_loop_handler(loop_signals[i], &loop_before[i]);
        sigaddset(&ours, loop_signals[i]);
    }
    pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
    return signal_pipe[0];
}

void terminal_signals_end(void) {
    if (signal_pipe[0] < 0) return;
    for (int i = 0; i < loop_count; i++) sigaction(loop_signals[i], &loop_before[i], NULL);
    close(signal_pipe[0]);
    close(signal_pipe[1]);
    signal_pipe[0] = signal_pipe[1] = -1;
}

void terminal_stop(void) {
    struct sigaction standard;
    memset(&standard, 0, sizeof standard);
    standard.sa_handler = SIG_DFL;
    sigemptyset(&standard.sa_mask);
    sigaction(SIGTSTP, &standard, NULL);
    raise(SIGTSTP);
    install_loop_handler(SIGTSTP, NULL);
}

// The main queue's descriptor and its servicing: underscored, but what Foundation's run loop on Linux is built on.

extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *message);

int terminal_main_queue_descriptor(void) { return _dispatch_get_main_queue_handle_4CF(); }

void terminal_main_queue_drain(void) {
    unsigned long long count;
    ssize_t ignored = read(_dispatch_get_main_queue_handle_4CF(), &count, sizeof count);
    (void)ignored;
    _dispatch_main_queue_callback_4CF(NULL);
}
