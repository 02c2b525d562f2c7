/* The game that programs in all languages play together, in C; ../README.md states its rules. */
#include "game.h"

#include <skipstone.h>
#include <time.h>

enum { EVENTS = 64, REASON_BYTES = 256 };

static uint64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Keeps the first reason, as text that is valid in JSON. */
static void keep(char *reason, const char *text, size_t length) {
    if (reason[0] == '\0') {
        snprintf(reason, REASON_BYTES, "%.*s", (int)length, text);
        for (char *at = reason; *at != '\0'; at++) {
            *at = *at == '"' || *at == '\\' || (unsigned char)*at < ' ' ? '\'' : *at;
        }
    }
}

/* Keeps the reason of a failed call. */
static bool succeeds(SkipstoneStatus status, char *reason) {
    if (status != SKIPSTONE_STATUS_OK) {
        char text[REASON_BYTES];
        skipstone_last_error(text, sizeof text);
        keep(reason, text, strlen(text));
    }
    return status == SKIPSTONE_STATUS_OK;
}

/* A message as text; the bytes of the library have no NUL at the end. */
static const char *text_of(const SkipstoneEvent *event) {
    static char text[GAME_LINE_BYTES * 4];
    snprintf(text, sizeof text, "%.*s", (int)event->length, (const char *)event->data);
    return text;
}

/* A client and the state of its game. */
typedef struct {
    SkipstoneClient client;
    GameLedger ledger;
    const char *name;
    long lines, sent;
    uint64_t next_us;
    bool has_started, is_done, is_over;
    char reason[REASON_BYTES];
} Player;

static void say(Player *player, uint16_t channel, const char *text, size_t length) {
    succeeds(skipstone_client_send(player->client, channel, (const uint8_t *)text, length, 0, NULL), player->reason);
}

static void on_client_event(Player *player, const SkipstoneEvent *event) {
    if (event->kind == SKIPSTONE_EVENT_KIND_CONNECTED) {
        printf("{\"event\":\"connected\"}\n");
    } else if (event->kind == SKIPSTONE_EVENT_KIND_CLOSED) {
        keep(player->reason, "closed: ", 8);
        snprintf(player->reason + 8, REASON_BYTES - 8, "%llu", (unsigned long long)event->code);
    } else if (event->kind == SKIPSTONE_EVENT_KIND_MESSAGE) {
        const char *text = text_of(event);
        if (event->channel == GAME_STRESS) {
            game_on_line(&player->ledger, text);
        } else if (strncmp(text, "chat ", 5) == 0) {
            game_on_chat(&player->ledger, text + 5);
        } else if (strncmp(text, "start ", 6) == 0) {
            game_start(&player->ledger, text, player->lines);
            say(player, GAME_CONTROL, "ready", 5);
        } else if (strcmp(text, "go") == 0) {
            player->has_started = true;
            player->next_us = now_us();
        } else if (strcmp(text, "over") == 0) {
            player->is_over = true;
        }
    }
}

/* Sends the lines that are due. */
static void send_lines(Player *player) {
    char line[GAME_LINE_BYTES];
    while (player->has_started && player->sent < player->lines && player->next_us <= now_us()) {
        player->sent++;
        player->next_us += GAME_EVERY_US;
        size_t length = game_line(line, player->name, player->sent);
        say(player, GAME_STRESS, line, length);
        if (player->sent % 10 == 0) {
            int chat = snprintf(line, sizeof line, "chat %s %ld", player->name, player->sent);
            say(player, GAME_CONTROL, line, (size_t)chat);
        }
    }
    if (!player->is_done && player->sent == player->lines && game_is_complete(&player->ledger)) {
        player->is_done = true;
        say(player, GAME_CONTROL, "done", 4);
    }
}

