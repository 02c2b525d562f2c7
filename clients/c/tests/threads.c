/* One handle in several threads: calls are serialised, events belong to the thread that polled them. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, EACH = 500 };

static SkipstoneServer server;
static SkipstoneClient client;
static SkipstonePeer peer;

static void connect_both(void) {
    SkipstoneServerConfig config;
    int connected = 0;
    CHECK_OK(skipstone_server_config_init(&config, sizeof config));
    CHECK_OK(skipstone_server_start(&config, &server));
    CHECK_OK(skipstone_client_connect_local(server, (const uint8_t *)"token", 5, NULL, &client));
    for (int round = 0; connected < 2; round++) {
        SkipstoneEvent event;
        uint32_t count;
        CHECK(round < 10000);
        CHECK_OK(skipstone_wait(server, 1000));
        CHECK_OK(skipstone_poll(server, &event, 1, &count));
        if (count == 1 && event.kind == SKIPSTONE_EVENT_KIND_REQUESTED) {
            peer = event.peer;
            CHECK_OK(skipstone_server_accept(server, peer));
        }
        connected += count == 1 && event.kind == SKIPSTONE_EVENT_KIND_CONNECTED;
        CHECK_OK(skipstone_poll(client, &event, 1, &count));
        connected += count == 1 && event.kind == SKIPSTONE_EVENT_KIND_CONNECTED;
    }
}

static void *send_many(void *unused) {
    (void)unused;
    for (int i = 0; i < EACH; i++) {
        CHECK_OK(skipstone_server_send(server, peer, 0, (const uint8_t *)&i, sizeof i, 0, NULL));
        CHECK_OK(skipstone_flush(server));
    }
    return NULL;
}

static void several_threads_send(void) {
    pthread_t threads[THREADS];
    int received = 0;
    connect_both();
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, send_many, NULL) == 0);
    }
    for (int round = 0; received < THREADS * EACH; round++) {
        SkipstoneEvent events[64];
        uint32_t count;
        CHECK(round < 100000);
        CHECK_OK(skipstone_wait(client, 10000));
        CHECK_OK(skipstone_poll(client, events, 64, &count));
        for (uint32_t i = 0; i < count; i++) {
            received += events[i].kind == SKIPSTONE_EVENT_KIND_MESSAGE;
        }
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    CHECK_OK(skipstone_release_all());
}

static void *poll_elsewhere(void *unused) {
    SkipstoneEvent event;
    uint32_t count;
    (void)unused;
    CHECK_FAILS(skipstone_poll(client, &event, 1, &count), SKIPSTONE_STATUS_WRONG_THREAD, "another thread polls");
    return NULL;
}

static void *poll_afterwards(void *unused) {
    SkipstoneEvent event;
    uint32_t count;
    (void)unused;
    CHECK_OK(skipstone_poll(client, &event, 1, &count));
    CHECK_OK(skipstone_poll(client, NULL, 0, &count));
    return NULL;
}

static void *stop_all(void *unused) {
    (void)unused;
    CHECK_OK(skipstone_client_close(client, 0, NULL, 0));
    CHECK_OK(skipstone_server_stop(server, 0, NULL, 0));
    return NULL;
}

static void in_a_thread(void *(*body)(void *)) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, body, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void events_belong_to_the_thread_that_polled(void) {
    SkipstoneEvent event;
    uint32_t count = 0;
    connect_both();
    CHECK_OK(skipstone_server_send(server, peer, 0, (const uint8_t *)"still here", 10, 0, NULL));
    CHECK_OK(skipstone_flush(server));
    for (int round = 0; count == 0; round++) {
        CHECK(round < 10000);
        CHECK_OK(skipstone_wait(client, 1000));
        CHECK_OK(skipstone_poll(client, &event, 1, &count));
    }
    in_a_thread(poll_elsewhere);
    /* Events of a handle that another thread ended may still be read. */
    in_a_thread(stop_all);
    CHECK(event.length == 10 && memcmp(event.data, "still here", 10) == 0);
    CHECK_FAILS(skipstone_poll(client, &event, 1, &count), SKIPSTONE_STATUS_BAD_HANDLE, "stopped, closed or released");
}

static void a_thread_hands_over_polling(void) {
    SkipstoneEvent event;
    uint32_t count;
    connect_both();
    CHECK_OK(skipstone_poll(client, NULL, 0, &count));
    in_a_thread(poll_afterwards);
    CHECK_OK(skipstone_poll(client, &event, 1, &count));
    CHECK_OK(skipstone_release_all());
}

static void *close_client(void *unused) {
    (void)unused;
    CHECK_OK(skipstone_client_close(client, 0, NULL, 0));
    return NULL;
}

