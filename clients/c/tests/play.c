/* The calls of a game: channels, groups, receipts, trust, closing with a reason, reconnecting, statistics, stepping. */
#include "check.h"

enum { EVENTS = 32, ROUNDS = 20000 };

typedef struct {
    SkipstoneServer server;
    SkipstoneClient client;
    SkipstonePeer peer;
    uint32_t messages;
    uint32_t acknowledged;
    uint32_t given_up;
    int is_connected;
    int is_closed;
    uint64_t close_code;
    uint16_t closed_by;
    char reason[600];
    char token[16];
} Game;

static void on_event(Game *game, const SkipstoneEvent *event, int is_server) {
    switch (event->kind) {
    case SKIPSTONE_EVENT_KIND_REQUESTED:
        game->peer = event->peer;
        CHECK(event->length < sizeof game->token);
        memset(game->token, 0, sizeof game->token);
        if (event->length > 0) {
            memcpy(game->token, event->data, event->length);
        }
        CHECK_OK(skipstone_server_accept(game->server, event->peer));
        break;
    case SKIPSTONE_EVENT_KIND_CONNECTED:
        game->is_connected |= is_server ? 1 : 2;
        break;
    case SKIPSTONE_EVENT_KIND_MESSAGE:
        game->messages++;
        break;
    case SKIPSTONE_EVENT_KIND_ACKNOWLEDGED:
        game->acknowledged++;
        break;
    case SKIPSTONE_EVENT_KIND_GIVEN_UP:
        game->given_up++;
        break;
    case SKIPSTONE_EVENT_KIND_CLOSED:
        game->is_closed |= is_server ? 1 : 2;
        if (!is_server) {
            CHECK(event->length < sizeof game->reason);
            if (event->length > 0) {
                memcpy(game->reason, event->data, event->length);
            }
            game->reason[event->length] = 0;
            game->close_code = event->code;
            game->closed_by = event->detail;
        }
        break;
    default:
        break;
    }
}

static void turn(Game *game) {
    SkipstoneEvent events[EVENTS];
    uint32_t count;
    CHECK_OK(skipstone_flush(game->server));
    CHECK_OK(skipstone_wait(game->server, 500));
    CHECK_OK(skipstone_poll(game->server, events, EVENTS, &count));
    for (uint32_t i = 0; i < count; i++) {
        on_event(game, &events[i], 1);
    }
    CHECK_OK(skipstone_wait(game->client, 500));
    CHECK_OK(skipstone_poll(game->client, events, EVENTS, &count));
    for (uint32_t i = 0; i < count; i++) {
        on_event(game, &events[i], 0);
    }
}

