#pragma once
#include <stddef.h>

/// What must outlive any Swift code: putting the terminal in order again when the process crashes, and handing signals to
/// the event loop. Handlers may only call functions that are safe in signals, so they are written in C.

/// Remembers the terminal's present modes as those to return to.
void terminal_restore_remember(int terminal);

/// Remembers the text that undoes our modes, and catches every signal that kills.
///
/// @param terminal the descriptor of the terminal.
/// @param reset    what to write to it; copied, at most 511 bytes.
/// @param errors   where standard error went before it was redirected, or -1.
void terminal_restore_arm(int terminal, const char *reset, size_t length, int errors);

/// Gives the signals back. The terminal is no longer touched at the end of the process.
void terminal_restore_disarm(void);

/// Begins to hand SIGWINCH, SIGTSTP, SIGCONT, SIGTERM, SIGHUP and SIGINT to the event loop, each as one byte.
///
/// @return the descriptor to read from, or -1.
int terminal_signals_begin(void);

/// Gives those signals back and closes the descriptor.
void terminal_signals_end(void);

/// Stops the process as the terminal's stop key does, and returns when it continues.
void terminal_stop(void);

/// The descriptor that becomes readable when the main dispatch queue has work. The one that run loops use.
int terminal_main_queue_descriptor(void);

/// Runs what the main dispatch queue has to do. On the main thread only.
void terminal_main_queue_drain(void);
