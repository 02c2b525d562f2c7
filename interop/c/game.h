/* The game of ../README.md: its lines, and how they arrived. For the programs in C and in C++ next to this file. */
#ifndef INTEROP_GAME_H
#define INTEROP_GAME_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GAME_CONTROL = 0,
    GAME_STRESS = 1,
    GAME_EVERY_US = 10000,
    GAME_GOODBYE_US = 2000000,
    GAME_LINGER_US = 500000,
    GAME_NAMES_MAX = 64,
    GAME_NAME_BYTES = 64,
    GAME_LINE_BYTES = 2048
};

/* The parsed command line. */
typedef struct {
    const char *server;
    const char *listen;
    const char *name;
    long lines, clients, seconds;
} GameOptions;

/* Parses a command line; false, after an error message, if it is invalid. */
static inline bool game_options(int count, char **words, GameOptions *options) {
    bool is_right = count % 2 == 1;
    for (int i = 1; i + 1 < count && is_right; i += 2) {
        const char *value = words[i + 1];
        if (strcmp(words[i], "--server") == 0) {
            options->server = value;
        } else if (strcmp(words[i], "--listen") == 0) {
            options->listen = value;
        } else if (strcmp(words[i], "--name") == 0) {
            options->name = value;
        } else if (strcmp(words[i], "--lines") == 0) {
            options->lines = strtol(value, NULL, 10);
        } else if (strcmp(words[i], "--clients") == 0) {
            options->clients = strtol(value, NULL, 10);
        } else if (strcmp(words[i], "--seconds") == 0) {
            options->seconds = strtol(value, NULL, 10);
        } else {
            is_right = false;
        }
    }
    is_right = is_right && (options->server == NULL) != (options->listen == NULL) && options->lines > 0 &&
               options->clients > 0 && options->seconds > 0 && strlen(options->name) < GAME_NAME_BYTES;
    if (!is_right) {
        fprintf(stderr, "--server URL [--name NAME] [--lines K] [--seconds S], or --listen HOST:PORT [--clients C] [--seconds S]\n");
    }
    return is_right;
}

/* A stress line, whose content every program can compute. Returns its length. */
static inline size_t game_line(char *line, const char *name, long number) {
    int head = snprintf(line, GAME_LINE_BYTES, "%s %ld ", name, number);
    long filler = number * 37 % 1500;
    for (long i = 0; i < filler; i++) {
        line[head + i] = (char)('a' + (number + i) % 26);
    }
    line[head + filler] = '\0';
    return (size_t)(head + filler);
}

/* The lines received from each name. */
typedef struct {
    long lines;
    int names;
    char name[GAME_NAMES_MAX][GAME_NAME_BYTES];
    long next_line[GAME_NAMES_MAX], next_chat[GAME_NAMES_MAX];
    long received, chats, duplicated, out_of_order, changed;
} GameLedger;

/* Starts with the names of a `start NAME NAME ...` message. */
static inline void game_start(GameLedger *ledger, const char *text, long lines) {
    memset(ledger, 0, sizeof *ledger);
    ledger->lines = lines;
    for (const char *at = strchr(text, ' '); at != NULL && ledger->names < GAME_NAMES_MAX; at = strchr(at, ' ')) {
        at++;
        int i = ledger->names++;
        snprintf(ledger->name[i], GAME_NAME_BYTES, "%.*s", (int)strcspn(at, " "), at);
        ledger->next_line[i] = 1;
        ledger->next_chat[i] = 10;
    }
}

/* The index of a name, and the number after it; -1 if there is no such name. */
static inline int game_find(const GameLedger *ledger, const char *text, long *number) {
    size_t length = strcspn(text, " ");
    for (int i = 0; i < ledger->names; i++) {
        if (strlen(ledger->name[i]) == length && memcmp(ledger->name[i], text, length) == 0 && text[length] == ' ') {
            *number = strtol(text + length, NULL, 10);
            return i;
        }
    }
    return -1;
}

static inline void game_count(GameLedger *ledger, long *next, long number, long step) {
    ledger->duplicated += number < *next;
    ledger->out_of_order += number > *next;
    if (number >= *next) {
        *next = number + step;
    }
}

/* A message on the channel of stress lines. */
static inline void game_on_line(GameLedger *ledger, const char *text) {
    char expected[GAME_LINE_BYTES];
    long number;
    int i = game_find(ledger, text, &number);
    if (i < 0 || number < 1 || (game_line(expected, ledger->name[i], number), strcmp(expected, text) != 0)) {
        ledger->changed++;
        return;
    }
    ledger->received++;
    game_count(ledger, &ledger->next_line[i], number, 1);
}

/* The text after `chat `. */
static inline void game_on_chat(GameLedger *ledger, const char *text) {
    long number;
    int i = game_find(ledger, text, &number);
    if (i < 0) {
        ledger->changed++;
        return;
    }
    ledger->chats++;
    game_count(ledger, &ledger->next_chat[i], number, 10);
}

static inline bool game_is_complete(const GameLedger *ledger) {
    for (int i = 0; i < ledger->names; i++) {
        if (ledger->next_line[i] <= ledger->lines || ledger->next_chat[i] <= ledger->lines) {
            return false;
        }
    }
    return ledger->names > 0;
}

/* Prints a client's result. Returns the exit code. `reason` is plain text without quotes, empty if the game was
 * completed. */
static inline int game_tell(const GameLedger *ledger, const char *language, const char *name, long sent, const char *reason) {
    bool is_counted = ledger->received == ledger->lines * ledger->names && ledger->chats == ledger->lines / 10 * ledger->names;
    bool is_clean = ledger->duplicated + ledger->out_of_order + ledger->changed == 0;
    bool is_ok = reason[0] == '\0' && game_is_complete(ledger) && is_counted && is_clean;
    printf("{\"event\":\"result\",\"role\":\"client\",\"language\":\"%s\",\"name\":\"%s\",\"sent\":%ld,\"received\":%ld,\"chats\":%ld,"
           "\"duplicated\":%ld,\"out_of_order\":%ld,\"changed\":%ld,\"ok\":%s,\"reason\":\"%s\"}\n",
           language, name, sent, ledger->received, ledger->chats, ledger->duplicated, ledger->out_of_order, ledger->changed,
           is_ok ? "true" : "false", reason);
    fflush(stdout);
    return is_ok ? 0 : 1;
}

#endif