static void a_client_closed_by_another_thread_between_polls_keeps_their_events(void) {
    enum { ROUNDS = 50, MESSAGES = 40, BYTES = 500 };
    uint8_t message[BYTES];
    memset(message, 0x5a, sizeof message);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t closing;
        SkipstoneStatus status = SKIPSTONE_STATUS_OK;
        connect_both();
        for (int k = 0; k < MESSAGES; k++) {
            CHECK_OK(skipstone_server_send(server, peer, 0, message, sizeof message, 0, NULL));
        }
        CHECK_OK(skipstone_flush(server));
        CHECK(pthread_create(&closing, NULL, close_client, NULL) == 0);
        while (status == SKIPSTONE_STATUS_OK) {
            SkipstoneEvent event;
            uint32_t count;
            status = skipstone_poll(client, &event, 1, &count);
            CHECK(status == SKIPSTONE_STATUS_OK || (status == SKIPSTONE_STATUS_BAD_HANDLE && count == 0));
            for (int again = 0; count == 1 && event.kind == SKIPSTONE_EVENT_KIND_MESSAGE && again < 10; again++) {
                CHECK(event.length == BYTES && memcmp(event.data, message, BYTES) == 0);
            }
        }
        CHECK(pthread_join(closing, NULL) == 0);
        CHECK_OK(skipstone_release_all());
    }
}

static void *wait_long(void *unused) {
    (void)unused;
    SkipstoneStatus status = skipstone_wait(server, 60000000);
    /* The server may have ended before this thread began to wait. */
    CHECK(status == SKIPSTONE_STATUS_OK || status == SKIPSTONE_STATUS_BAD_HANDLE);
    return NULL;
}

static void a_waiting_thread_blocks_no_other(void) {
    pthread_t waiting;
    connect_both();
    CHECK(pthread_create(&waiting, NULL, wait_long, NULL) == 0);
    send_many(NULL);
    /* The end of the server wakes it. */
    CHECK_OK(skipstone_server_stop(server, 0, NULL, 0));
    CHECK(pthread_join(waiting, NULL) == 0);
    CHECK_OK(skipstone_release_all());
}

static void *end_soon(void *unused) {
    (void)unused;
    CHECK_OK(skipstone_server_stop(server, 0, NULL, 0));
    return NULL;
}

static void a_loop_keeps_its_tick_and_gets_every_event(void) {
    enum { TICKS = 10, BURST = 10, INTERVAL_US = 10000 };
    SkipstoneEvent events[EACH];
    uint64_t before, after, missed;
    uint32_t received = 0, count;
    connect_both();
    CHECK_OK(skipstone_server_time(server, &before));
    for (int tick = 0; tick < TICKS; tick++) {
        for (int i = 0; i < BURST; i++) {
            CHECK_OK(skipstone_client_send(client, 0, (const uint8_t *)"event", 5, 0, NULL));
        }
        CHECK_OK(skipstone_wait_tick(server, INTERVAL_US, &missed));
        CHECK_OK(skipstone_poll(server, events, EACH, &count));
        received += count;
    }
    CHECK_OK(skipstone_server_time(server, &after));
    CHECK(after - before >= TICKS * INTERVAL_US);
    for (int round = 0; received < TICKS * BURST; round++) {
        CHECK(round < 10000);
        CHECK_OK(skipstone_wait(server, 1000));
        CHECK_OK(skipstone_poll(server, events, EACH, &count));
        received += count;
    }
    CHECK(received == TICKS * BURST);
    CHECK_OK(skipstone_release_all());
}

static void the_end_of_a_handle_ends_the_wait_for_its_tick(void) {
    pthread_t ending;
    connect_both();
    CHECK(pthread_create(&ending, NULL, end_soon, NULL) == 0);
    CHECK(skipstone_wait_tick(server, 60000000, NULL) == SKIPSTONE_STATUS_BAD_HANDLE);
    CHECK(pthread_join(ending, NULL) == 0);
    CHECK(skipstone_wait_tick(server, 1, NULL) == SKIPSTONE_STATUS_BAD_HANDLE);
    CHECK_OK(skipstone_release_all());
}

int main(void) {
    RUN(several_threads_send);
    RUN(events_belong_to_the_thread_that_polled);
    RUN(a_client_closed_by_another_thread_between_polls_keeps_their_events);
    RUN(a_thread_hands_over_polling);
    RUN(a_waiting_thread_blocks_no_other);
    RUN(a_loop_keeps_its_tick_and_gets_every_event);
    RUN(the_end_of_a_handle_ends_the_wait_for_its_tick);
    return 0;
}
