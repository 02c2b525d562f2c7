/* Fifty bots in a game with the packet types of examples/proto/game.proto: each bot walks to the right; the server
 * moves all bots 20 times a second and sends them the positions of all.
 *
 *   bots --serve 0.0.0.0:7777     the game's server; its first line is the URL
 *   bots --connect URL            fifty bots
 *   bots --test                   both in one program, until every bot has seen all fifty move
 */
#include "game_proto.h"

#include <skipstone.h>
#include <stdio.h>
#include <stdlib.h>

enum { BOTS = 50, EVENTS = 256, TICK_US = 50000, ROUNDS_MAX = 1000 };
enum { CHANNEL_INPUT = 0, CHANNEL_SNAPSHOT = 1, CHANNEL_CHAT = 2 };
static const float SPEED = 0.25f;

typedef struct {
    SkipstonePeer peer;
    Player player;
    PlayerInput input;
} Seat;

typedef struct {
    SkipstoneServer server;
    uint32_t tick;
    uint32_t count;
    Seat seats[2 * BOTS];
} World;

typedef struct {
    SkipstoneClient client;
    uint32_t frame;
    /* Players that this bot saw move. */
    uint32_t seen;
    int is_connected;
} Bot;

static void check(SkipstoneStatus status) {
    if (status != SKIPSTONE_STATUS_OK) {
        char text[512];
        skipstone_last_error(text, sizeof text);
        fprintf(stderr, "%s: %s\n", skipstone_status_name(status), text);
        exit(1);
    }
}

static void start(World *world, const char *address) {
    SkipstoneServerConfig config;
    SkipstoneChannel channels[3];
    memset(world, 0, sizeof *world);
    check(skipstone_server_config_init(&config, sizeof config));
    check(skipstone_channel_init(&channels[0], sizeof channels[0], CHANNEL_INPUT, CHANNEL_INPUT,
                                 SKIPSTONE_DELIVERY_UNRELIABLE_SEQUENCED));
    check(skipstone_channel_init(&channels[1], sizeof channels[1], CHANNEL_SNAPSHOT, CHANNEL_SNAPSHOT,
                                 SKIPSTONE_DELIVERY_UNRELIABLE));
    check(skipstone_channel_init(&channels[2], sizeof channels[2], CHANNEL_CHAT, CHANNEL_CHAT,
                                 SKIPSTONE_DELIVERY_RELIABLE_ORDERED));
    channels[0].priority = channels[1].priority = 0;
    config.listen = address;
    config.channels = channels;
    config.channel_count = 3;
    config.connections_max = 2 * BOTS;
    check(skipstone_server_start(&config, &world->server));
}

static Seat *seat_of(World *world, SkipstonePeer peer) {
    for (uint32_t i = 0; i < world->count; i++) {
        if (world->seats[i].peer == peer) {
            return &world->seats[i];
        }
    }
    return NULL;
}

static void on_server_event(World *world, const SkipstoneEvent *event) {
    Seat *seat = seat_of(world, event->peer);
    switch (event->kind) {
    case SKIPSTONE_EVENT_KIND_REQUESTED:
        (void)skipstone_server_accept(world->server, event->peer);
        break;
    case SKIPSTONE_EVENT_KIND_CONNECTED:
        /* No more players connect at once than there are seats: `connections_max`. */
        if (world->count < 2 * BOTS) {
            seat = &world->seats[world->count++];
            memset(seat, 0, sizeof *seat);
            seat->peer = event->peer;
            seat->player.id = (uint32_t)event->peer;
        }
        break;
    case SKIPSTONE_EVENT_KIND_MESSAGE:
        if (seat != NULL && event->channel == CHANNEL_INPUT) {
            PlayerInput input;
            if (!decode_input(event->data, event->length, &input)) {
                (void)skipstone_server_close(world->server, event->peer, 1, "an input that cannot be read", 0);
            } else {
                seat->input = input;
            }
        }
        break;
    case SKIPSTONE_EVENT_KIND_CLOSED:
        if (seat != NULL) {
            *seat = world->seats[--world->count];
        }
        break;
    default:
        break;
    }
}

/* A client may send any value: the server limits the length of a step. */
static float step(float move) {
    return move >= 1.0f ? SPEED : move <= -1.0f ? -SPEED : move == move ? SPEED * move : 0.0f;
}

static void simulate(World *world) {
    uint8_t bytes[64 * 2 * BOTS];
    Proto snapshot = {bytes, bytes + sizeof bytes, 0};
    put_uint(&snapshot, 1, ++world->tick);
    for (uint32_t i = 0; i < world->count; i++) {
        Seat *seat = &world->seats[i];
        seat->player.x += step(seat->input.move_x);
        seat->player.y += step(seat->input.move_y);
        seat->player.frame = seat->input.frame;
        encode_player(&snapshot, &seat->player);
    }
    /* All clients get the same bytes: one copy for all. */
    check(skipstone_server_broadcast(world->server, SKIPSTONE_EVERYONE, CHANNEL_SNAPSHOT, bytes,
                                     (size_t)(snapshot.at - bytes), NULL, NULL));
}

