/* Errors of an application: each returns a status and a text, and has no other effect. */
#include "check.h"

static SkipstoneServer offline(void) {
    SkipstoneServerConfig config;
    SkipstoneServer server;
    CHECK_OK(skipstone_server_config_init(&config, sizeof config));
    CHECK_OK(skipstone_server_start(&config, &server));
    return server;
}

static SkipstoneClient local_client(SkipstoneServer server) {
    SkipstoneClient client;
    CHECK_OK(skipstone_client_connect_local(server, NULL, 0, NULL, &client));
    return client;
}

/* Lets the client in. Returns its number on the server. */
static SkipstonePeer let_in(SkipstoneServer server, SkipstoneClient client) {
    SkipstonePeer peer = 0;
    int connected = 0;
    for (int round = 0; connected < 2; round++) {
        SkipstoneEvent event;
        uint32_t count;
        CHECK(round < 10000);
        CHECK_OK(skipstone_wait(server, 1000));
        CHECK_OK(skipstone_poll(server, &event, 1, &count));
        if (count == 1 && event.kind == SKIPSTONE_EVENT_KIND_REQUESTED) {
            peer = event.peer;
            CHECK_OK(skipstone_server_accept(server, peer));
        } else if (count == 1 && event.kind == SKIPSTONE_EVENT_KIND_CONNECTED) {
            connected++;
        }
        CHECK_OK(skipstone_poll(client, &event, 1, &count));
        connected += count == 1 && event.kind == SKIPSTONE_EVENT_KIND_CONNECTED;
    }
    return peer;
}

static void null_pointers(void) {
    SkipstoneServer server = offline();
    SkipstoneClient client = local_client(server);
    SkipstoneEvent event;
    SkipstoneServer other;
    uint32_t count;
    CHECK_FAILS(skipstone_poll(server, NULL, 1, &count), SKIPSTONE_STATUS_BAD_POINTER, "events is NULL");
    CHECK_FAILS(skipstone_poll(server, &event, 1, NULL), SKIPSTONE_STATUS_BAD_POINTER, "count is NULL");
    CHECK_FAILS(skipstone_server_start(NULL, &other), SKIPSTONE_STATUS_BAD_POINTER, "config is NULL");
    CHECK_FAILS(skipstone_server_config_init(NULL, 100), SKIPSTONE_STATUS_BAD_POINTER, "config is NULL");
    CHECK_FAILS(skipstone_client_connect(NULL, NULL, 0, NULL, &client), SKIPSTONE_STATUS_BAD_POINTER, "url is NULL");
    CHECK(client == 0);
    CHECK_FAILS(skipstone_client_connect("skip://x:1", NULL, 0, NULL, NULL), SKIPSTONE_STATUS_BAD_POINTER, "client");
    CHECK_FAILS(skipstone_client_connect("skip://x:1", NULL, 5, NULL, &client), SKIPSTONE_STATUS_BAD_POINTER, "token");
    CHECK_FAILS(skipstone_server_send(server, 1, 0, NULL, 5, 0, NULL), SKIPSTONE_STATUS_BAD_POINTER, "data is NULL");
    CHECK_FAILS(skipstone_server_stats(server, NULL), SKIPSTONE_STATUS_BAD_POINTER, "stats is NULL");
    CHECK_FAILS(skipstone_server_port(server, NULL), SKIPSTONE_STATUS_BAD_POINTER, "port is NULL");
    CHECK_FAILS(skipstone_server_url(server, NULL, 10, NULL), SKIPSTONE_STATUS_BUFFER_TOO_SMALL, "needs 7");
    /* Where nothing is wanted, nothing is given. */
    CHECK(skipstone_last_error(NULL, 0) > 0);
    CHECK_OK(skipstone_poll(server, NULL, 0, &count));
    CHECK_OK(skipstone_server_stop(server, 0, NULL, 0));
    CHECK_OK(skipstone_release_all());
}