static int play(const GameOptions *options) {
    static Player player;
    player.name = options->name;
    player.lines = options->lines;
    uint64_t end_us = now_us() + (uint64_t)options->seconds * 1000000;
    SkipstoneClientConfig config;
    (void)skipstone_client_config_init(&config, sizeof config);
    /* With it the client follows when its server moves it to another one. */
    config.reconnects = 1;
    SkipstoneStatus status = skipstone_client_connect(options->server, (const uint8_t *)options->name,
                                                      strlen(options->name), &config, &player.client);
    bool is_open = succeeds(status, player.reason);
    while (player.reason[0] == '\0' && !player.is_over) {
        SkipstoneEvent events[EVENTS];
        uint32_t count = 0;
        if (succeeds(skipstone_wait(player.client, GAME_EVERY_US / 2), player.reason) &&
            succeeds(skipstone_poll(player.client, events, EVENTS, &count), player.reason)) {
            for (uint32_t i = 0; i < count; i++) {
                on_client_event(&player, &events[i]);
            }
            send_lines(&player);
        }
        if (now_us() >= end_us) {
            keep(player.reason, "it is not over within the time limit", REASON_BYTES);
        }
    }
    if (is_open) {
        (void)skipstone_client_close(player.client, 0, "thank you", GAME_LINGER_US);
    }
    return game_tell(&player.ledger, "c", options->name, player.sent, player.reason);
}

/* A server and the state of its game. */
typedef struct {
    SkipstoneServer server;
    SkipstonePeer peers[GAME_NAMES_MAX];
    char names[GAME_NAMES_MAX][GAME_NAME_BYTES];
    bool is_connected[GAME_NAMES_MAX];
    int seats, connected;
    long lines, chats, ready, done;
    bool has_started, is_going, is_over;
    char reason[REASON_BYTES];
} Host;

static int seat_of(const Host *host, SkipstonePeer peer) {
    for (int i = 0; i < host->seats; i++) {
        if (host->peers[i] == peer) {
            return i;
        }
    }
    return -1;
}

static void pass(Host *host, uint16_t channel, const void *data, size_t length) {
    succeeds(skipstone_server_broadcast(host->server, SKIPSTONE_EVERYONE, channel, data, length, NULL, NULL), host->reason);
}

static void on_server_event(Host *host, const SkipstoneEvent *event) {
    int seat = seat_of(host, event->peer);
    switch (event->kind) {
    case SKIPSTONE_EVENT_KIND_REQUESTED:
        if (host->seats == GAME_NAMES_MAX) {
            (void)skipstone_server_refuse(host->server, event->peer, SKIPSTONE_CLOSE_CODE_FULL, "no seat is free");
            break;
        }
        host->peers[host->seats] = event->peer;
        snprintf(host->names[host->seats++], GAME_NAME_BYTES, "%.*s", (int)event->length, (const char *)event->data);
        (void)skipstone_server_accept(host->server, event->peer);
        break;
    case SKIPSTONE_EVENT_KIND_CONNECTED:
        if (seat >= 0) {
            host->is_connected[seat] = true;
            host->connected++;
        }
        break;
    case SKIPSTONE_EVENT_KIND_MESSAGE:
        if (event->channel == GAME_STRESS) {
            host->lines++;
            pass(host, GAME_STRESS, event->data, event->length);
        } else if (event->length >= 5 && memcmp(event->data, "chat ", 5) == 0) {
            host->chats++;
            pass(host, GAME_CONTROL, event->data, event->length);
        } else if (event->length == 5 && memcmp(event->data, "ready", 5) == 0) {
            host->ready++;
        } else if (event->length == 4 && memcmp(event->data, "done", 4) == 0) {
            host->done++;
        }
        break;
    case SKIPSTONE_EVENT_KIND_CLOSED:
        if (seat >= 0 && host->is_connected[seat]) {
            host->is_connected[seat] = false;
            host->connected--;
        }
        if (!host->is_over) {
            keep(host->reason, "a client left before the end", REASON_BYTES);
        }
        break;
    default:
        break;
    }
}

