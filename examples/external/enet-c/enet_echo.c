/* ENet as a transport of `skipstone compare --external`: a reliable channel for each entity.
 *
 *   gcc -O2 -o enet-echo enet_echo.c -lenet
 */
#include <enet/enet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PEERS_MAX = 4000, CHANNELS_MAX = 255, PAYLOAD_MAX = 1200, BATCH = 200, CONNECT_MS = 10000 };

typedef struct {
    const char *role, *address;
    unsigned entities, payload, ticks_per_second, ticks, patience_ms;
} arguments;

static unsigned long long now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000ULL + now.tv_nsec / 1000;
}

static int fail(const char *reason) {
    printf("{\"failed\":{\"reason\":\"%s\"}}\n", reason);
    fflush(stdout);
    return 1;
}

static arguments read_arguments(int count, char **words) {
    arguments all = {.role = count > 1 ? words[1] : "", .entities = 1, .payload = 50, .ticks_per_second = 60};
    for (int at = 2; at + 1 < count; at += 2) {
        const char *flag = words[at], *value = words[at + 1];
        if (!strcmp(flag, "--listen") || !strcmp(flag, "--connect")) all.address = value;
        else if (!strcmp(flag, "--entities")) all.entities = atoi(value);
        else if (!strcmp(flag, "--payload")) all.payload = atoi(value);
        else if (!strcmp(flag, "--ticks-per-second")) all.ticks_per_second = atoi(value);
        else if (!strcmp(flag, "--ticks")) all.ticks = atoi(value);
        else if (!strcmp(flag, "--patience-ms")) all.patience_ms = atoi(value);
        /* Unknown flags are ignored. */
    }
    return all;
}

static int read_address(const char *text, ENetAddress *address) {
    char host[64];
    unsigned port;
    if (!text || sscanf(text, "%63[^:]:%u", host, &port) != 2) return -1;
    address->port = port;
    return enet_address_set_host_ip(address, host);
}

/* Standard input ends when the run is over, or when the process that started this one has ended. */
static int is_over(void) {
    struct pollfd input = {.fd = 0, .events = POLLIN};
    char dropped[256];
    while (poll(&input, 1, 0) > 0)
        if (read(0, dropped, sizeof dropped) <= 0) return 1;
    return 0;
}

static int serve(const arguments *all) {
    ENetAddress address;
    if (read_address(all->address, &address)) return fail("--listen needs an address");
    ENetHost *host = enet_host_create(&address, PEERS_MAX, CHANNELS_MAX, 0, 0);
    if (!host) return fail("no socket to listen on");
    char ip[64];
    enet_address_get_host_ip(&host->address, ip, sizeof ip);
    printf("{\"listening\":{\"address\":\"%s:%u\"}}\n", ip, host->address.port);
    fflush(stdout);
    for (ENetEvent event; !is_over();) {
        for (int more = enet_host_service(host, &event, 1); more > 0; more = enet_host_service(host, &event, 0))
            if (event.type == ENET_EVENT_TYPE_RECEIVE) {
                /* The packet is sent back unchanged; ENet frees it after its acknowledgement. */
                enet_peer_send(event.peer, event.channelID, event.packet);
            }
        enet_host_flush(host);
    }
    return 0;
}

typedef struct {
    unsigned tick, entity;
    unsigned long long at_us;
} echo;

static echo echoes[BATCH];
static unsigned waiting;

static void tell_echoes(void) {
    for (unsigned at = 0; at < waiting; at++)
        printf("%s[%u,%u,%llu]", at ? "," : "{\"echoes\":[", echoes[at].tick, echoes[at].entity, echoes[at].at_us);
    if (waiting) printf("]}\n");
    waiting = 0;
    fflush(stdout);
}

/* An update: its entity, its tick, and filler derived from both. */
static void write_update(unsigned char *update, unsigned bytes, unsigned entity, unsigned tick) {
    unsigned char head[6] = {entity >> 8, entity, tick >> 24, tick >> 16, tick >> 8, tick};
    for (unsigned at = 0; at < bytes; at++) update[at] = at < 6 ? head[at] : (entity * 31 + tick * 7 + at) & 255;
}

static int measure(const arguments *all) {
    ENetAddress address;
    if (read_address(all->address, &address)) return fail("--connect needs an address");
    if (all->payload < 8 || all->payload > PAYLOAD_MAX || !all->ticks_per_second) return fail("arguments out of range");
    unsigned long long begun = now_us();
    ENetHost *host = enet_host_create(NULL, 1, CHANNELS_MAX, 0, 0);
    if (!host) return fail("no socket");
    unsigned channels = all->entities < CHANNELS_MAX ? all->entities : CHANNELS_MAX;
    ENetPeer *peer = enet_host_connect(host, &address, channels, 0);
    ENetEvent event;
    if (!peer || enet_host_service(host, &event, CONNECT_MS) <= 0 || event.type != ENET_EVENT_TYPE_CONNECT)
        return fail("the server does not answer");

    unsigned long long first = now_us() + 1000;
    printf("{\"began\":{\"connect_ms\":%.3f,\"first_due_us\":%llu}}\n", (now_us() - begun) / 1e3, first);
    fflush(stdout);
    unsigned long long expected = (unsigned long long)all->ticks * all->entities, came = 0, refused = 0, corrupted = 0;
    unsigned long long end = first + all->ticks * 1000000ULL / all->ticks_per_second + all->patience_ms * 1000ULL;
    unsigned char update[PAYLOAD_MAX], wanted[PAYLOAD_MAX];
    unsigned tick = 0;
    while (now_us() < end && came + refused < expected && !is_over()) {
        /* Ticks are due by the plan, regardless of how late this loop is. */
        for (; tick < all->ticks && now_us() >= first + tick * 1000000ULL / all->ticks_per_second; tick++)
            for (unsigned entity = 0; entity < all->entities; entity++) {
                write_update(update, all->payload, entity, tick);
                ENetPacket *packet = enet_packet_create(update, all->payload, ENET_PACKET_FLAG_RELIABLE);
                if (enet_peer_send(peer, entity % channels, packet) < 0) refused++;
            }
        enet_host_flush(host);
        for (int more = enet_host_service(host, &event, 1); more > 0; more = enet_host_service(host, &event, 0)) {
            if (event.type == ENET_EVENT_TYPE_DISCONNECT) return fail("ENet ended the connection");
            if (event.type != ENET_EVENT_TYPE_RECEIVE) continue;
            const unsigned char *data = event.packet->data;
            unsigned entity = data[0] << 8 | data[1];
            unsigned number = (unsigned)data[2] << 24 | data[3] << 16 | data[4] << 8 | data[5];
            write_update(wanted, all->payload, entity, number);
            if (event.packet->dataLength != all->payload || memcmp(data, wanted, all->payload)) corrupted++;
            else {
                echoes[waiting++] = (echo){number, entity, now_us()};
                came++;
            }
            enet_packet_destroy(event.packet);
            if (waiting == BATCH) tell_echoes();
        }
    }
    tell_echoes();
    printf("{\"done\":{\"refused\":%llu,\"corrupted\":%llu}}\n", refused, corrupted);
    fflush(stdout);
    return 0;
}

int main(int count, char **words) {
    arguments all = read_arguments(count, words);
    if (enet_initialize()) return fail("ENet does not begin");
    if (!strcmp(all.role, "server")) return serve(&all);
    if (!strcmp(all.role, "client")) return measure(&all);
    return fail("the first argument is server or client");
}