static void unaligned_pointers(void) {
    SkipstoneServer server = offline();
    uint64_t room[4];
    void *odd = (char *)room + 1;
    CHECK_FAILS(skipstone_poll(server, odd, 1, (uint32_t *)(void *)room), SKIPSTONE_STATUS_BAD_POINTER, "not aligned");
    CHECK_FAILS(skipstone_server_time(server, odd), SKIPSTONE_STATUS_BAD_POINTER, "not aligned");
    CHECK_OK(skipstone_release(server));
}

static void invalid_handles(void) {
    SkipstoneServer server = offline();
    SkipstoneClient client = local_client(server);
    SkipstoneEvent event;
    uint32_t count;
    CHECK_FAILS(skipstone_flush(0), SKIPSTONE_STATUS_BAD_HANDLE, "0");
    CHECK_FAILS(skipstone_flush(UINT64_MAX), SKIPSTONE_STATUS_BAD_HANDLE, "no server or client");
    CHECK_FAILS(skipstone_flush(server + 1000), SKIPSTONE_STATUS_BAD_HANDLE, "no server or client");
    CHECK_FAILS(skipstone_flush(server ^ (1ull << 40)), SKIPSTONE_STATUS_BAD_HANDLE, "no server or client");
    /* A client's where a server's belongs, and the reverse: neither ends by it. */
    CHECK_FAILS(skipstone_server_accept(client, 1), SKIPSTONE_STATUS_WRONG_KIND, "a client");
    CHECK_FAILS(skipstone_server_stop(client, 0, NULL, 0), SKIPSTONE_STATUS_WRONG_KIND, "a client");
    CHECK_FAILS(skipstone_client_send(server, 0, NULL, 0, 0, NULL), SKIPSTONE_STATUS_WRONG_KIND, "a server");
    CHECK_FAILS(skipstone_client_close(server, 0, NULL, 0), SKIPSTONE_STATUS_WRONG_KIND, "a server");
    CHECK_FAILS(skipstone_client_connect_local(client, NULL, 0, NULL, &client), SKIPSTONE_STATUS_WRONG_KIND, "a client");
    /* After the end. */
    CHECK_OK(skipstone_server_stop(server, 0, NULL, 0));
    CHECK_FAILS(skipstone_server_stop(server, 0, NULL, 0), SKIPSTONE_STATUS_BAD_HANDLE, "stopped, closed or released");
    CHECK_FAILS(skipstone_poll(server, &event, 1, &count), SKIPSTONE_STATUS_BAD_HANDLE, "stopped, closed or released");
    CHECK(count == 0);
    CHECK_FAILS(skipstone_release(server), SKIPSTONE_STATUS_BAD_HANDLE, "stopped, closed or released");
    /* Its place is used again, its number is not. */
    SkipstoneServer next = offline();
    CHECK(next != server);
    CHECK_FAILS(skipstone_flush(server), SKIPSTONE_STATUS_BAD_HANDLE, "stopped, closed or released");
    CHECK_OK(skipstone_flush(next));
    CHECK_OK(skipstone_release_all());
    CHECK_FAILS(skipstone_flush(next), SKIPSTONE_STATUS_BAD_HANDLE, "stopped, closed or released");
}

static void invalid_peers(void) {
    SkipstoneServer server = offline();
    SkipstoneOverview overview;
    overview.size = sizeof overview;
    const SkipstonePeer none[] = {0, 1, 99, UINT64_MAX, 1ull << 63};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        CHECK_FAILS(skipstone_server_accept(server, none[i]), SKIPSTONE_STATUS_UNKNOWN_PEER, "no peer");
        CHECK_FAILS(skipstone_server_send(server, none[i], 0, NULL, 0, 0, NULL), SKIPSTONE_STATUS_UNKNOWN_PEER, "no peer");
        CHECK_FAILS(skipstone_server_kick(server, none[i], "x"), SKIPSTONE_STATUS_UNKNOWN_PEER, "no peer");
        CHECK_FAILS(skipstone_server_join(server, none[i], 1), SKIPSTONE_STATUS_UNKNOWN_PEER, "no peer");
        CHECK_FAILS(skipstone_overview(server, none[i], &overview), SKIPSTONE_STATUS_NOT_AVAILABLE, "no figures");
    }
    CHECK_OK(skipstone_release(server));
}

