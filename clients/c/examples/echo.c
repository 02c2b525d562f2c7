/* The smallest server, which sends every message back, and the smallest client, which sends one message.
 *
 *   echo --serve 0.0.0.0:7777     serves until it is killed; its first line is the URL
 *   echo --connect URL            asks once
 *   echo --test                   both in one program
 */
#include <skipstone.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 64, TICK_US = 10000, LINGER_US = 500000, ROUNDS_MAX = 2000 };

/* Ends the program with the reason, if a call failed. */
static void check(SkipstoneStatus status) {
    if (status != SKIPSTONE_STATUS_OK) {
        char text[512];
        skipstone_last_error(text, sizeof text);
        fprintf(stderr, "%s: %s\n", skipstone_status_name(status), text);
        exit(1);
    }
}

static SkipstoneServer start(const char *address) {
    SkipstoneServerConfig config;
    SkipstoneServer server;
    check(skipstone_server_config_init(&config, sizeof config));
    config.listen = address;
    check(skipstone_server_start(&config, &server));
    return server;
}

/* One tick of the server. */
static void serve(SkipstoneServer server, uint64_t wait_us) {
    SkipstoneEvent events[EVENTS];
    uint32_t count;
    check(skipstone_wait(server, wait_us));
    check(skipstone_poll(server, events, EVENTS, &count));
    for (uint32_t i = 0; i < count; i++) {
        const SkipstoneEvent *event = &events[i];
        if (event->kind == SKIPSTONE_EVENT_KIND_REQUESTED) {
            /* A game checks the token first: a name, a password, a ticket. The client may have left in the meantime. */
            (void)skipstone_server_accept(server, event->peer);
        } else if (event->kind == SKIPSTONE_EVENT_KIND_MESSAGE) {
            /* A client that has left, or does not read, is no reason to stop. */
            (void)skipstone_server_send(server, event->peer, event->channel, event->data, event->length, event->age_us,
                                        NULL);
        }
    }
    check(skipstone_flush(server));
}

/* Sends one message. If the server is in this program, it is served in the meantime. */
static void ask(const char *url, SkipstoneServer server) {
    SkipstoneClient client;
    check(skipstone_client_connect(url, (const uint8_t *)"echo", 4, NULL, &client));
    for (int round = 0; round < ROUNDS_MAX; round++) {
        SkipstoneEvent events[EVENTS];
        uint32_t count;
        if (server != 0) {
            serve(server, 0);
        }
        check(skipstone_wait(client, TICK_US));
        check(skipstone_poll(client, events, EVENTS, &count));
        for (uint32_t i = 0; i < count; i++) {
            const SkipstoneEvent *event = &events[i];
            if (event->kind == SKIPSTONE_EVENT_KIND_CONNECTED) {
                check(skipstone_client_send(client, 0, (const uint8_t *)"hello", 5, 0, NULL));
            } else if (event->kind == SKIPSTONE_EVENT_KIND_MESSAGE) {
                printf("ok the server said %.*s\n", (int)event->length, (const char *)event->data);
                fflush(stdout);
                check(skipstone_client_close(client, 0, NULL, LINGER_US));
                return;
            } else if (event->kind == SKIPSTONE_EVENT_KIND_CLOSED) {
                fprintf(stderr, "closed with code %llu: %.*s\n", (unsigned long long)event->code, (int)event->length,
                        (const char *)event->data);
                exit(1);
            }
        }
    }
    fprintf(stderr, "the server did not answer\n");
    exit(1);
}

int main(int count, char **words) {
    check(skipstone_check_abi(SKIPSTONE_ABI_VERSION));
    if (count == 3 && strcmp(words[1], "--connect") == 0) {
        ask(words[2], 0);
        return 0;
    }
    int must_test = count == 2 && strcmp(words[1], "--test") == 0;
    if (!must_test && !(count == 3 && strcmp(words[1], "--serve") == 0)) {
        fprintf(stderr, "echo --serve ADDRESS, echo --connect URL, or echo --test\n");
        return 2;
    }
    SkipstoneServer server = start(must_test ? "127.0.0.1:0" : words[2]);
    char url[256];
    check(skipstone_server_url(server, url, sizeof url, NULL));
    printf("%s\n", url);
    fflush(stdout);
    if (must_test) {
        ask(url, server);
        check(skipstone_server_stop(server, SKIPSTONE_CLOSE_CODE_SHUTDOWN, "the example is over", LINGER_US));
        return 0;
    }
    for (;;) {
        serve(server, TICK_US);
    }
}