#define UNTIL(game, condition)                                            \
    for (int round_ = 0; !(condition); round_++) {                        \
        CHECK(round_ < ROUNDS && #condition);                             \
        turn(game);                                                       \
    }

static void start(Game *game, SkipstoneServerConfig *config) {
    memset(game, 0, sizeof *game);
    CHECK_OK(skipstone_server_start(config, &game->server));
}

static void defaults(SkipstoneServerConfig *config) {
    CHECK_OK(skipstone_server_config_init(config, sizeof *config));
    config->listen = "127.0.0.1:0";
}

static void connect_to(Game *game, const SkipstoneClientConfig *config) {
    char url[256];
    CHECK_OK(skipstone_server_url(game->server, url, sizeof url, NULL));
    CHECK_OK(skipstone_client_connect(url, NULL, 0, config, &game->client));
    UNTIL(game, game->is_connected == 3);
}

static void stop(Game *game) {
    CHECK_OK(skipstone_client_close(game->client, 0, NULL, 0));
    CHECK_OK(skipstone_server_stop(game->server, 0, NULL, 0));
}

static void channels_have_rules_and_receipts(void) {
    SkipstoneServerConfig config;
    SkipstoneChannel channels[3], learned;
    Game game;
    defaults(&config);
    CHECK_OK(skipstone_channel_init(&channels[0], sizeof channels[0], 0, 0, SKIPSTONE_DELIVERY_RELIABLE_ORDERED));
    channels[0].receipts = 1;
    channels[0].priority = 0;
    channels[0].redundancy = SKIPSTONE_REDUNDANCY_REPEAT;
    channels[0].redundancy_first = 2;
    CHECK_OK(skipstone_channel_init(&channels[1], sizeof channels[1], 1, 99, SKIPSTONE_DELIVERY_RELIABLE_SEQUENCED));
    CHECK_OK(skipstone_channel_init(&channels[2], sizeof channels[2], 100, 100, SKIPSTONE_DELIVERY_UNRELIABLE));
    config.channels = channels;
    config.channel_count = 3;
    start(&game, &config);
    connect_to(&game, NULL);
    learned.size = sizeof learned;
    CHECK_OK(skipstone_client_channel(game.client, 0, &learned));
    CHECK(memcmp(&learned, &channels[0], sizeof learned) == 0);
    CHECK_FAILS(skipstone_client_channel(game.client, 101, &learned), SKIPSTONE_STATUS_NO_SUCH_CHANNEL, "101");
    CHECK_FAILS(skipstone_client_send(game.client, 101, NULL, 0, 0, NULL), SKIPSTONE_STATUS_NO_SUCH_CHANNEL, "101");
    for (int i = 0; i < 50; i++) {
        CHECK_OK(skipstone_client_send(game.client, 0, (const uint8_t *)"x", 1, 0, NULL));
    }
    UNTIL(&game, game.messages == 50 && game.acknowledged == 50);
    /* On a sequenced channel the newest message wins: the others arrive, or are given up. */
    for (int i = 0; i < 50; i++) {
        CHECK_OK(skipstone_server_send(game.server, game.peer, 7, (const uint8_t *)"y", 1, 0, NULL));
    }
    UNTIL(&game, game.messages + game.given_up >= 100);
    stop(&game);
}

static void groups_and_broadcasts(void) {
    SkipstoneServerConfig config;
    Game game;
    uint32_t peers = 99;
    uint64_t id = 0;
    CHECK_OK(skipstone_server_config_init(&config, sizeof config));
    start(&game, &config);
    CHECK_OK(skipstone_client_connect_local(game.server, NULL, 0, NULL, &game.client));
    UNTIL(&game, game.is_connected == 3);
    CHECK_OK(skipstone_server_broadcast(game.server, 5, 0, (const uint8_t *)"a", 1, &peers, &id));
    CHECK(peers == 0 && id != 0);
    CHECK_OK(skipstone_server_join(game.server, game.peer, 5));
    CHECK_OK(skipstone_server_broadcast(game.server, 5, 0, (const uint8_t *)"b", 1, &peers, NULL));
    CHECK(peers == 1);
    CHECK_OK(skipstone_server_leave(game.server, game.peer, 5));
    CHECK_OK(skipstone_server_broadcast(game.server, 5, 0, (const uint8_t *)"c", 1, &peers, NULL));
    CHECK(peers == 0);
    CHECK_OK(skipstone_server_broadcast(game.server, SKIPSTONE_EVERYONE, 0, (const uint8_t *)"d", 1, &peers, NULL));
    CHECK(peers == 1);
    UNTIL(&game, game.messages == 2);
    stop(&game);
}

static void a_broadcast_skips_the_excluded_peers(void) {
    SkipstoneServerConfig config;
    Game game;
    SkipstonePeer all[2] = {0, 0}, except[2];
    char address[64];
    uint32_t peers = 99, count = 0;
    uint64_t first = 0, id = 0;
    CHECK_OK(skipstone_server_config_init(&config, sizeof config));
    start(&game, &config);
    CHECK_OK(skipstone_client_connect_local(game.server, NULL, 0, NULL, &game.client));
    UNTIL(&game, game.is_connected == 3);
    except[0] = 77;
    except[1] = game.peer;
    CHECK_OK(skipstone_server_broadcast_except(
        game.server, SKIPSTONE_EVERYONE, except, 2, 0, (const uint8_t *)"a", 1, &peers, &first));
    CHECK(peers == 0 && first != 0);
    CHECK_OK(skipstone_server_broadcast_except(
        game.server, SKIPSTONE_EVERYONE, except, 1, 0, (const uint8_t *)"b", 1, &peers, &id));
    CHECK(peers == 1 && id > first);
    CHECK_OK(skipstone_server_broadcast_except(
        game.server, SKIPSTONE_EVERYONE, NULL, 0, 0, (const uint8_t *)"c", 1, &peers, NULL));
    CHECK(peers == 1);
    UNTIL(&game, game.messages == 2);
    CHECK_OK(skipstone_server_peers(game.server, all, 2, &count));
    CHECK(count == 1 && all[0] == game.peer && all[1] == 0);
    CHECK_OK(skipstone_server_peers(game.server, NULL, 0, &count));
    CHECK(count == 1);
    CHECK_OK(skipstone_server_peer_address(game.server, game.peer, address, sizeof address, NULL));
    CHECK(strcmp(address, "127.0.0.1:0") == 0);
    CHECK_FAILS(skipstone_server_peer_address(game.server, 77, address, sizeof address, NULL),
                SKIPSTONE_STATUS_NOT_AVAILABLE, "no such client");
    stop(&game);
}

static void denied_addresses_are_counted_until_they_are_allowed(void) {
    static const char *const here = "127.0.0.1", *const nonsense = "nonsense";
    SkipstoneServerConfig config;
    SkipstoneDriverStats driver;
    Game game;
    char url[256];
    defaults(&config);
    config.denied = &nonsense;
    config.denied_count = 1;
    CHECK_FAILS(skipstone_server_start(&config, &game.server), SKIPSTONE_STATUS_BAD_VALUE, "denied");
    config.denied = &here;
    start(&game, &config);
    CHECK_OK(skipstone_server_url(game.server, url, sizeof url, NULL));
    CHECK_OK(skipstone_client_connect(url, NULL, 0, NULL, &game.client));
    driver.size = sizeof driver;
    UNTIL(&game, skipstone_driver_stats(game.server, &driver) == 0 && driver.denied > 0);
    CHECK(game.is_connected == 0 && driver.receive_buffer_bytes > 0);
    CHECK_FAILS(skipstone_server_set_denied(game.server, &nonsense, 1), SKIPSTONE_STATUS_BAD_VALUE, "nor a network");
    CHECK_OK(skipstone_server_set_denied(game.server, NULL, 0));
    UNTIL(&game, game.is_connected == 3);
    stop(&game);
}

static void a_pinned_server_is_trusted_and_another_is_not(void) {
    SkipstoneServerConfig config;
    SkipstoneClientConfig client;
    Game game;
    char address[64], url[128];
    defaults(&config);
    start(&game, &config);
    CHECK_OK(skipstone_client_config_init(&client, sizeof client));
    client.trust = SKIPSTONE_TRUST_PINNED;
    CHECK_OK(skipstone_server_fingerprint(game.server, client.fingerprint));
    CHECK_OK(skipstone_server_address(game.server, address, sizeof address, NULL));
    snprintf(url, sizeof url, "skip://%s", address);
    CHECK_OK(skipstone_client_connect(url, NULL, 0, &client, &game.client));
    UNTIL(&game, game.is_connected == 3);
    CHECK_OK(skipstone_client_close(game.client, 0, NULL, 0));
    client.fingerprint[0] ^= 1;
    game.is_closed = 0;
    CHECK_OK(skipstone_client_connect(url, NULL, 0, &client, &game.client));
    UNTIL(&game, game.is_closed & 2);
    CHECK(game.close_code == SKIPSTONE_CLOSE_CODE_SECURITY);
    stop(&game);
}

static void a_close_has_a_code_and_a_reason_and_a_client_reconnects(void) {
    SkipstoneServerConfig config;
    Game game;
    SkipstonePeer first, own, own_again;
    defaults(&config);
    start(&game, &config);
    connect_to(&game, NULL);
    first = game.peer;
    CHECK_OK(skipstone_client_peer(game.client, &own));
    CHECK_OK(skipstone_server_close(game.server, game.peer, 42, "the match is over, caf\xc3\xa9", 1000000));
    UNTIL(&game, game.is_closed == 3);
    CHECK(game.close_code == 42 && game.closed_by == SKIPSTONE_CLOSED_BY_PEER);
    CHECK(strcmp(game.reason, "the match is over, caf\xc3\xa9") == 0);
    game.is_connected = 0;
    CHECK_OK(skipstone_client_reconnect(game.client));
    UNTIL(&game, game.is_connected == 3);
    CHECK(game.peer != first);
    CHECK_OK(skipstone_client_peer(game.client, &own_again));
    CHECK(own_again == own);
    game.is_closed = 0;
    CHECK_OK(skipstone_server_kick(game.server, game.peer, NULL));
    UNTIL(&game, game.is_closed == 3);
    CHECK(game.close_code == SKIPSTONE_CLOSE_CODE_KICKED);
    stop(&game);
}

static void a_client_reconnects_with_its_latest_token(void) {
    SkipstoneServerConfig config;
    SkipstoneClientConfig client;
    Game game;
    char url[256];
    uint8_t long_token[1025] = {0};
    uint64_t pause = 0;
    defaults(&config);
    start(&game, &config);
    CHECK_OK(skipstone_client_config_init(&client, sizeof client));
    CHECK(client.reconnects == 0 && client.reconnect_attempts_max == 20 && client.reconnect_pause_min_us == 250000);
    client.reconnects = 1;
    client.reconnect_pause_min_us = 20000;
    CHECK_OK(skipstone_server_url(game.server, url, sizeof url, NULL));
    CHECK_OK(skipstone_client_connect(url, (const uint8_t *)"first", 5, &client, &game.client));
    UNTIL(&game, game.is_connected == 3);
    CHECK(strcmp(game.token, "first") == 0);
    CHECK_FAILS(skipstone_client_returns_in(game.client, &pause), SKIPSTONE_STATUS_NOT_AVAILABLE, "by itself");
    CHECK_FAILS(skipstone_client_set_token(game.client, long_token, sizeof long_token), SKIPSTONE_STATUS_TOO_LONG, "1024");
    CHECK_OK(skipstone_client_set_token(game.client, (const uint8_t *)"again", 5));
    game.is_connected = 0;
    CHECK_OK(skipstone_server_close(game.server, game.peer, SKIPSTONE_CLOSE_CODE_RESTART, "retry=60..60", 0));
    UNTIL(&game, game.is_closed & 2);
    CHECK_OK(skipstone_client_returns_in(game.client, &pause));
    CHECK(pause <= 100000);
    CHECK_FAILS(skipstone_client_reconnect(game.client), SKIPSTONE_STATUS_STILL_OPEN, "by itself");
    UNTIL(&game, game.is_connected == 3);
    CHECK(strcmp(game.token, "again") == 0);
    /* An end that is meant is final: the application may still connect again, with the same token. */
    game.is_closed = game.is_connected = 0;
    CHECK_OK(skipstone_server_kick(game.server, game.peer, NULL));
    UNTIL(&game, game.is_closed == 3);
    CHECK_FAILS(skipstone_client_returns_in(game.client, &pause), SKIPSTONE_STATUS_NOT_AVAILABLE, "by itself");
    memset(game.token, 0, sizeof game.token);
    CHECK_OK(skipstone_client_reconnect(game.client));
    UNTIL(&game, game.is_connected == 3);
    CHECK(strcmp(game.token, "again") == 0);
    stop(&game);
}

static void every_line_arrives_once_under_loss(void) {
    SkipstoneServerConfig config;
    SkipstoneClientConfig client;
    Game game;
    defaults(&config);
    start(&game, &config);
    CHECK_OK(skipstone_client_config_init(&client, sizeof client));
    client.impaired = 1;
    client.impairment_seed = 4711;
    client.up.loss = client.down.loss = 0.02;
    client.up.delay_us = client.down.delay_us = 2000;
    connect_to(&game, &client);
    for (int i = 0; i < 1000; i++) {
        CHECK_OK(skipstone_client_send(game.client, 0, (const uint8_t *)"up", 2, 0, NULL));
        CHECK_OK(skipstone_server_send(game.server, game.peer, 0, (const uint8_t *)"down", 4, 0, NULL));
    }
    UNTIL(&game, game.messages == 2000);
    stop(&game);
}

static void statistics_are_read(void) {
    SkipstoneServerConfig config;
    SkipstoneStats stats;
    SkipstoneOverview overview, overviews[2];
    SkipstoneDriverStats driver;
    SkipstoneServerTime estimate;
    Game game;
    SkipstonePeer own = 0;
    uint64_t time = 0;
    uint32_t count = 0;
    defaults(&config);
    start(&game, &config);
    connect_to(&game, NULL);
    CHECK_OK(skipstone_client_send(game.client, 0, (const uint8_t *)"hello", 5, 0, NULL));
    UNTIL(&game, game.messages == 1);
    stats.size = sizeof stats;
    overview.size = sizeof overview;
    overviews[0].size = overviews[1].size = sizeof overviews[0];
    driver.size = sizeof driver;
    UNTIL(&game, skipstone_server_stats(game.server, &stats) == 0 && stats.received.payload_bytes == 5);
    UNTIL(&game, skipstone_overview(game.server, game.peer, &overview) == 0 && overview.stats.received.messages == 1);
    CHECK(overview.peer == game.peer && strcmp((const char *)overview.carrier, "udp") == 0);
    CHECK_OK(skipstone_server_overviews(game.server, overviews, 2, &count));
    CHECK(count == 1 && overviews[0].peer == game.peer);
    CHECK_OK(skipstone_driver_stats(game.server, &driver));
    CHECK(driver.rounds > 0);
    CHECK_OK(skipstone_client_peer(game.client, &own));
    UNTIL(&game, skipstone_overview(game.client, own, &overview) == 0 && overview.rtt_us > 0);
    UNTIL(&game, skipstone_client_server_time(game.client, &estimate) == 0);
    CHECK_OK(skipstone_server_time(game.server, &time));
    CHECK(estimate.at_us <= time + estimate.error_us && estimate.error_us < 10000000);
    stop(&game);
}

static void browsers_get_certificate_hashes(void) {
    SkipstoneServerConfig config;
    SkipstoneServer server;
    uint8_t hashes[2][SKIPSTONE_FINGERPRINT_BYTES];
    char url[64];
    uint32_t count = 99;
    defaults(&config);
    CHECK_OK(skipstone_server_start(&config, &server));
    memset(hashes, 0, sizeof hashes);
    CHECK_OK(skipstone_server_web_fingerprints(server, hashes[0], 2, &count));
    CHECK(count == 2 && memcmp(hashes[0], hashes[1], sizeof hashes[0]) != 0);
    CHECK_OK(skipstone_server_webtransport_url(server, url, sizeof url, NULL));
    CHECK(strncmp(url, "https://", 8) == 0);
    CHECK_OK(skipstone_release(server));
}

static void by_websocket_and_tcp(void) {
    static const char *const schemes[] = {"ws", "tcp", "skip+plain"};
    for (size_t i = 0; i < 3; i++) {
        SkipstoneServerConfig config;
        Game game;
        uint16_t port = 0;
        char url[64];
        defaults(&config);
        config.security = SKIPSTONE_SECURITY_PLAIN;
        start(&game, &config);
        CHECK_OK(skipstone_server_port(game.server, &port));
        snprintf(url, sizeof url, "%s://127.0.0.1:%u", schemes[i], port);
        CHECK_OK(skipstone_client_connect(url, NULL, 0, NULL, &game.client));
        UNTIL(&game, game.is_connected == 3);
        CHECK_OK(skipstone_client_send(game.client, 0, (const uint8_t *)"x", 1, 0, NULL));
        UNTIL(&game, game.messages == 1);
        stop(&game);
    }
}

static void stepped_in_one_thread(void) {
    SkipstoneServerConfig config;
    SkipstoneClientConfig client;
    Game game;
    defaults(&config);
    config.threading = SKIPSTONE_THREADING_STEPPED;
    start(&game, &config);
    CHECK_OK(skipstone_client_config_init(&client, sizeof client));
    client.threading = SKIPSTONE_THREADING_STEPPED;
    connect_to(&game, &client);
    CHECK_OK(skipstone_client_send(game.client, 0, (const uint8_t *)"x", 1, 0, NULL));
    for (int i = 0; i < 100 && game.messages == 0; i++) {
        CHECK_OK(skipstone_drive(game.client, 1000));
        CHECK_OK(skipstone_drive(game.server, 1000));
        turn(&game);
    }
    CHECK(game.messages == 1);
    stop(&game);
}

int main(void) {
    RUN(channels_have_rules_and_receipts);
    RUN(groups_and_broadcasts);
    RUN(a_broadcast_skips_the_excluded_peers);
    RUN(denied_addresses_are_counted_until_they_are_allowed);
    RUN(a_pinned_server_is_trusted_and_another_is_not);
    RUN(a_close_has_a_code_and_a_reason_and_a_client_reconnects);
    RUN(a_client_reconnects_with_its_latest_token);
    RUN(every_line_arrives_once_under_loss);
    RUN(statistics_are_read);
    RUN(browsers_get_certificate_hashes);
    RUN(by_websocket_and_tcp);
    RUN(stepped_in_one_thread);
    return 0;
}