static void serve_tick(World *world) {
    SkipstoneEvent events[EVENTS];
    uint32_t count;
    do {
        check(skipstone_poll(world->server, events, EVENTS, &count));
        for (uint32_t i = 0; i < count; i++) {
            on_server_event(world, &events[i]);
        }
    } while (count > 0);
    simulate(world);
    check(skipstone_flush(world->server));
}

static void on_snapshot(Bot *bot, const SkipstoneEvent *event) {
    Proto in = {(uint8_t *)(uintptr_t)event->data, (uint8_t *)(uintptr_t)event->data + event->length, 0};
    Field field;
    uint32_t moved = 0;
    while (take_field(&in, &field)) {
        Player player;
        if (field.number == 2 && decode_player(field.bytes, &player)) {
            moved += player.x > 0;
        }
    }
    bot->seen = moved > bot->seen ? moved : bot->seen;
}

static void on_bot_event(Bot *bot, const SkipstoneEvent *event) {
    if (event->kind == SKIPSTONE_EVENT_KIND_CONNECTED) {
        bot->is_connected = 1;
    } else if (event->kind == SKIPSTONE_EVENT_KIND_MESSAGE && event->channel == CHANNEL_SNAPSHOT) {
        on_snapshot(bot, event);
    } else if (event->kind == SKIPSTONE_EVENT_KIND_CLOSED) {
        fprintf(stderr, "closed: %.*s\n", (int)event->length, (const char *)event->data);
        exit(1);
    }
}

static void play(Bot *bot) {
    SkipstoneEvent events[EVENTS];
    uint32_t count;
    do {
        check(skipstone_poll(bot->client, events, EVENTS, &count));
        for (uint32_t i = 0; i < count; i++) {
            on_bot_event(bot, &events[i]);
        }
    } while (count > 0);
    if (bot->is_connected) {
        uint8_t bytes[32];
        Proto out = {bytes, bytes + sizeof bytes, 0};
        PlayerInput input = {++bot->frame, 1.0f, 0.5f};
        encode_input(&out, &input);
        check(skipstone_client_send(bot->client, CHANNEL_INPUT, bytes, (size_t)(out.at - bytes), 0, NULL));
    }
}

/* Plays until every bot has seen fifty players move. */
static void play_all(const char *url, World *world) {
    static Bot bots[BOTS];
    for (int i = 0; i < BOTS; i++) {
        check(skipstone_client_connect(url, NULL, 0, NULL, &bots[i].client));
    }
    for (int round = 0; round < ROUNDS_MAX; round++) {
        uint32_t done = 0;
        if (world != NULL) {
            serve_tick(world);
        }
        for (int i = 0; i < BOTS; i++) {
            play(&bots[i]);
            done += bots[i].seen >= BOTS;
        }
        if (done == BOTS) {
            printf("ok %d bots have seen %d players move\n", BOTS, BOTS);
            for (int i = 0; i < BOTS; i++) {
                check(skipstone_release(bots[i].client));
            }
            return;
        }
        check(skipstone_wait_tick(bots[0].client, TICK_US, NULL));
    }
    fprintf(stderr, "not every bot has seen everybody\n");
    exit(1);
}

int main(int count, char **words) {
    static World world;
    check(skipstone_check_abi(SKIPSTONE_ABI_VERSION));
    if (count == 3 && strcmp(words[1], "--connect") == 0) {
        play_all(words[2], NULL);
        return 0;
    }
    int must_test = count == 2 && strcmp(words[1], "--test") == 0;
    if (!must_test && !(count == 3 && strcmp(words[1], "--serve") == 0)) {
        fprintf(stderr, "bots --serve ADDRESS, bots --connect URL, or bots --test\n");
        return 2;
    }
    start(&world, must_test ? "127.0.0.1:0" : words[2]);
    char url[256];
    check(skipstone_server_url(world.server, url, sizeof url, NULL));
    printf("%s\n", url);
    fflush(stdout);
    if (must_test) {
        play_all(url, &world);
        check(skipstone_server_stop(world.server, SKIPSTONE_CLOSE_CODE_SHUTDOWN, "the game is over", 100000));
        return 0;
    }
    for (;;) {
        /* Inputs do not shorten the tick. */
        check(skipstone_wait_tick(world.server, TICK_US, NULL));
        serve_tick(&world);
    }
}
