/* The packets of examples/proto/game.proto that the bots need, in protobuf's encoding: each field follows its key,
 * little-endian. A game with more packets generates this code with nanopb or upb. */
#ifndef GAME_PROTO_H
#define GAME_PROTO_H

#include <stdint.h>
#include <string.h>

typedef struct {
    uint32_t frame;
    float move_x, move_y;
} PlayerInput;

typedef struct {
    uint32_t id;
    float x, y;
    uint32_t frame;
} Player;

/* A reader or a writer. `is_bad` once something did not fit, or makes no sense. */
typedef struct {
    uint8_t *at, *end;
    int is_bad;
} Proto;

static inline void put_byte(Proto *out, uint8_t byte) {
    if (out->at == out->end) {
        out->is_bad = 1;
    } else {
        *out->at++ = byte;
    }
}

static inline void put_varint(Proto *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
        put_byte(out, (uint8_t)(value | 0x80));
    }
    put_byte(out, (uint8_t)value);
}

/* Key: the field's number and its kind, 0 for a varint, 2 for bytes, 5 for four bytes. Zero is not sent. */
static inline void put_uint(Proto *out, uint32_t field, uint32_t value) {
    if (value != 0) {
        put_varint(out, field << 3);
        put_varint(out, value);
    }
}

static inline void put_float(Proto *out, uint32_t field, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (bits != 0) {
        put_varint(out, field << 3 | 5);
        for (int shift = 0; shift < 32; shift += 8) {
            put_byte(out, (uint8_t)(bits >> shift));
        }
    }
}

static inline uint64_t take_varint(Proto *in) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (in->at == in->end) {
            break;
        }
        uint8_t byte = *in->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return value;
        }
    }
    in->is_bad = 1;
    return 0;
}

/* A field: its number, and its value as a number or as bytes. */
typedef struct {
    uint32_t number;
    uint64_t value;
    Proto bytes;
} Field;

/* The next field; 0 at the end. */
static inline int take_field(Proto *in, Field *field) {
    memset(field, 0, sizeof *field);
    if (in->is_bad || in->at == in->end) {
        return 0;
    }
    uint64_t key = take_varint(in);
    field->number = (uint32_t)(key >> 3);
    uint64_t length = 0;
    switch (key & 7) {
    case 0:
        field->value = take_varint(in);
        break;
    case 2:
        length = take_varint(in);
        break;
    case 5:
        length = 4;
        break;
    default:
        in->is_bad = 1;
    }
    if (in->is_bad || length > (uint64_t)(in->end - in->at)) {
        in->is_bad = 1;
        return 0;
    }
    field->bytes.at = in->at;
    field->bytes.end = in->at += length;
    if ((key & 7) == 5) {
        for (unsigned i = 0; i < 4; i++) {
            field->value |= (uint64_t)field->bytes.at[i] << (8 * i);
        }
    }
    return 1;
}

static inline float as_float(const Field *field) {
    uint32_t bits = (uint32_t)field->value;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void encode_input(Proto *out, const PlayerInput *input) {
    put_uint(out, 1, input->frame);
    put_float(out, 2, input->move_x);
    put_float(out, 3, input->move_y);
}

/* Whether these bytes are an input. */
static inline int decode_input(const uint8_t *data, size_t length, PlayerInput *input) {
    Proto in = {(uint8_t *)(uintptr_t)data, (uint8_t *)(uintptr_t)data + length, 0};
    Field field;
    memset(input, 0, sizeof *input);
    while (take_field(&in, &field)) {
        switch (field.number) {
        case 1:
            input->frame = (uint32_t)field.value;
            break;
        case 2:
            input->move_x = as_float(&field);
            break;
        case 3:
            input->move_y = as_float(&field);
            break;
        default:
            break;
        }
    }
    return !in.is_bad;
}

static inline void encode_player(Proto *out, const Player *player) {
    uint8_t bytes[32];
    Proto own = {bytes, bytes + sizeof bytes, 0};
    put_uint(&own, 1, player->id);
    put_float(&own, 2, player->x);
    put_float(&own, 3, player->y);
    put_uint(&own, 4, player->frame);
    put_varint(out, 2 << 3 | 2);
    put_varint(out, (uint64_t)(own.at - bytes));
    for (const uint8_t *byte = bytes; byte < own.at; byte++) {
        put_byte(out, *byte);
    }
}

static inline int decode_player(Proto in, Player *player) {
    Field field;
    memset(player, 0, sizeof *player);
    while (take_field(&in, &field)) {
        switch (field.number) {
        case 1:
            player->id = (uint32_t)field.value;
            break;
        case 2:
            player->x = as_float(&field);
            break;
        case 3:
            player->y = as_float(&field);
            break;
        case 4:
            player->frame = (uint32_t)field.value;
            break;
        default:
            break;
        }
    }
    return !in.is_bad;
}

#endif