static void texts_that_are_not_utf8(void) {
    SkipstoneServer server = offline();
    SkipstoneClient client = local_client(server);
    SkipstonePeer peer = let_in(server, client);
    SkipstoneServerConfig config;
    SkipstoneServer other;
    CHECK_FAILS(skipstone_server_kick(server, peer, "caf\xe9"), SKIPSTONE_STATUS_NOT_UTF8, "byte 3");
    CHECK_FAILS(skipstone_client_close(client, 0, "\xff", 0), SKIPSTONE_STATUS_NOT_UTF8, "reason");
    CHECK_FAILS(skipstone_client_connect("skip://\xc3\x28:1", NULL, 0, NULL, &client), SKIPSTONE_STATUS_NOT_UTF8, "url");
    CHECK_OK(skipstone_server_config_init(&config, sizeof config));
    config.listen = "\x80";
    CHECK_FAILS(skipstone_server_start(&config, &other), SKIPSTONE_STATUS_NOT_UTF8, "listen");
    const char *const origins[] = {"https://a.example", "\xfe"};
    config.listen = "127.0.0.1:0";
    config.origins = origins;
    config.origin_count = 2;
    CHECK_FAILS(skipstone_server_start(&config, &other), SKIPSTONE_STATUS_NOT_UTF8, "origins");
    CHECK_OK(skipstone_release_all());
}

static void invalid_lengths(void) {
    SkipstoneServer server = offline();
    SkipstoneClient client = local_client(server);
    SkipstonePeer peer = let_in(server, client);
    uint8_t *large = calloc(1, 2 << 20);
    uint8_t token[1025] = {0};
    SkipstoneClient other;
    CHECK(large != NULL);
    CHECK_FAILS(skipstone_server_send(server, peer, 0, large, 2 << 20, 0, NULL), SKIPSTONE_STATUS_TOO_LONG, "2097152 bytes");
    CHECK_FAILS(skipstone_client_send(client, 0, large, 2 << 20, 0, NULL), SKIPSTONE_STATUS_TOO_LONG, "2097152 bytes");
    CHECK_FAILS(skipstone_client_send(client, 0, large, SIZE_MAX, 0, NULL), SKIPSTONE_STATUS_TOO_LONG, "4 GiB");
    CHECK_FAILS(skipstone_client_send(client, 0, large, SIZE_MAX / 2, 0, NULL), SKIPSTONE_STATUS_TOO_LONG, "4 GiB");
    CHECK_FAILS(skipstone_client_connect_local(server, token, 1025, NULL, &other), SKIPSTONE_STATUS_TOO_LONG, "1025 bytes");
    CHECK_FAILS(skipstone_server_set_query_answer(server, large, 2000), SKIPSTONE_STATUS_TOO_LONG, "2000");
    CHECK_OK(skipstone_server_send(server, peer, 0, NULL, 0, 0, NULL));
    free(large);
    CHECK_OK(skipstone_release_all());
}

