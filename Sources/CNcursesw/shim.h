#pragma once
// The wide-character half of the interface is hidden unless it is asked for before the include.
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <stdio.h>
#include <term.h>
#include <termios.h>

// Global variables of curses and of the C library: Swift 6 refuses to read them as shared mutable state.
static inline WINDOW *ncurses_stdscr(void) { return stdscr; }
static inline int ncurses_lines(void) { return LINES; }
static inline int ncurses_columns(void) { return COLS; }
static inline int ncurses_colors(void) { return COLORS; }
static inline SCREEN *ncurses_newterm(const char *type) { return newterm(type, stdout, stdin); }

// Macros that Swift does not import: they shift or cast.
static inline attr_t ncurses_attribute_bold(void) { return A_BOLD; }
static inline attr_t ncurses_attribute_dim(void) { return A_DIM; }
static inline attr_t ncurses_attribute_reverse(void) { return A_REVERSE; }
static inline attr_t ncurses_attribute_underline(void) { return A_UNDERLINE; }
static inline mmask_t ncurses_button1_pressed(void) { return BUTTON1_PRESSED | BUTTON1_CLICKED; }
static inline mmask_t ncurses_button1_double(void) { return BUTTON1_DOUBLE_CLICKED; }
static inline mmask_t ncurses_wheel_up(void) { return BUTTON4_PRESSED; }
static inline mmask_t ncurses_wheel_down(void) { return BUTTON5_PRESSED; }

// `setcchar` takes the pair as an untyped pointer, which needs a variable of the right size.
static inline int ncurses_put(int y, int x, const wchar_t *text, attr_t attributes, int pair) {
    cchar_t cell;
    if (setcchar(&cell, text, attributes, 0, &pair) == ERR) return ERR;
    return mvwadd_wch(stdscr, y, x, &cell);
}

// `tigetstr` answers (char *)-1 for a name that is no string capability: a pointer Swift cannot compare comfortably.
static inline const char *ncurses_capability(const char *name) {
    const char *text = tigetstr(name);
    return text == (const char *)-1 ? NULL : text;
}

// `wcwidth` is declared only under a feature macro that must stand before the first system header.
extern int wcwidth(wchar_t character);
static inline int ncurses_width(wchar_t character) { return wcwidth(character); }
