/* A program of version 1.0 of the interface, with that version's header: it runs with every library of the same major version. */
#include "version_1.h"
#define SKIPSTONE_H
#include "check.h"

enum { EVENTS = 16 };

static void a_program_of_version_1_0_runs(void) {
    SkipstoneServerConfig config;
    SkipstoneClientConfig client_config;
    SkipstoneChannel channel;
    SkipstoneStats stats;
    SkipstoneOverview overview;
    SkipstoneServer server;
    SkipstoneClient client;
    char url[256];
    int is_over = 0;
    CHECK_OK(skipstone_check_abi(SKIPSTONE_ABI_VERSION));
    CHECK(skipstone_struct_size(SKIPSTONE_STRUCT_EVENT) == sizeof(SkipstoneEvent));
    CHECK_OK(skipstone_server_config_init(&config, sizeof config));
    CHECK(config.size == sizeof config && config.websocket == 1 && config.down.loss == 0.0);
    CHECK_OK(skipstone_channel_init(&channel, sizeof channel, 0, 5, SKIPSTONE_DELIVERY_RELIABLE_UNORDERED));
    config.listen = "127.0.0.1:0";
    config.channels = &channel;
    config.channel_count = 1;
    CHECK_OK(skipstone_server_start(&config, &server));
    CHECK_OK(skipstone_server_url(server, url, sizeof url, NULL));
    CHECK_OK(skipstone_client_config_init(&client_config, sizeof client_config));
    CHECK_OK(skipstone_client_connect(url, (const uint8_t *)"old", 3, &client_config, &client));
    for (int round = 0; !is_over; round++) {
        SkipstoneEvent events[EVENTS];
        uint32_t count;
        CHECK(round < 10000);
        CHECK_OK(skipstone_wait(server, 500));
        CHECK_OK(skipstone_poll(server, events, EVENTS, &count));
        for (uint32_t i = 0; i < count; i++) {
            if (events[i].kind == SKIPSTONE_EVENT_KIND_REQUESTED) {
                CHECK_OK(skipstone_server_accept(server, events[i].peer));
            } else if (events[i].kind == SKIPSTONE_EVENT_KIND_MESSAGE) {
                CHECK(events[i].length == 5 && events[i].channel == 5);
                overview.size = sizeof overview;
                SkipstoneStatus status = skipstone_overview(server, events[i].peer, &overview);
                CHECK(status == SKIPSTONE_STATUS_OK || status == SKIPSTONE_STATUS_NOT_AVAILABLE);
                CHECK_OK(skipstone_server_close(server, events[i].peer, 3, "bye", 0));
            }
        }
        CHECK_OK(skipstone_flush(server));
        CHECK_OK(skipstone_poll(client, events, EVENTS, &count));
        for (uint32_t i = 0; i < count; i++) {
            if (events[i].kind == SKIPSTONE_EVENT_KIND_CONNECTED) {
                CHECK_OK(skipstone_client_send(client, 5, (const uint8_t *)"hello", 5, 0, NULL));
            } else if (events[i].kind == SKIPSTONE_EVENT_KIND_CLOSED) {
                CHECK(events[i].code == 3 && events[i].length == 3);
                is_over = 1;
            }
        }
    }
    stats.size = sizeof stats;
    CHECK_OK(skipstone_server_stats(server, &stats));
    CHECK(stats.size == sizeof stats);
    CHECK_OK(skipstone_client_close(client, 0, NULL, 0));
    CHECK_OK(skipstone_server_stop(server, 0, NULL, 0));
}

int main(void) {
    RUN(a_program_of_version_1_0_runs);
    return 0;
}
