/* A server and a client in one program: the client sends a greeting, the server sends it back. */
#include <skipstone.h>
#include <stdio.h>
#include <stdlib.h>

static void check(SkipstoneStatus status) {
    if (status != SKIPSTONE_STATUS_OK) {
        char text[512];
        skipstone_last_error(text, sizeof text);
        fprintf(stderr, "%s: %s\n", skipstone_status_name(status), text);
        exit(1);
    }
}

int main(void) {
    SkipstoneServerConfig config;
    SkipstoneServer server;
    SkipstoneClient client;
    SkipstoneEvent events[64];
    uint32_t count;
    char url[256];

    check(skipstone_check_abi(SKIPSTONE_ABI_VERSION));
    check(skipstone_server_config_init(&config, sizeof config));
    config.listen = "127.0.0.1:0";
    check(skipstone_server_start(&config, &server));
    check(skipstone_server_url(server, url, sizeof url, NULL));
    check(skipstone_client_connect(url, NULL, 0, NULL, &client));

    for (;;) {
        check(skipstone_wait(server, 1000));
        check(skipstone_poll(server, events, 64, &count));
        for (uint32_t i = 0; i < count; i++) {
            if (events[i].kind == SKIPSTONE_EVENT_KIND_REQUESTED) {
                check(skipstone_server_accept(server, events[i].peer));
            } else if (events[i].kind == SKIPSTONE_EVENT_KIND_MESSAGE) {
                check(skipstone_server_send(server, events[i].peer, events[i].channel, events[i].data, events[i].length, 0, NULL));
            }
        }
        check(skipstone_flush(server));
        check(skipstone_poll(client, events, 64, &count));
        for (uint32_t i = 0; i < count; i++) {
            if (events[i].kind == SKIPSTONE_EVENT_KIND_CONNECTED) {
                check(skipstone_client_send(client, 0, (const uint8_t *)"hello", 5, 0, NULL));
            } else if (events[i].kind == SKIPSTONE_EVENT_KIND_MESSAGE) {
                printf("ok the server said %.*s\n", (int)events[i].length, (const char *)events[i].data);
                check(skipstone_client_close(client, 0, NULL, 0));
                check(skipstone_server_stop(server, 0, NULL, 0));
                return 0;
            } else if (events[i].kind == SKIPSTONE_EVENT_KIND_CLOSED) {
                fprintf(stderr, "closed: %.*s\n", (int)events[i].length, (const char *)events[i].data);
                return 1;
            }
        }
    }
}