static void structures_of_another_size(void) {
    struct {
        SkipstoneServerConfig config;
        uint64_t later;
    } newer;
    SkipstoneServerConfig config;
    SkipstoneStats stats;
    SkipstoneServer server;
    memset(&config, 0, sizeof config);
    CHECK_FAILS(skipstone_server_start(&config, &server), SKIPSTONE_STATUS_BAD_SIZE, "is 0");
    CHECK_FAILS(skipstone_server_config_init(&config, 8), SKIPSTONE_STATUS_BAD_SIZE, "is 8");
    memset(&config, 0x5a, sizeof config);
    CHECK_FAILS(skipstone_server_start(&config, &server), SKIPSTONE_STATUS_BAD_SIZE, "1515870810");
    /* A newer header: fields that the library does not know must be unset. */
    CHECK_OK(skipstone_server_config_init(&newer.config, sizeof newer));
    CHECK(newer.config.size == sizeof newer && newer.later == 0);
    CHECK_OK(skipstone_server_start(&newer.config, &server));
    stats.size = 3;
    CHECK_FAILS(skipstone_server_stats(server, &stats), SKIPSTONE_STATUS_BAD_SIZE, "is 3");
    CHECK_OK(skipstone_release(server));
    newer.later = 1;
    CHECK_FAILS(skipstone_server_start(&newer.config, &server), SKIPSTONE_STATUS_WRONG_ABI, "older than the header");
    CHECK_FAILS(skipstone_check_abi(SKIPSTONE_ABI_VERSION + 1), SKIPSTONE_STATUS_WRONG_ABI, "ship the library");
    CHECK_FAILS(skipstone_check_abi(SKIPSTONE_ABI_VERSION + (1 << 16)), SKIPSTONE_STATUS_WRONG_ABI, "ship the library");
    CHECK(skipstone_struct_size(0) == 0 && skipstone_struct_size(1000) == 0);
}

static void impossible_configurations(void) {
    SkipstoneServerConfig config;
    SkipstoneClientConfig client_config;
    SkipstoneChannel channel;
    SkipstoneInboundRule rule;
    SkipstoneServer server;
    SkipstoneClient client;
#define WRONG(change, status, words)                                              \
    CHECK_OK(skipstone_server_config_init(&config, sizeof config));               \
    config.listen = "127.0.0.1:0";                                                \
    config.security = SKIPSTONE_SECURITY_PLAIN;                                   \
    change;                                                                       \
    CHECK_FAILS(skipstone_server_start(&config, &server), status, words);         \
    CHECK(server == 0)
    WRONG(config.listen = "nowhere", SKIPSTONE_STATUS_BAD_VALUE, "listen");
    WRONG(config.listen = "192.0.2.1:1", SKIPSTONE_STATUS_SYSTEM, "listen");
    WRONG(config.security = 77, SKIPSTONE_STATUS_BAD_VALUE, "security is 77");
    WRONG(config.threading = 2, SKIPSTONE_STATUS_BAD_VALUE, "threading is 2");
    WRONG(config.websocket = 2, SKIPSTONE_STATUS_BAD_VALUE, "websocket is 2");
    WRONG(config.congestion = 9, SKIPSTONE_STATUS_BAD_VALUE, "congestion is 9");
    WRONG(config.redundancy = 200, SKIPSTONE_STATUS_BAD_VALUE, "redundancy is 200");
    WRONG(config.shards = 0, SKIPSTONE_STATUS_BAD_VALUE, "0 shards");
    WRONG(config.datagram_bytes_max = 70000, SKIPSTONE_STATUS_BAD_VALUE, "datagram_bytes_max");
    WRONG(config.idle_timeout_us = 0, SKIPSTONE_STATUS_BAD_VALUE, "idle_timeout");
    WRONG(config.queue_bytes_max = 1, SKIPSTONE_STATUS_BAD_VALUE, "queue_bytes_max");
    WRONG(config.channel_count = 1, SKIPSTONE_STATUS_BAD_POINTER, "channels is NULL");
    WRONG(config.channels = &channel, SKIPSTONE_STATUS_BAD_VALUE, "channels is empty");
    WRONG(config.requires_tls = 1, SKIPSTONE_STATUS_BAD_VALUE, "requires_tls");
    WRONG(config.impaired = 1; config.up.loss = 2.0; config.websocket = 0, SKIPSTONE_STATUS_BAD_VALUE, "loss");
    WRONG(config.security = SKIPSTONE_SECURITY_FILES, SKIPSTONE_STATUS_BAD_POINTER, "certificate is NULL");
    WRONG(config.security = SKIPSTONE_SECURITY_FILES; config.certificate = "none.pem", SKIPSTONE_STATUS_BAD_IDENTITY,
          "none.pem");
    WRONG(config.security = SKIPSTONE_SECURITY_PEM; config.certificate = "x", SKIPSTONE_STATUS_BAD_IDENTITY, "");
    CHECK_FAILS(skipstone_channel_init(&channel, sizeof channel, 0, 9, 5), SKIPSTONE_STATUS_BAD_VALUE, "delivery is 5");
    CHECK_OK(skipstone_channel_init(&channel, sizeof channel, 0, 9, SKIPSTONE_DELIVERY_UNRELIABLE));
    channel.overflow = 3;
    WRONG(config.channels = &channel; config.channel_count = 1, SKIPSTONE_STATUS_BAD_VALUE, "overflow is 3");
    channel.overflow = 0;
    channel.weight = 0;
    WRONG(config.channels = &channel; config.channel_count = 1, SKIPSTONE_STATUS_BAD_VALUE, "");
    CHECK_OK(skipstone_inbound_rule_init(&rule, sizeof rule, 0, 9));
    rule.direction = 5;
    WRONG(config.inbound = &rule; config.inbound_count = 1, SKIPSTONE_STATUS_BAD_VALUE, "direction is 5");

    CHECK_OK(skipstone_client_config_init(&client_config, sizeof client_config));
    client_config.trust = 4;
    CHECK_FAILS(skipstone_client_connect("skip://127.0.0.1:1", NULL, 0, &client_config, &client),
                SKIPSTONE_STATUS_BAD_VALUE, "trust is 4");
    client_config.trust = SKIPSTONE_TRUST_AUTHORITIES;
    CHECK_FAILS(skipstone_client_connect("skip://127.0.0.1:1", NULL, 0, &client_config, &client),
                SKIPSTONE_STATUS_BAD_POINTER, "authorities is NULL");
    client_config.authorities = "no PEM";
    CHECK_FAILS(skipstone_client_connect("skip://127.0.0.1:1", NULL, 0, &client_config, &client),
                SKIPSTONE_STATUS_BAD_TRUST, "certificate");
    CHECK_FAILS(skipstone_client_connect("http://127.0.0.1:1", NULL, 0, NULL, &client), SKIPSTONE_STATUS_BAD_URL, "");
    CHECK_FAILS(skipstone_client_connect("", NULL, 0, NULL, &client), SKIPSTONE_STATUS_BAD_URL, "");
}