/* Starts and ends the game when it is time. */
static void conduct(Host *host, long clients, uint64_t *end_us) {
    if (!host->has_started && host->connected == clients) {
        char start[GAME_NAMES_MAX * GAME_NAME_BYTES] = "start";
        size_t length = 5;
        for (int i = 0; i < host->seats; i++) {
            if (host->is_connected[i]) {
                length += (size_t)snprintf(start + length, sizeof start - length, " %s", host->names[i]);
            }
        }
        host->has_started = true;
        pass(host, GAME_CONTROL, start, length);
    }
    if (!host->is_going && host->ready == clients) {
        host->is_going = true;
        pass(host, GAME_CONTROL, "go", 2);
    }
    if (!host->is_over && host->done == clients) {
        host->is_over = true;
        *end_us = now_us() + GAME_GOODBYE_US;
        pass(host, GAME_CONTROL, "over", 4);
    }
}

/* The URL for pages: browsers accept only a certificate that is valid for a few days, so they get another one. */
static void tell_pages(SkipstoneServer server, uint16_t port) {
    uint8_t hash[SKIPSTONE_FINGERPRINT_BYTES];
    uint32_t count = 0;
    if (skipstone_server_web_fingerprints(server, hash, 1, &count) != SKIPSTONE_STATUS_OK || count == 0) {
        return;
    }
    printf(",\"pages\":\"https://127.0.0.1:%u#sha256=", (unsigned)port);
    for (size_t i = 0; i < sizeof hash; i++) {
        printf("%02x", hash[i]);
    }
    printf("\"");
}

static int serve(const GameOptions *options) {
    static Host host;
    SkipstoneServerConfig config;
    uint64_t end_us = now_us() + (uint64_t)options->seconds * 1000000;
    char url[256];
    uint16_t port = 0;
    (void)skipstone_server_config_init(&config, sizeof config);
    config.listen = options->listen;
    bool is_open = succeeds(skipstone_server_start(&config, &host.server), host.reason);
    if (is_open && succeeds(skipstone_server_url(host.server, url, sizeof url, NULL), host.reason) &&
        succeeds(skipstone_server_port(host.server, &port), host.reason)) {
        printf("{\"event\":\"listening\",\"url\":\"%s\",\"port\":%u", url, (unsigned)port);
        tell_pages(host.server, port);
        printf("}\n");
        fflush(stdout);
    }
    while (host.reason[0] == '\0' && !(host.is_over && host.connected == 0)) {
        SkipstoneEvent events[EVENTS];
        uint32_t count = 0;
        if (succeeds(skipstone_wait(host.server, GAME_EVERY_US / 2), host.reason) &&
            succeeds(skipstone_poll(host.server, events, EVENTS, &count), host.reason)) {
            for (uint32_t i = 0; i < count; i++) {
                on_server_event(&host, &events[i]);
            }
            conduct(&host, options->clients, &end_us);
            succeeds(skipstone_flush(host.server), host.reason);
        }
        if (now_us() >= end_us) {
            if (host.is_over) {
                break;
            }
            keep(host.reason, "it is not over within the time limit", REASON_BYTES);
        }
    }
    if (is_open) {
        (void)skipstone_server_stop(host.server, SKIPSTONE_CLOSE_CODE_SHUTDOWN, "the game is over", GAME_LINGER_US);
    }
    bool is_ok = host.reason[0] == '\0';
    printf("{\"event\":\"result\",\"role\":\"server\",\"language\":\"c\",\"clients\":%ld,\"lines\":%ld,\"chats\":%ld,\"ok\":%s,"
           "\"reason\":\"%s\"}\n",
           options->clients, host.lines, host.chats, is_ok ? "true" : "false", host.reason);
    return is_ok ? 0 : 1;
}

int main(int count, char **words) {
    GameOptions options = {NULL, NULL, "c", 100, 1, 30};
    if (!game_options(count, words, &options)) {
        return 2;
    }
    return options.server != NULL ? play(&options) : serve(&options);
}
