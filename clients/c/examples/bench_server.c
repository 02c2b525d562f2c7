/* A server for `skipstone stress`, to compare with `skipstone serve`: every line goes to everybody, 60 times a second.
 *
 *   bench_server 127.0.0.1:7777 [SECONDS]     its first line is the URL; at the end it says what it did, and its CPU time
 *   skipstone stress URL -c 200 -r 60/s -d 10s
 */
#include <skipstone.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EVENTS = 4096, TICKS_PER_SECOND = 60, LINES = 0, CONTROL = 1, QUEUE_BYTES = 4 << 20, TEST_SECONDS = 1 };

static volatile sig_atomic_t must_stop = 0;

static void on_signal(int signal) {
    (void)signal;
    must_stop = 1;
}

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
    SkipstoneChannel channels[2];
    SkipstoneServer server;
    check(skipstone_server_config_init(&config, sizeof config));
    for (uint16_t i = 0; i < 2; i++) {
        check(skipstone_channel_init(&channels[i], sizeof channels[i], i, i, SKIPSTONE_DELIVERY_RELIABLE_ORDERED));
        channels[i].queue_messages_max = 1 << 20;
        channels[i].queue_bytes_max = QUEUE_BYTES;
    }
    channels[CONTROL].priority = 0;
    config.listen = address;
    config.channels = channels;
    config.channel_count = 2;
    check(skipstone_server_start(&config, &server));
    return server;
}

/* Sends a line to everybody, and waits while the driver is behind. */
static void broadcast(SkipstoneServer server, const SkipstoneEvent *line) {
    for (;;) {
        SkipstoneStatus status =
            skipstone_server_broadcast(server, SKIPSTONE_EVERYONE, LINES, line->data, line->length, NULL, NULL);
        if (status != SKIPSTONE_STATUS_DRIVER_BUSY) {
            check(status);
            return;
        }
        check(skipstone_flush(server));
        /* Every event ends this wait, which is as good as a short sleep. */
        check(skipstone_wait(server, 200));
    }
}

static uint64_t tick(SkipstoneServer server) {
    static SkipstoneEvent events[EVENTS];
    uint64_t lines = 0;
    uint32_t count;
    do {
        check(skipstone_poll(server, events, EVENTS, &count));
        for (uint32_t i = 0; i < count; i++) {
            if (events[i].kind == SKIPSTONE_EVENT_KIND_REQUESTED) {
                (void)skipstone_server_accept(server, events[i].peer);
            } else if (events[i].kind == SKIPSTONE_EVENT_KIND_MESSAGE && events[i].channel == LINES) {
                broadcast(server, &events[i]);
                lines++;
            }
        }
    } while (count == EVENTS);
    check(skipstone_flush(server));
    return lines;
}

int main(int count, char **words) {
    if (count < 2) {
        fprintf(stderr, "bench_server ADDRESS [SECONDS]\n");
        return 2;
    }
    check(skipstone_check_abi(SKIPSTONE_ABI_VERSION));
    int is_test = strcmp(words[1], "--test") == 0;
    long seconds = is_test ? TEST_SECONDS : count > 2 ? strtol(words[2], NULL, 10) : 0;
    SkipstoneServer server = start(is_test ? "127.0.0.1:0" : words[1]);
    char url[256];
    check(skipstone_server_url(server, url, sizeof url, NULL));
    printf("%s\n", url);
    fflush(stdout);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    uint64_t now = 0, due = 0, lines = 0;
    while (!must_stop && (seconds == 0 || now < (uint64_t)seconds * 1000000)) {
        lines += tick(server);
        due += 1000000 / TICKS_PER_SECOND;
        check(skipstone_server_time(server, &now));
        if (now < due) {
            struct timespec pause = {0, (long)(due - now) * 1000};
            nanosleep(&pause, NULL);
        } else {
            due = now;
        }
    }
    SkipstoneStats stats;
    stats.size = sizeof stats;
    check(skipstone_server_stats(server, &stats));
    printf("ok %llu lines, %llu messages sent, %.3f s of CPU\n", (unsigned long long)lines,
           (unsigned long long)stats.sent.messages, (double)clock() / CLOCKS_PER_SEC);
    check(skipstone_server_stop(server, SKIPSTONE_CLOSE_CODE_SHUTDOWN, "the run is over", 500000));
    return 0;
}
