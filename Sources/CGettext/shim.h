#pragma once
#include <langinfo.h>
#include <libintl.h>
#include <locale.h>
#include <string.h>

/// Chooses the locale of messages; answers 0 where it is not installed. The empty name takes the environment's.
static inline int roster_messages_locale(const char *name) { return setlocale(LC_MESSAGES, name) != 0; }

/// Lets the C library's own messages, which come in the encoding of the locale's characters, be in UTF-8.
static inline void roster_characters_in_utf8(void) {
    if (setlocale(LC_CTYPE, "") == 0 || strcmp(nl_langinfo(CODESET), "UTF-8") != 0) setlocale(LC_CTYPE, "C.UTF-8");
}

/// Says where the catalogues of the program are. They answer in UTF-8 whatever the locale.
static inline void roster_messages_bind(const char *folder) {
    bindtextdomain("roster", folder);
    bind_textdomain_codeset("roster", "UTF-8");
}

/// The text of the catalogue, or the text itself.
static inline const char *roster_message(const char *text) { return dgettext("roster", text); }
