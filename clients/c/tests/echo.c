/* Server and client of one process exchange messages, by every way to connect. */
#include "check.h"

enum { EVENTS = 64 };

static SkipstoneServer start(const char *listen, uint32_t security) {
    SkipstoneServerConfig config;
    SkipstoneServer server;
    CHECK_OK(skipstone_server_config_init(&config, sizeof config));
    config.listen = listen;
    config.security = security;
    CHECK_OK(skipstone_server_start(&config, &server));
    CHECK(server != 0);
    return server;
}

/* Accepts every client, and sends each message back. */
static void serve(SkipstoneServer server) {
    SkipstoneEvent events[EVENTS];
    uint32_t count;
    CHECK_OK(skipstone_poll(server, events, EVENTS, &count));
    for (uint32_t i = 0; i < count; i++) {
        const SkipstoneEvent *event = &events[i];
        if (event->kind == SKIPSTONE_EVENT_KIND_REQUESTED) {
            CHECK(event->length == 5 && memcmp(event->data, "token", 5) == 0);
            CHECK(event->address != NULL && strchr(event->address, ':') != NULL);
            CHECK_OK(skipstone_server_accept(server, event->peer));
        } else if (event->kind == SKIPSTONE_EVENT_KIND_MESSAGE) {
            uint64_t id = 0;
            CHECK_OK(skipstone_server_send(server, event->peer, event->channel, event->data, event->length,
                                           event->age_us, &id));
            CHECK(id != 0);
        }
    }
    CHECK_OK(skipstone_flush(server));
}

/* Sends `total` messages as soon as there is a connection, and reads them back in order. */
static void exchange(SkipstoneServer server, SkipstoneClient client, uint32_t total) {
    uint32_t received = 0;
    for (int round = 0; received < total; round++) {
        SkipstoneEvent events[EVENTS];
        uint32_t count;
        CHECK(round < 10000);
        serve(server);
        CHECK_OK(skipstone_wait(client, 1000));
        CHECK_OK(skipstone_poll(client, events, EVENTS, &count));
        for (uint32_t i = 0; i < count; i++) {
            if (events[i].kind == SKIPSTONE_EVENT_KIND_CONNECTED) {
                for (uint32_t number = 0; number < total; number++) {
                    CHECK_OK(skipstone_client_send(client, 3, (const uint8_t *)&number, sizeof number, 0, NULL));
                }
            } else if (events[i].kind == SKIPSTONE_EVENT_KIND_MESSAGE) {
                uint32_t number;
                CHECK(events[i].channel == 3 && events[i].length == sizeof number);
                memcpy(&number, events[i].data, sizeof number);
                CHECK(number == received);
                received++;
            } else {
                CHECK(events[i].kind != SKIPSTONE_EVENT_KIND_CLOSED);
            }
        }
    }
}

static void encrypted_by_its_url(void) {
    SkipstoneServer server = start("127.0.0.1:0", SKIPSTONE_SECURITY_SELF_SIGNED);
    char url[256];
    SkipstoneClient client;
    CHECK_OK(skipstone_server_url(server, url, sizeof url, NULL));
    CHECK_OK(skipstone_client_connect(url, (const uint8_t *)"token", 5, NULL, &client));
    exchange(server, client, 100);
    CHECK_OK(skipstone_client_close(client, 7, "enough", 100000));
    CHECK_OK(skipstone_server_stop(server, 0, NULL, 0));
}

static void in_memory(void) {
    SkipstoneServer server = start(NULL, SKIPSTONE_SECURITY_PLAIN);
    SkipstoneClient client;
    CHECK_OK(skipstone_client_connect_local(server, (const uint8_t *)"token", 5, NULL, &client));
    exchange(server, client, 100);
    CHECK_OK(skipstone_client_close(client, 7, "enough", 100000));
    CHECK_OK(skipstone_server_stop(server, 0, NULL, 0));
}

int main(void) {
    CHECK_OK(skipstone_check_abi(SKIPSTONE_ABI_VERSION));
    CHECK(skipstone_struct_size(SKIPSTONE_STRUCT_EVENT) == sizeof(SkipstoneEvent));
    RUN(in_memory);
    RUN(encrypted_by_its_url);
    return 0;
}
