#pragma once
// The wide-character half of the interface is hidden unless it is asked for before the include.
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>