static void calls_at_the_wrong_time(void) {
    SkipstoneServer server = offline();
    SkipstoneClient client = local_client(server);
    SkipstoneChannel rule;
    SkipstoneServerTime time;
    char text[64];
    size_t length = 0;
    rule.size = sizeof rule;
    CHECK_FAILS(skipstone_client_send(client, 0, NULL, 0, 0, NULL), SKIPSTONE_STATUS_NOT_CONNECTED, "not established");
    CHECK_FAILS(skipstone_client_channel(client, 0, &rule), SKIPSTONE_STATUS_NOT_AVAILABLE, "not been connected");
    CHECK_FAILS(skipstone_client_server_time(client, &time), SKIPSTONE_STATUS_NOT_AVAILABLE, "time");
    CHECK_FAILS(skipstone_client_reconnect(client), SKIPSTONE_STATUS_STILL_OPEN, "has not ended");
    SkipstonePeer peer = let_in(server, client);
    CHECK_FAILS(skipstone_server_accept(server, peer), SKIPSTONE_STATUS_NOT_WAITING, "once");
    CHECK_FAILS(skipstone_server_join(server, peer, SKIPSTONE_EVERYONE), SKIPSTONE_STATUS_BAD_VALUE, "group of everyone");
    CHECK_FAILS(skipstone_server_close(server, peer, UINT64_MAX, NULL, 0), SKIPSTONE_STATUS_BAD_VALUE, "62 bits");
    CHECK_FAILS(skipstone_failure(server, text, sizeof text, NULL), SKIPSTONE_STATUS_NOT_AVAILABLE, "runs");
    CHECK_FAILS(skipstone_server_webtransport_url(server, text, sizeof text, NULL), SKIPSTONE_STATUS_NOT_AVAILABLE, "");
    CHECK_FAILS(skipstone_server_fingerprint(server, (uint8_t *)text), SKIPSTONE_STATUS_NOT_AVAILABLE, "does not encrypt");
    CHECK_FAILS(skipstone_next_log_line(text, sizeof text, NULL, NULL), SKIPSTONE_STATUS_NOT_AVAILABLE, "no further");
    /* A text that does not fit is truncated, and its full length is returned. */
    CHECK_FAILS(skipstone_server_address(server, text, 4, &length), SKIPSTONE_STATUS_BUFFER_TOO_SMALL, "4 bytes");
    CHECK(length == strlen("127.0.0.1:0") && strcmp(text, "127") == 0);
    CHECK_OK(skipstone_server_address(server, text, length + 1, &length));
    CHECK(strcmp(text, "127.0.0.1:0") == 0);
    CHECK_OK(skipstone_server_close(server, peer, 5, "over", 0));
    CHECK_FAILS(skipstone_server_close(server, peer, 5, "over", 0), SKIPSTONE_STATUS_NOT_CONNECTED, "ended");
    CHECK_FAILS(skipstone_server_send(server, peer, 0, NULL, 0, 0, NULL), SKIPSTONE_STATUS_NOT_CONNECTED, "");
    CHECK_OK(skipstone_release_all());
}

