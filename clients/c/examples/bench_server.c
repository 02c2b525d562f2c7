/* A server for `skipstone bench`, to compare with the tool's own: every line is sent to all clients, or back to its
 * sender.
 *
 *   skipstone bench fanout --server c=./bench_server
 *   bench_server broadcast|echo ADDRESS [TICKS A SECOND [TRANSPORT]]     ends with its standard input
 *
 * Its first line is the URL. It answers each line `mark` with its counters, as a line of JSON.
 */
#include <skipstone.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 4096, TICKS_PER_SECOND = 60, TEST_TICKS = 30, LINES = 0, CONTROL = 1, QUEUE_BYTES = 4 << 20 };

/* The receivers of a line. */
typedef enum { EVERYBODY, ITS_SENDER } Workload;

typedef struct {
    uint64_t ticks, lines, clients, slowest_us;
} Counters;

static void check(SkipstoneStatus status) {
    if (status != SKIPSTONE_STATUS_OK) {
        char text[512];
        skipstone_last_error(text, sizeof text);
        fprintf(stderr, "%s: %s\n", skipstone_status_name(status), text);
        exit(1);
    }
}

/* This thread drives the server, once a tick. */
static SkipstoneServer start(const char *address, const char *transport) {
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
    config.threading = SKIPSTONE_THREADING_STEPPED;
    config.allows_plain = 1;
    config.websocket = strstr(transport, "-w") != NULL || strstr(transport, "mixed") != NULL;
    config.channels = channels;
    config.channel_count = 2;
    check(skipstone_server_start(&config, &server));
    return server;
}

static SkipstoneStatus pass_on(SkipstoneServer server, const SkipstoneEvent *line, Workload workload) {
    if (workload == EVERYBODY) {
        return skipstone_server_broadcast(server, SKIPSTONE_EVERYONE, LINES, line->data, line->length, NULL, NULL);
    }
    return skipstone_server_send(server, line->peer, LINES, line->data, line->length, line->age_us, NULL);
}

/* Forwards a line, and sends while the queues are full. A client that has left gets nothing. */
static void handle_line(SkipstoneServer server, const SkipstoneEvent *line, Workload workload) {
    while (pass_on(server, line, workload) == SKIPSTONE_STATUS_DRIVER_BUSY) {
        check(skipstone_flush(server));
        check(skipstone_drive(server, 0));
    }
}

static void tick(SkipstoneServer server, Workload workload, Counters *counters) {
    static SkipstoneEvent events[EVENTS];
    uint32_t count;
    check(skipstone_drive(server, 0));
    do {
        check(skipstone_poll(server, events, EVENTS, &count));
        for (uint32_t i = 0; i < count; i++) {
            switch (events[i].kind) {
            case SKIPSTONE_EVENT_KIND_REQUESTED:
                (void)skipstone_server_accept(server, events[i].peer);
                break;
            case SKIPSTONE_EVENT_KIND_CONNECTED:
                counters->clients++;
                break;
            case SKIPSTONE_EVENT_KIND_CLOSED:
                counters->clients -= counters->clients > 0;
                break;
            case SKIPSTONE_EVENT_KIND_MESSAGE:
                if (events[i].channel == LINES) {
                    handle_line(server, &events[i], workload);
                    counters->lines++;
                }
                break;
            default:
                break;
            }
        }
    } while (count == EVENTS);
    check(skipstone_flush(server));
    check(skipstone_drive(server, 0));
    counters->ticks++;
}

static void answer_mark(SkipstoneServer server, Counters *counters) {
    SkipstoneStats stats;
    stats.size = sizeof stats;
    check(skipstone_server_stats(server, &stats));
    printf("{\"ticks\": %" PRIu64 ", \"slowest_tick_us\": %" PRIu64 ", \"lines\": %" PRIu64 ", \"clients\": %" PRIu64
           ", \"ip_bytes\": %" PRIu64 "}\n",
           counters->ticks, counters->slowest_us, counters->lines, counters->clients,
           stats.sent.ip_bytes + stats.received.ip_bytes);
    fflush(stdout);
    counters->slowest_us = 0;
}

/* Reads commands that have arrived. Returns 0 after the last one. */
static int read_orders(SkipstoneServer server, Counters *counters) {
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    char orders[256];
    if (poll(&input, 1, 0) <= 0) {
        return 1;
    }
    ssize_t length = read(STDIN_FILENO, orders, sizeof orders);
    /* Each order is `mark`: it ends with its line. */
    for (ssize_t i = 0; i < length; i++) {
        if (orders[i] == '\n') {
            answer_mark(server, counters);
        }
    }
    return length > 0;
}

static uint64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

int main(int count, char **words) {
    int is_test = count == 2 && strcmp(words[1], "--test") == 0;
    int is_echo = count > 1 && strcmp(words[1], "echo") == 0;
    long ticks_per_second = count > 3 ? strtol(words[3], NULL, 10) : TICKS_PER_SECOND;
    if ((count < 3 && !is_test) || ticks_per_second < 1) {
        fprintf(stderr, "bench_server broadcast|echo ADDRESS [TICKS A SECOND [TRANSPORT]]\n");
        return 2;
    }
    check(skipstone_check_abi(SKIPSTONE_ABI_VERSION));
    SkipstoneServer server = start(is_test ? "127.0.0.1:0" : words[2], count > 4 ? words[4] : "mixed");
    Workload workload = is_echo ? ITS_SENDER : EVERYBODY;
    Counters counters = {0, 0, 0, 0};
    char url[256];
    check(skipstone_server_url(server, url, sizeof url, NULL));
    printf("%s\n", url);
    fflush(stdout);
    uint64_t interval = 1000000 / (uint64_t)ticks_per_second, due = now_us(), now;
    while (is_test ? counters.ticks < TEST_TICKS : read_orders(server, &counters)) {
        tick(server, workload, &counters);
        now = now_us();
        counters.slowest_us = now - due > counters.slowest_us ? now - due : counters.slowest_us;
        due += interval;
        /* Ticks that were missed altogether are skipped. */
        due = now > due + interval ? now : due;
        if (now < due) {
            struct timespec pause = {(time_t)((due - now) / 1000000), (long)((due - now) % 1000000) * 1000};
            nanosleep(&pause, NULL);
        }
    }
    check(skipstone_server_stop(server, SKIPSTONE_CLOSE_CODE_SHUTDOWN, "the run is over", 500000));
    printf("ok %" PRIu64 " ticks\n", counters.ticks);
    return 0;
}
