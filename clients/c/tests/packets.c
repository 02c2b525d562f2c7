/* Packets of examples/proto/game.proto with nanopb: it reads what Rust wrote, and writes the same bytes as Rust.
 *
 *   packets examples/proto/packets.txt
 */
#include "game.pb.h"
#include <pb_decode.h>
#include <pb_encode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 4096 };

#define CHECK(condition)                                                                                                     \
    do {                                                                                                                     \
        if (!(condition)) {                                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                  \
            exit(1);                                                                                                         \
        }                                                                                                                    \
    } while (0)

typedef struct {
    pb_byte_t bytes[BYTES_MAX];
    size_t length;
} Bytes;

/* Hexadecimal digits, two for each byte. */
static Bytes unhex(const char *digits) {
    Bytes out = {{0}, strlen(digits) / 2};
    CHECK(out.length <= BYTES_MAX);
    for (size_t i = 0; i < out.length; i++) {
        char byte[3] = {digits[2 * i], digits[2 * i + 1], 0};
        out.bytes[i] = (pb_byte_t)strtoul(byte, NULL, 16);
    }
    return out;
}

static Bytes written(const pb_msgdesc_t *type, const void *packet) {
    Bytes out = {{0}, 0};
    pb_ostream_t stream = pb_ostream_from_buffer(out.bytes, sizeof out.bytes);
    CHECK(pb_encode(&stream, type, packet));
    out.length = stream.bytes_written;
    return out;
}

static bool is_read(const pb_msgdesc_t *type, const Bytes *bytes, size_t length, void *packet) {
    pb_istream_t stream = pb_istream_from_buffer(bytes->bytes, length);
    return pb_decode(&stream, type, packet);
}

static bool are_equal(const Bytes *one, const Bytes *other) {
    return one->length == other->length && memcmp(one->bytes, other->bytes, one->length) == 0;
}

/* `packet` is the expected content of the line; `room` is storage for another packet of its type. */
static void exchange(const pb_msgdesc_t *type, const void *packet, void *room, const Bytes *golden) {
    Bytes own = written(type, packet);
    CHECK(are_equal(&own, golden));
    CHECK(is_read(type, golden, golden->length, room));
    own = written(type, room);
    CHECK(are_equal(&own, golden));
    if (golden->length > 0) {
        CHECK(!is_read(type, golden, golden->length - 1, room));
    }
}

int main(int count, char **words) {
    static const game_PlayerInput input = {300, 0.5F, -1.0F};
    static const game_Player player = {7, -0.25F, 1000.0F, 65536};
    static const game_Snapshot snapshot = {70000, 2, {{1, 1.5F, -2.25F, 300}, {UINT32_MAX, 0.0F, 0.0F, 0}}};
    static const game_Welcome welcome = {200};
    static const game_ChatLine line = {"gr\xc3\xbc\xc3\x9f \xe4\xb8\x96\xe7\x95\x8c"}, empty = {""};
    static union {
        game_PlayerInput input;
        game_Player player;
        game_Snapshot snapshot;
        game_Welcome welcome;
        game_ChatLine line;
    } room;
    static const struct {
        const char *name;
        const pb_msgdesc_t *type;
        const void *packet;
    } packets[] = {
        {"PlayerInput", game_PlayerInput_fields, &input}, {"Player", game_Player_fields, &player},
        {"Snapshot", game_Snapshot_fields, &snapshot},    {"Welcome", game_Welcome_fields, &welcome},
        {"ChatLine", game_ChatLine_fields, &line},        {"EmptyChatLine", game_ChatLine_fields, &empty},
    };
    enum { PACKETS = sizeof packets / sizeof packets[0] };
    char name[64], digits[2 * BYTES_MAX + 1], text[2 * BYTES_MAX + 128];
    size_t found = 0;
    FILE *file = count == 2 ? fopen(words[1], "r") : NULL;
    CHECK(file != NULL);
    while (fgets(text, sizeof text, file) != NULL) {
        if (text[0] == '#') {
            continue;
        }
        digits[0] = 0;
        CHECK(sscanf(text, "%63s %8192s", name, digits) >= 1);
        Bytes golden = unhex(digits);
        for (size_t i = 0; i < PACKETS; i++) {
            if (strcmp(packets[i].name, name) == 0) {
                exchange(packets[i].type, packets[i].packet, &room, &golden);
                printf("ok %s is the same in Rust\n", name);
                found++;
            }
        }
    }
    fclose(file);
    CHECK(found == PACKETS);
    return 0;
}