static void every_status_has_a_name(void) {
    for (int status = 0; status >= -26; status--) {
        CHECK(strncmp(skipstone_status_name(status), "SKIPSTONE_STATUS_", 17) == 0);
    }
    CHECK(strcmp(skipstone_status_name(SKIPSTONE_STATUS_INTERNAL), "SKIPSTONE_STATUS_INTERNAL") == 0);
    CHECK(strcmp(skipstone_status_name(12345), "an unknown status") == 0);
}

static void overviews_are_written_at_the_callers_stride(void) {
    /* A program of a later version, whose structure is longer. */
    struct {
        SkipstoneOverview known;
        uint64_t later;
    } overviews[2];
    SkipstoneServer server = offline();
    uint32_t count = 0;
    SkipstonePeer peers[2];
    for (int i = 0; i < 2; i++) {
        peers[i] = let_in(server, local_client(server));
    }
    memset(overviews, 0xff, sizeof overviews);
    overviews[0].known.size = sizeof overviews[0];
    overviews[1].known.size = sizeof(SkipstoneOverview);
    for (int round = 0; count < 2; round++) {
        CHECK(round < 10000);
        CHECK_OK(skipstone_server_overviews(server, NULL, 0, &count));
        CHECK_OK(skipstone_wait(server, 1000));
    }
    CHECK_FAILS(skipstone_server_overviews(server, &overviews[0].known, 2, &count), SKIPSTONE_STATUS_BAD_SIZE, "[1].size");
    overviews[1].known.size = sizeof overviews[1];
    CHECK_OK(skipstone_server_overviews(server, &overviews[0].known, 2, &count));
    CHECK(count == 2);
    for (int i = 0; i < 2; i++) {
        CHECK(overviews[i].known.size == sizeof overviews[i] && overviews[i].later == 0);
        CHECK(overviews[i].known.peer == peers[0] || overviews[i].known.peer == peers[1]);
    }
    CHECK(overviews[0].known.peer != overviews[1].known.peer);
    CHECK_OK(skipstone_release_all());
}

int main(void) {
    RUN(null_pointers);
    RUN(unaligned_pointers);
    RUN(invalid_handles);
    RUN(invalid_peers);
    RUN(texts_that_are_not_utf8);
    RUN(invalid_lengths);
    RUN(structures_of_another_size);
    RUN(impossible_configurations);
    RUN(calls_at_the_wrong_time);
    RUN(every_status_has_a_name);
    RUN(overviews_are_written_at_the_callers_stride);
    return 0;
}
