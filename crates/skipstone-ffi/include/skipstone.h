/* Skipstone: a transport for multiplayer games. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Made by cbindgen from crates/skipstone-ffi; do not edit.
 *
 * - Every call that can fail returns a SkipstoneStatus: 0 is success. skipstone_last_error has the text, of this thread.
 * - Handles are numbers. One that has ended, or never was, is an error of the call.
 * - Every function may be called from any thread; calls with one handle take turns. One thread polls a handle.
 * - Texts are UTF-8 with a NUL behind them. Times are in microseconds.
 * - A structure that begins with `size` is set up by its init function, or by setting `size` to sizeof.
 */

#ifndef SKIPSTONE_H
#define SKIPSTONE_H

#include <stddef.h>
#include <stdint.h>

// The version of this interface: the major number in the upper 16 bits, the minor in the lower.
#define SKIPSTONE_ABI_VERSION ((1 << 16) + 5)

// A value of `merging_us`: each message is sent when it is queued.
#define SKIPSTONE_MERGE_NOT 0

// A value of `merging_us`: messages are sent at each `skipstone_flush`.
#define SKIPSTONE_MERGE_UNTIL_FLUSH UINT64_MAX

// A value of `merging_us` in a client's configuration: as in the server's settings.
#define SKIPSTONE_MERGE_AS_SERVER (UINT64_MAX - 1)

// Bytes of a certificate's fingerprint (SHA-256).
#define SKIPSTONE_FINGERPRINT_BYTES 32

// The result of a call. Every call that can fail returns one; skipstone_last_error has the text.
enum SkipstoneStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Done.
  SKIPSTONE_STATUS_OK = 0,
  // A required pointer is NULL, or a pointer is not aligned for its type.
  SKIPSTONE_STATUS_BAD_POINTER = -1,
  // A text is not UTF-8.
  SKIPSTONE_STATUS_NOT_UTF8 = -2,
  // The leading `size` of a structure is unknown to this library: the header has another version, or the structure
  // was not initialised.
  SKIPSTONE_STATUS_BAD_SIZE = -3,
  // A number or a text is out of its range; the text names it.
  SKIPSTONE_STATUS_BAD_VALUE = -4,
  // No server or client has this handle: it is 0, invalid, or has ended.
  SKIPSTONE_STATUS_BAD_HANDLE = -5,
  // The handle is a client's where a server's is required, or the reverse.
  SKIPSTONE_STATUS_WRONG_KIND = -6,
  // Another thread has polled events of this handle and may still read them.
  SKIPSTONE_STATUS_WRONG_THREAD = -7,
  // The caller's buffer is too small; the required length is returned.
  SKIPSTONE_STATUS_BUFFER_TOO_SMALL = -8,
  // There is not enough memory.
  SKIPSTONE_STATUS_OUT_OF_MEMORY = -9,
  // The library is older than the header, or has another major version.
  SKIPSTONE_STATUS_WRONG_ABI = -10,
  // The library was built without a required feature; the text names it.
  SKIPSTONE_STATUS_NOT_BUILT = -11,
  // The system refused a resource: a socket, a thread, a file.
  SKIPSTONE_STATUS_SYSTEM = -12,
  // The URL is invalid.
  SKIPSTONE_STATUS_BAD_URL = -13,
  // The certificate or its key cannot be used.
  SKIPSTONE_STATUS_BAD_IDENTITY = -14,
  // The requested trust is not available.
  SKIPSTONE_STATUS_BAD_TRUST = -15,
  // The handle has no peer with this number.
  SKIPSTONE_STATUS_UNKNOWN_PEER = -16,
  // The connection is not established, is closing, or has ended.
  SKIPSTONE_STATUS_NOT_CONNECTED = -17,
  // No rule of the server's channel table contains this channel.
  SKIPSTONE_STATUS_NO_SUCH_CHANNEL = -18,
  // An inbound rule reserves this channel for the clients.
  SKIPSTONE_STATUS_WRONG_DIRECTION = -19,
  // The message, or the token, exceeds its maximum length.
  SKIPSTONE_STATUS_TOO_LONG = -20,
  // The channel's queue to this peer is full.
  SKIPSTONE_STATUS_QUEUE_FULL = -21,
  // The queue to the driver's thread is full: try again at the next tick.
  SKIPSTONE_STATUS_DRIVER_BUSY = -22,
  // The driver's thread has ended; skipstone_failure says why.
  SKIPSTONE_STATUS_DRIVER_GONE = -23,
  // The client does not wait for a decision: it was already accepted or refused.
  SKIPSTONE_STATUS_NOT_WAITING = -24,
  // There is no such figure, or not yet.
  SKIPSTONE_STATUS_NOT_AVAILABLE = -25,
  // The connection has not ended: close it first, or wait for its SKIPSTONE_EVENT_KIND_CLOSED.
  SKIPSTONE_STATUS_STILL_OPEN = -26,
  // An internal error of the library. The handle cannot be used any more; release it.
  SKIPSTONE_STATUS_INTERNAL = -99,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SkipstoneStatus SkipstoneStatus;
#else
typedef int32_t SkipstoneStatus;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Close codes of the protocol. Codes below 1,000 are the application's own.
enum SkipstoneCloseCode
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Closed by the application without a code of its own.
  SKIPSTONE_CLOSE_CODE_NONE = 0,
  // The server shuts down.
  SKIPSTONE_CLOSE_CODE_SHUTDOWN = 1000,
  // The application refused the client.
  SKIPSTONE_CLOSE_CODE_REFUSED = 1001,
  // The application removed the peer.
  SKIPSTONE_CLOSE_CODE_KICKED = 1002,
  // A channel's queue was full, and its rule is to disconnect.
  SKIPSTONE_CLOSE_CODE_QUEUE_OVERFLOW = 1003,
  // The peer violated the protocol.
  SKIPSTONE_CLOSE_CODE_PROTOCOL = 1004,
  // The server is full, or the client's network has its maximum number of players.
  SKIPSTONE_CLOSE_CODE_FULL = 1005,
  // The handshake timed out (local: never sent).
  SKIPSTONE_CLOSE_CODE_HANDSHAKE_TIMEOUT = 1006,
  // Nothing arrived for the idle timeout (local).
  SKIPSTONE_CLOSE_CODE_IDLE_TIMEOUT = 1007,
  // The carrier was lost: the stream that carried the connection broke (local).
  SKIPSTONE_CLOSE_CODE_CARRIER_LOST = 1008,
  // Client and server have no protocol version in common (local).
  SKIPSTONE_CLOSE_CODE_NO_COMMON_VERSION = 1009,
  // The encrypted handshake failed, for example because of an untrusted certificate (local, or in REFUSE).
  SKIPSTONE_CLOSE_CODE_SECURITY = 1010,
  // No common suite: one side requires encryption and the other has none (in REFUSE).
  SKIPSTONE_CLOSE_CODE_NO_COMMON_SUITE = 1011,
  // The server's name has no address, or none of its addresses can be reached (local).
  SKIPSTONE_CLOSE_CODE_UNREACHABLE = 1012,
  // The server restarts; the reason says when and where to connect again (WIRE.md section 8.1).
  SKIPSTONE_CLOSE_CODE_RESTART = 1013,
  // The peer made this side hold more memory than allowed, or the most of all peers when memory was short.
  SKIPSTONE_CLOSE_CODE_MEMORY = 1016,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SkipstoneCloseCode SkipstoneCloseCode;
#else
typedef uint32_t SkipstoneCloseCode;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Which side ended a connection.
enum SkipstoneClosedBy
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // This side's application, or a rule of this side.
  SKIPSTONE_CLOSED_BY_LOCAL = 1,
  // The peer.
  SKIPSTONE_CLOSED_BY_PEER = 2,
  // Neither: the peer stopped answering, or the carrier failed.
  SKIPSTONE_CLOSED_BY_NOBODY = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SkipstoneClosedBy SkipstoneClosedBy;
#else
typedef uint32_t SkipstoneClosedBy;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The congestion controller.
enum SkipstoneCongestion
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Keeps queues short, and competes with TCP for its share.
  SKIPSTONE_CONGESTION_DELAY_AWARE = 0,
  // The same, more aggressive: for an owner of the link.
  SKIPSTONE_CONGESTION_AGGRESSIVE = 1,
  // None.
  SKIPSTONE_CONGESTION_OFF = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SkipstoneCongestion SkipstoneCongestion;
#else
typedef uint32_t SkipstoneCongestion;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How the messages of a channel are delivered.
enum SkipstoneDelivery
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Sent once, delivered on arrival.
  SKIPSTONE_DELIVERY_UNRELIABLE = 0,
  // Sent once, delivered only if newer than the newest delivered message.
  SKIPSTONE_DELIVERY_UNRELIABLE_SEQUENCED = 1,
  // Each message once, in order.
  SKIPSTONE_DELIVERY_RELIABLE_ORDERED = 2,
  // Each message once, on arrival.
  SKIPSTONE_DELIVERY_RELIABLE_UNORDERED = 3,
  // The newest message is retransmitted until it arrives; older ones are given up.
  SKIPSTONE_DELIVERY_RELIABLE_SEQUENCED = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SkipstoneDelivery SkipstoneDelivery;
#else
typedef uint32_t SkipstoneDelivery;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The sides that may send on a channel.
enum SkipstoneDirection
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The server and its clients.
  SKIPSTONE_DIRECTION_BOTH = 0,
  // The server only.
  SKIPSTONE_DIRECTION_SERVER_TO_CLIENT = 1,
  // Clients only.
  SKIPSTONE_DIRECTION_CLIENT_TO_SERVER = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SkipstoneDirection SkipstoneDirection;
#else
typedef uint32_t SkipstoneDirection;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What happened.
enum SkipstoneEventKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // A client requests a connection. `data` is its token, `address` its address. Answer with skipstone_server_accept
  // or skipstone_server_refuse.
  SKIPSTONE_EVENT_KIND_REQUESTED = 1,
  // The connection is established: messages can be sent.
  SKIPSTONE_EVENT_KIND_CONNECTED = 2,
  // A message arrived. `data` is the message, `channel` its channel, `age_us` how late it is.
  SKIPSTONE_EVENT_KIND_MESSAGE = 3,
  // The peer has received the message `id`. Only on channels with receipts.
  SKIPSTONE_EVENT_KIND_ACKNOWLEDGED = 4,
  // The message `id` will not be sent (or not again); `detail` is a SkipstoneGivenUp.
  SKIPSTONE_EVENT_KIND_GIVEN_UP = 5,
  // A client's address changed to `address`. The connection continues.
  SKIPSTONE_EVENT_KIND_PATH_CHANGED = 6,
  // The connection ended: its last event. `code` is a SkipstoneCloseCode or the application's own, `data` the reason
  // as text (usually UTF-8, without a NUL), `detail` a SkipstoneClosedBy.
  SKIPSTONE_EVENT_KIND_CLOSED = 7,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SkipstoneEventKind SkipstoneEventKind;
#else
typedef uint32_t SkipstoneEventKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Why a message will not be sent (or not again).
enum SkipstoneGivenUp
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // A reason without a number in this version.
  SKIPSTONE_GIVEN_UP_OTHER = 0,
  // The queue was full, and the channel refuses new messages then.
  SKIPSTONE_GIVEN_UP_QUEUE_FULL = 1,
  // The queue was full, and the channel drops its oldest message then.
  SKIPSTONE_GIVEN_UP_DROPPED = 2,
  // A newer message of a sequenced channel replaced it.
  SKIPSTONE_GIVEN_UP_SUPERSEDED = 3,
  // The packet that contained it was lost, and the channel does not retransmit.
  SKIPSTONE_GIVEN_UP_LOST = 4,
  // The client does not accept messages of this length.
  SKIPSTONE_GIVEN_UP_TOO_LONG = 5,
  // The connection ended first.
  SKIPSTONE_GIVEN_UP_CLOSED = 6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SkipstoneGivenUp SkipstoneGivenUp;
#else
typedef uint32_t SkipstoneGivenUp;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The severity of a log line.
enum SkipstoneLogLevel
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Information.
  SKIPSTONE_LOG_LEVEL_INFO = 1,
  // A problem that needs attention.
  SKIPSTONE_LOG_LEVEL_WARNING = 2,
  // Something failed.
  SKIPSTONE_LOG_LEVEL_ERROR = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SkipstoneLogLevel SkipstoneLogLevel;
#else
typedef uint32_t SkipstoneLogLevel;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The reaction if a channel's queue has no room for a message.
enum SkipstoneOverflow
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The message is refused.
  SKIPSTONE_OVERFLOW_REFUSE = 0,
  // The oldest queued message is dropped.
  SKIPSTONE_OVERFLOW_DROP_OLDEST = 1,
  // The connection is closed.
  SKIPSTONE_OVERFLOW_DISCONNECT = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SkipstoneOverflow SkipstoneOverflow;
#else
typedef uint32_t SkipstoneOverflow;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Protection against loss in addition to retransmission.
enum SkipstoneRedundancy
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Lost content is retransmitted once, and nothing else.
  SKIPSTONE_REDUNDANCY_OFF = 0,
  // Lost content is retransmitted in several copies.
  SKIPSTONE_REDUNDANCY_LEAN = 1,
  // Repair packets according to the measured loss, and copies.
  SKIPSTONE_REDUNDANCY_ADAPTIVE = 2,
  // A block code: after `redundancy_first` packets, `redundancy_second` repair packets.
  SKIPSTONE_REDUNDANCY_FIXED = 3,
  // Each packet repeats the messages of the last `redundancy_first` packets, 1 to 8.
  SKIPSTONE_REDUNDANCY_REPEAT = 4,
  // For a channel: the server's default for all channels.
  SKIPSTONE_REDUNDANCY_AS_SETTINGS = 255,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SkipstoneRedundancy SkipstoneRedundancy;
#else
typedef uint32_t SkipstoneRedundancy;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How a server protects its clients.
enum SkipstoneSecurity
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Encrypted, with a certificate that is generated at the start; skipstone_server_url contains its fingerprint.
  SKIPSTONE_SECURITY_SELF_SIGNED = 0,
  // Encrypted, with a certificate that is generated at the first start and stored in the file `certificate`.
  SKIPSTONE_SECURITY_SELF_SIGNED_KEPT = 1,
  // Encrypted, with PEM files whose names are `certificate` and `key`; they are read again when they change. Without
  // `key` both are in the file `certificate`.
  SKIPSTONE_SECURITY_FILES = 2,
  // Encrypted, with PEM texts in `certificate` and `key`, which may be equal.
  SKIPSTONE_SECURITY_PEM = 3,
  // Unencrypted: for a trusted network, or for a tunnel that encrypts.
  SKIPSTONE_SECURITY_PLAIN = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SkipstoneSecurity SkipstoneSecurity;
#else
typedef uint32_t SkipstoneSecurity;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The structures whose size skipstone_struct_size returns.
enum SkipstoneStruct
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // SkipstoneEvent.
  SKIPSTONE_STRUCT_EVENT = 1,
  // SkipstoneChannel.
  SKIPSTONE_STRUCT_CHANNEL = 2,
  // SkipstoneInboundRule.
  SKIPSTONE_STRUCT_INBOUND_RULE = 3,
  // SkipstoneLink.
  SKIPSTONE_STRUCT_LINK = 4,
  // SkipstoneServerConfig.
  SKIPSTONE_STRUCT_SERVER_CONFIG = 5,
  // SkipstoneClientConfig.
  SKIPSTONE_STRUCT_CLIENT_CONFIG = 6,
  // SkipstoneStats.
  SKIPSTONE_STRUCT_STATS = 7,
  // SkipstoneOverview.
  SKIPSTONE_STRUCT_OVERVIEW = 8,
  // SkipstoneDriverStats.
  SKIPSTONE_STRUCT_DRIVER_STATS = 9,
  // SkipstoneServerTime.
  SKIPSTONE_STRUCT_SERVER_TIME = 10,
  // SkipstoneFlow.
  SKIPSTONE_STRUCT_FLOW = 11,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SkipstoneStruct SkipstoneStruct;
#else
typedef uint32_t SkipstoneStruct;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Who runs the driver.
enum SkipstoneThreading
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // A thread of the library.
  SKIPSTONE_THREADING_BACKGROUND = 0,
  // The application, by calling skipstone_drive.
  SKIPSTONE_THREADING_STEPPED = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SkipstoneThreading SkipstoneThreading;
#else
typedef uint32_t SkipstoneThreading;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Which servers a client trusts.
enum SkipstoneTrust
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Those with a certificate that is signed by an authority of the system. A fingerprint in the URL takes
  // precedence.
  SKIPSTONE_TRUST_SYSTEM = 0,
  // Those with a certificate that is signed by one of the authorities in the PEM text `authorities`.
  SKIPSTONE_TRUST_AUTHORITIES = 1,
  // The one with a certificate that has the fingerprint `fingerprint`.
  SKIPSTONE_TRUST_PINNED = 2,
  // Any server, including any attacker between: for tests on one's own machine.
  SKIPSTONE_TRUST_DANGEROUSLY_ANYTHING = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SkipstoneTrust SkipstoneTrust;
#else
typedef uint32_t SkipstoneTrust;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The reaction when a client breaks an inbound rule.
enum SkipstoneViolation
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The connection is closed.
  SKIPSTONE_VIOLATION_CLOSE = 0,
  // The message is dropped; only on unreliable channels.
  SKIPSTONE_VIOLATION_DROP = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SkipstoneViolation SkipstoneViolation;
#else
typedef uint32_t SkipstoneViolation;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A server or a client.
typedef uint64_t SkipstoneHandle;

// A connection, identified within its handle. A server never reuses the number; a client's number stays the same when
// it reconnects.
typedef uint64_t SkipstonePeer;

// Counters of one direction.
typedef struct SkipstoneFlow {
  // Datagrams of any size.
  uint64_t datagrams;
  // Messages of the application.
  uint64_t messages;
  // Bytes of those messages, each counted once.
  uint64_t payload_bytes;
  // Bytes of the datagrams: payload, and the overhead of the protocol.
  uint64_t datagram_bytes;
  // Bytes of the datagrams with IP and carrier headers.
  uint64_t ip_bytes;
} SkipstoneFlow;

// The version 1.0 counters of a connection. They are in the middle of an overview, so this structure never changes.
// Newer counters are at the overview's end.
typedef struct SkipstoneStatsOf1_0 {
  // Bytes of this structure.
  uint32_t size;
  // Always 0.
  uint32_t reserved;
  // What was sent.
  struct SkipstoneFlow sent;
  // What was received and authenticated.
  struct SkipstoneFlow received;
  // Packets declared lost.
  uint64_t packets_lost;
  // Packets declared lost whose acknowledgement came later.
  uint64_t packets_spurious;
  // Messages and fragments retransmitted.
  uint64_t resent;
  // Packets whose acknowledgement was overdue (probe timeout), so that their content was sent again.
  uint64_t probes;
  // Repair packets sent.
  uint64_t repairs_sent;
  // Copies of retransmissions, each in addition to the retransmission itself; and packets that repeat messages of
  // earlier ones.
  uint64_t copies_sent;
  // Bytes of repairs and copies, IP headers included, and of messages repeated.
  uint64_t redundancy_bytes_sent;
  // Packets of the peer that were lost and recovered here, each without waiting for a round trip.
  uint64_t packets_recovered;
  // Packets sent here that were lost and that the peer recovered.
  uint64_t packets_recovered_by_peer;
  // Times that the connection moved to a new address.
  uint64_t paths_changed;
  // Messages refused or dropped by a full queue.
  uint64_t queue_overflows;
  // Datagrams, packets and messages that were dropped on arrival, for any reason.
  uint64_t drops;
} SkipstoneStatsOf1_0;

// A snapshot of a connection.
typedef struct SkipstoneOverview {
  // Bytes of this structure; set it before the call.
  uint32_t size;
  // Current maximum bytes of a datagram: what the path is known to carry.
  uint32_t datagram_bytes;
  // The connection.
  uint64_t peer;
  // Smoothed round-trip time.
  uint64_t rtt_us;
  // Variation of the round-trip time.
  uint64_t rtt_variation_us;
  // The minimum round-trip time that was measured; 0 before the first.
  uint64_t rtt_min_us;
  // Messages that are queued or in flight.
  uint64_t queued_messages;
  // Bytes of those messages.
  uint64_t queued_bytes;
  // Bytes of messages that arrived and wait for earlier ones.
  uint64_t held_bytes;
  // Bytes in flight.
  uint64_t bytes_in_flight;
  // The congestion window: maximum bytes in flight.
  uint64_t congestion_window;
  // Messages per second to the peer, over about a second.
  double sent_messages_per_second;
  // Bytes per second to the peer, headers included.
  double sent_bytes_per_second;
  // Share of packets to the peer that the path lost, 0 to 1, over about the last thousand; those sent together count
  // as one.
  double sent_loss;
  // Messages per second from the peer.
  double received_messages_per_second;
  // Bytes per second from the peer, headers included.
  double received_bytes_per_second;
  // Share of packets from the peer that the path lost, 0 to 1, over about the last thousand.
  double received_loss;
  // The carrier of the connection, NUL-padded: "udp", "dtls", "wt", "ws", "wss", "tcp", "tls" or "local".
  uint8_t carrier[8];
  // The connection's counters of version 1.0; later ones are at the end, under the names of SkipstoneStats.
  struct SkipstoneStatsOf1_0 stats;
  // Bytes of datagrams per second that may be sent to the peer, as far as the path is known: scale snapshots by it.
  // UINT64_MAX if nothing limits them: on a stream, whose load shows in `queued_bytes`. Since version 1.2.
  uint64_t available_bytes_per_second;
  // Bytes of messages per second to the peer. Since version 1.3.
  double sent_payload_bytes_per_second;
  // Bytes of messages per second from the peer. Since version 1.3.
  double received_payload_bytes_per_second;
  // Acknowledgements that the peer reports to have delayed for longer than the settings allow: its machine paused,
  // an earlier acknowledgement was lost, or it does not follow the settings. Since version 1.4.
  uint64_t acks_overdue;
  // New addresses that did not prove to be the peer's. Since version 1.4.
  uint64_t paths_refused;
  // Times that large datagrams were lost on the path, so that only small ones are sent (RFC 8899, section 3). Since
  // version 1.4.
  uint64_t black_holes;
} SkipstoneOverview;

// Counters of the drivers and their sockets.
typedef struct SkipstoneDriverStats {
  // Bytes of this structure; set it before the call.
  uint32_t size;
  // 1: the system granted smaller socket buffers than requested.
  uint32_t are_buffers_short;
  // Rounds of the driver's loop.
  uint64_t rounds;
  // System calls that sent datagrams.
  uint64_t send_calls;
  // Datagrams that the system refused to send.
  uint64_t send_errors;
  // Datagrams that the kernel dropped because a receive buffer was full.
  uint64_t receive_drops;
  // WebSocket connections in clear, open now.
  uint64_t websockets;
  // WebSocket connections over TLS, open now.
  uint64_t secure_websockets;
  // TCP connections without WebSocket, open now.
  uint64_t raw_streams;
  // Streams in memory to clients of this process, or to their server.
  uint64_t locals;
  // DTLS sessions that there are now, handshakes included.
  uint64_t dtls_sessions;
  // QUIC connections that there are now, handshakes included.
  uint64_t webtransport_sessions;
  // Datagrams and streams from addresses that the server denies. Since version 1.3.
  uint64_t denied;
  // The smallest receive buffer granted, in bytes. Since version 1.3.
  uint64_t receive_buffer_bytes;
  // Datagrams that the network simulated around a server dropped for lack of memory. Since version 1.3.
  uint64_t impairment_drops;
  // Datagrams handed to the shard that their connection id names. Since version 1.3.
  uint64_t misrouted_handed_on;
  // Misrouted datagrams dropped, because too many already waited for their shard. Since version 1.3.
  uint64_t misrouted_dropped;
  // DTLS sessions that began with a ClientHello. Since version 1.3.
  uint64_t dtls_begun;
  // DTLS handshakes that were completed. Since version 1.3.
  uint64_t dtls_established;
  // DTLS sessions that were removed before their time limit, because another session needed the place. Since version
  // 1.3.
  uint64_t dtls_displaced;
  // Datagrams that belonged to no DTLS session and began none, or were invalid in their session, and answers that
  // would have been too long. Since version 1.3.
  uint64_t dtls_dropped;
  // QUIC handshakes that began. Since version 1.3.
  uint64_t webtransport_begun;
  // QUIC handshakes that were completed. Since version 1.3.
  uint64_t webtransport_established;
  // WebTransport sessions that were granted. Since version 1.3.
  uint64_t webtransport_granted;
  // Unproven clients that were asked for a proof of their address first (RFC 9000, section 8.1.2). Since version
  // 1.3.
  uint64_t webtransport_retries;
  // QUIC connections that were removed before their time limit, because another one needed the place. Since version
  // 1.3.
  uint64_t webtransport_displaced;
  // Requests and streams that were refused, for their origin or because nothing here needs them. Since version 1.3.
  uint64_t webtransport_refused;
  // Connections that ended because the client broke a rule of QUIC, TLS or HTTP/3. Since version 1.3.
  uint64_t webtransport_breaches;
  // Datagrams that belonged to no QUIC connection and began none, or to no session; and datagrams of the protocol
  // that a session did not accept. Since version 1.3.
  uint64_t webtransport_dropped;
  // Streams accepted. Since version 1.3.
  uint64_t streams_accepted;
  // Streams whose handshake or close timed out. Since version 1.3.
  uint64_t streams_timed_out;
  // Streams that were closed for newer ones, because their network had too many without a connection. Since version
  // 1.3.
  uint64_t streams_displaced;
  // Plain HTTP requests that were answered. Since version 1.3.
  uint64_t streams_answered;
  // HTTP requests that were refused: with 426 without a WebSocket upgrade, with 404 for an unknown path. Since
  // version 1.3.
  uint64_t streams_not_upgraded;
  // Streams that ended without a close: the peer is gone, or left without closing. Since version 1.3.
  uint64_t streams_lost;
  // Streams that were closed in an orderly way, by either side. Since version 1.3.
  uint64_t streams_closed;
  // First bytes of no protocol that the port accepts, and malformed requests. Since version 1.3.
  uint64_t streams_malformed_requests;
  // Heads of requests beyond 8 KiB, or with too many lines. Since version 1.3.
  uint64_t streams_oversized_requests;
  // Invalid WebSocket frames, and invalid message lengths. Since version 1.3.
  uint64_t streams_broken_frames;
  // Messages beyond the limit. Since version 1.3.
  uint64_t streams_oversized_messages;
  // TLS that failed: no certificate fits the name, the client does not trust it, or the bytes are not TLS. Since
  // version 1.3.
  uint64_t streams_tls_failures;
  // Clients that asked for TLS while they, their network or all had begun too many handshakes. Since version 1.3.
  uint64_t streams_over_budget;
  // PROXY headers that cannot be read, or come from a host that is not a trusted proxy. Since version 1.3.
  uint64_t streams_bad_proxy_headers;
  // Requests in clear where TLS is required, and streams of a kind that is not taken. Since version 1.3.
  uint64_t streams_not_taken;
  // Pages of other origins, and requests for other hosts. Since version 1.3.
  uint64_t streams_foreign;
  // Rounds that ended with something left to read, because they had taken as long as a round may. Since version 1.4.
  uint64_t rounds_cut;
  // The most work in one round's reading: its expected CPU time, estimated from the data that was read. Since
  // version 1.4.
  uint64_t round_cost_max_us;
  // Streams that were closed because they cost too much before they carried a connection. Since version 1.4.
  uint64_t streams_too_dear;
} SkipstoneDriverStats;

// A simulated link, for tests: it delays and loses datagrams around a real socket. All zero means a perfect link.
typedef struct SkipstoneLink {
  // One-way delay.
  uint64_t delay_us;
  // Maximum additional random delay.
  uint64_t jitter_us;
  // Bits per second; 0 for no limit.
  uint64_t rate_bits_per_second;
  // Share of datagrams that is lost, 0 to 1.
  double loss;
  // Mean number of datagrams lost in a row; 0 for independent losses.
  double loss_burst;
  // Share of datagrams that are held back, so that later ones overtake them.
  double reorder;
  // Share of datagrams that arrive twice.
  double duplicate;
} SkipstoneLink;

// Configuration of a client. skipstone_client_config_init sets the defaults. The strings are read by
// skipstone_client_connect, and may be freed after it.
typedef struct SkipstoneClientConfig {
  // Bytes of this structure, as skipstone_client_config_init set them.
  uint32_t size;
  // A SkipstoneThreading.
  uint32_t threading;
  // A SkipstoneTrust. A fingerprint in the URL takes precedence.
  uint32_t trust;
  // A SkipstoneCongestion.
  uint32_t congestion;
  // PEM text for SKIPSTONE_TRUST_AUTHORITIES.
  const char *authorities;
  // SHA-256 of the server's certificate for SKIPSTONE_TRUST_PINNED.
  uint8_t fingerprint[32];
  // The version of DTLS for skip+dtls:// URLs: 12 or 13; 0 for the default.
  uint32_t dtls_version;
  // 1: requests the server's time regularly. Default 1.
  uint32_t follows_server_time;
  // When this client sends queued messages: SKIPSTONE_MERGE_AS_SERVER (default), SKIPSTONE_MERGE_NOT,
  // SKIPSTONE_MERGE_UNTIL_FLUSH, or a number of µs after the first queued message.
  uint64_t merging_us;
  // Time limit of the handshake.
  uint64_t handshake_timeout_us;
  // Maximum bytes in each of the two queues between the application and the driver.
  uint64_t queue_bytes_max;
  // Maximum bytes per second that this client sends; 0 for no limit.
  uint64_t bandwidth_max;
  // Maximum bytes of a message that this client accepts.
  uint32_t message_bytes_max;
  // Maximum bytes of reliable messages that this client holds.
  uint32_t window_bytes;
  // Maximum bytes of a datagram that this client accepts.
  uint32_t datagram_bytes_max;
  // Progress is published for messages of at least this many bytes; 0 for none.
  uint32_t transfer_bytes_min;
  // 1: `up` and `down` simulate a network around the UDP socket.
  uint32_t impaired;
  // Always 0.
  uint32_t reserved;
  // The seed of the simulation.
  uint64_t impairment_seed;
  // The simulated link towards the server.
  struct SkipstoneLink up;
  // The simulated link towards this client.
  struct SkipstoneLink down;
  // 1: the client connects again by itself, in skipstone_poll, after it lost its connection or if the server
  // restarts or is full: see skipstone_client_returns_in. It has no effect on a client of this process. Since
  // version 1.3.
  uint32_t reconnects;
  // Maximum number of consecutive failed attempts. Default 20.
  uint32_t reconnect_attempts_max;
  // The first pause after a lost connection, at least 1 ms; it doubles with each failed attempt, and half of it is
  // random. Default 250 ms.
  uint64_t reconnect_pause_min_us;
  // The longest pause. Default 30 s.
  uint64_t reconnect_pause_max_us;
} SkipstoneClientConfig;

// A client: one connection to one server. 0 is invalid.
typedef uint64_t SkipstoneClient;

// A server. 0 is invalid. The numbers of ended servers and clients are not reused.
typedef uint64_t SkipstoneServer;

// A rule of a server's channel table, for the channels from `first` to `last`. skipstone_channel_init sets the
// defaults of a delivery mode.
typedef struct SkipstoneChannel {
  // Bytes of this structure, as skipstone_channel_init set them.
  uint32_t size;
  // The first channel of the rule.
  uint16_t first;
  // The last channel of the rule.
  uint16_t last;
  // A SkipstoneDelivery.
  uint32_t delivery;
  // A SkipstoneOverflow.
  uint32_t overflow;
  // A SkipstoneRedundancy.
  uint32_t redundancy;
  // 0 is the most urgent.
  uint8_t priority;
  // The share among channels of one priority, at least 1.
  uint8_t weight;
  // 1: the sender gets an event for each message that arrived.
  uint8_t receipts;
  // For SKIPSTONE_REDUNDANCY_FIXED: source packets. For SKIPSTONE_REDUNDANCY_REPEAT: packets whose messages are
  // repeated.
  uint8_t redundancy_first;
  // For SKIPSTONE_REDUNDANCY_FIXED: repair packets.
  uint8_t redundancy_second;
  // Always 0.
  uint8_t reserved[3];
  // Maximum number of messages in each channel's queue.
  uint32_t queue_messages_max;
  // Maximum bytes in each channel's queue.
  uint32_t queue_bytes_max;
} SkipstoneChannel;

// A client's estimate of the server's clock.
typedef struct SkipstoneServerTime {
  // The server's uptime, as skipstone_server_time returns it there.
  uint64_t at_us;
  // The maximum error of the estimate, in both directions.
  uint64_t error_us;
} SkipstoneServerTime;

// An event of a connection. What `data` and `address` point to belongs to the library, and is valid until the next
// skipstone_poll with the same handle.
typedef struct SkipstoneEvent {
  // A SkipstoneEventKind. Ignore unknown ones.
  uint32_t kind;
  // The channel of a message.
  uint16_t channel;
  // Details of a message that was given up, or of a close.
  uint16_t detail;
  // The connection.
  uint64_t peer;
  // A message's bytes, a token, or the reason of a close; NULL if `length` is 0.
  const uint8_t *data;
  // Bytes of `data`.
  uint32_t length;
  // How much later than planned a message arrived, because it was lost at first; usually 0. Pass it on as the age of
  // an answer.
  uint32_t age_us;
  // The message that was acknowledged or given up, as returned by skipstone_server_send.
  uint64_t id;
  // The code of a close.
  uint64_t code;
  // The address of a client as NUL-terminated text; NULL in events without an address.
  const char *address;
  // Always 0.
  uint64_t reserved;
} SkipstoneEvent;

// A number for a set of peers. SKIPSTONE_EVERYONE contains all connected peers.
typedef uint32_t SkipstoneGroup;

// Limits on what clients may send on the channels from `first` to `last`. skipstone_inbound_rule_init sets the
// defaults.
typedef struct SkipstoneInboundRule {
  // Bytes of this structure, as skipstone_inbound_rule_init set them.
  uint32_t size;
  // The first channel of the rule.
  uint16_t first;
  // The last channel of the rule.
  uint16_t last;
  // A SkipstoneDirection.
  uint32_t direction;
  // A SkipstoneViolation.
  uint32_t violation;
  // Maximum bytes of a message from a client; 0 for the limit of the settings.
  uint32_t message_bytes_max;
  // Messages per second of each client on each channel; 0 for no limit.
  uint32_t messages_per_second;
  // Messages that may arrive at once after a pause; at least 1 if there is a rate.
  uint32_t burst;
} SkipstoneInboundRule;

// Configuration of a server. skipstone_server_config_init sets the defaults; change what you need. The strings and
// arrays are read by skipstone_server_start, and may be freed after it.
typedef struct SkipstoneServerConfig {
  // Bytes of this structure, as skipstone_server_config_init set them.
  uint32_t size;
  // A SkipstoneThreading.
  uint32_t threading;
  // The address for UDP and TCP, "0.0.0.0:7777" or "[::]:7777", which serves IPv4 too; with port 0 the system
  // chooses the port. NULL for a server without sockets, which only skipstone_client_connect_local reaches.
  const char *listen;
  // A SkipstoneSecurity.
  uint32_t security;
  // 1: clients that request no encryption are admitted too.
  uint8_t allows_plain;
  // 1: WebSocket and tcp:// clients are served on the TCP port with the same number. Default 1.
  uint8_t websocket;
  // 1: browsers are served by WebTransport, if the server encrypts. Default 1.
  uint8_t webtransport;
  // 1: refuses unencrypted connections over TCP.
  uint8_t requires_tls;
  // The name of a PEM file, or a PEM text, as `security` says.
  const char *certificate;
  // The name of a PEM file, or a PEM text, as `security` says.
  const char *key;
  // The channel table; the first rule that contains a channel applies to it. NULL for one rule: every channel is
  // reliable and ordered. An empty array is refused.
  const struct SkipstoneChannel *channels;
  // Limits on what clients may send.
  const struct SkipstoneInboundRule *inbound;
  // Number of rules in `channels`.
  uint32_t channel_count;
  // Number of rules in `inbound`.
  uint32_t inbound_count;
  // Time without a packet after which the peer is gone: the idle timeout.
  uint64_t idle_timeout_us;
  // Time without a packet after which a client sends a PING, or 5/6 of the idle timeout if that is shorter; a server
  // waits half as long again, or until half-way to the idle timeout if that is sooner.
  uint64_t keepalive_us;
  // Longest time for which an acknowledgement may be held back while losses are possible (WIRE.md section 4.1).
  uint64_t ack_delay_us;
  // Longest time for which an acknowledgement may be held back at all, also where nothing was lost (WIRE.md section
  // 4.1); `ack_delay` if that is longer. On a stream it is always 100 ms.
  uint64_t ack_delay_max_us;
  // Maximum bytes of a message.
  uint32_t message_bytes_max;
  // Bytes of reliable messages that a receiver holds: the receive window, in which a message of `message_bytes_max`
  // must fit.
  uint32_t window_bytes;
  // Maximum bytes of a datagram of UDP; streams have packets of their own size.
  uint32_t datagram_bytes_max;
  // A SkipstoneRedundancy for channels without their own.
  uint32_t redundancy;
  // As in SkipstoneChannel.
  uint8_t redundancy_first;
  // As in SkipstoneChannel.
  uint8_t redundancy_second;
  // Maximum bytes of repairs and copies, in percent of the bytes that they protect.
  uint16_t redundancy_budget_percent;
  // Number of drivers, each with its own thread; more of them than cores bring nothing.
  uint32_t shards;
  // When the server sends queued messages: SKIPSTONE_MERGE_NOT, SKIPSTONE_MERGE_UNTIL_FLUSH (default), or a number
  // of µs after the first queued message.
  uint64_t merging_us;
  // The same for its clients, unless they choose otherwise. Default SKIPSTONE_MERGE_NOT.
  uint64_t client_merging_us;
  // Time limit of a handshake, including the application's decision.
  uint64_t handshake_timeout_us;
  // Maximum number of players.
  uint32_t connections_max;
  // A SkipstoneCongestion.
  uint32_t congestion;
  // Maximum bytes in each of the two queues between the application and a driver.
  uint64_t queue_bytes_max;
  // Maximum bytes per second to each client; 0 for no limit.
  uint64_t bandwidth_max_per_peer;
  // Maximum bytes per second to all clients together; 0 for no limit.
  uint64_t bandwidth_max;
  // Maximum bytes of memory of one connection.
  uint64_t memory_per_connection;
  // Maximum bytes of memory of all connections of one network.
  uint64_t memory_per_network;
  // Maximum bytes of memory of all connections.
  uint64_t memory_max;
  // Origins of pages that may connect, as `https://game.example`; an empty list allows all.
  const char *const *origins;
  // Host names that HTTP requests may name; an empty list allows all.
  const char *const *hosts;
  // Proxies, by address or network, that are trusted to state their clients' addresses.
  const char *const *trusted_proxies;
  // Number of `origins`.
  uint32_t origin_count;
  // Number of `hosts`.
  uint32_t host_count;
  // Number of `trusted_proxies`.
  uint32_t trusted_proxy_count;
  // Progress is published for messages of at least this many bytes; 0 for none.
  uint32_t transfer_bytes_min;
  // Answer to queries of server browsers, up to 1,181 bytes; NULL for none.
  const uint8_t *query_answer;
  // Bytes of `query_answer`.
  uint32_t query_answer_length;
  // 1: `up` and `down` simulate a network around the UDP socket; `websocket` must be 0.
  uint32_t impaired;
  // The seed of the simulation.
  uint64_t impairment_seed;
  // The simulated links towards the server.
  struct SkipstoneLink up;
  // The simulated links towards the clients.
  struct SkipstoneLink down;
  // Addresses and networks that the server ignores, as in skipstone_server_set_denied. Since version 1.3.
  const char *const *denied;
  // Number of `denied`.
  uint32_t denied_count;
  // Maximum number of players of one network (IPv4 /24, IPv6 /56). 0: three times the number of free places, but at
  // least 8, and no limit for loopback and private addresses. Since version 1.4.
  uint32_t players_of_network_max;
  // The channel by which the server moves its clients to other servers (WIRE.md section 8.2), which must be reliable
  // and ordered, and which applications cannot use; 65,536 for none. Since version 1.5.
  uint32_t moves_channel;
} SkipstoneServerConfig;

// Counters of a connection, or of all. They only grow.
typedef struct SkipstoneStats {
  // Bytes of this structure; set it before the call.
  uint32_t size;
  // Always 0.
  uint32_t reserved;
  // What was sent.
  struct SkipstoneFlow sent;
  // What was received and authenticated.
  struct SkipstoneFlow received;
  // Packets declared lost.
  uint64_t packets_lost;
  // Packets declared lost whose acknowledgement came later.
  uint64_t packets_spurious;
  // Messages and fragments retransmitted.
  uint64_t resent;
  // Packets whose acknowledgement was overdue (probe timeout), so that their content was sent again.
  uint64_t probes;
  // Repair packets sent.
  uint64_t repairs_sent;
  // Copies of retransmissions, each in addition to the retransmission itself; and packets that repeat messages of
  // earlier ones.
  uint64_t copies_sent;
  // Bytes of repairs and copies, IP headers included, and of messages repeated.
  uint64_t redundancy_bytes_sent;
  // Packets of the peer that were lost and recovered here, each without waiting for a round trip.
  uint64_t packets_recovered;
  // Packets sent here that were lost and that the peer recovered.
  uint64_t packets_recovered_by_peer;
  // Times that the connection moved to a new address.
  uint64_t paths_changed;
  // Messages refused or dropped by a full queue.
  uint64_t queue_overflows;
  // Datagrams, packets and messages that were dropped on arrival, for any reason.
  uint64_t drops;
  // Acknowledgements that the peer reports to have delayed for longer than the settings allow: its machine paused,
  // an earlier acknowledgement was lost, or it does not follow the settings. Since version 1.4.
  uint64_t acks_overdue;
  // New addresses that did not prove to be the peer's. Since version 1.4.
  uint64_t paths_refused;
  // Times that large datagrams were lost on the path, so that only small ones are sent (RFC 8899, section 3). Since
  // version 1.4.
  uint64_t black_holes;
} SkipstoneStats;

// The group of all connected peers, which the library keeps.
#define SKIPSTONE_EVERYONE 0

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Drives a stepped server or client: receives, handles timers and sends, waiting for the sockets for `wait_max_us` at
// most. No effect with background threads.
SkipstoneStatus skipstone_drive(SkipstoneHandle handle, uint64_t wait_max_us);

// Sends all messages that were queued since the last flush. A server needs it at the end of each tick, unless its
// configuration says otherwise.
SkipstoneStatus skipstone_flush(SkipstoneHandle handle);

// The reason why the handle's driver has ended; SKIPSTONE_STATUS_NOT_AVAILABLE while it runs.
SkipstoneStatus skipstone_failure(SkipstoneHandle handle, char *buffer, size_t capacity, size_t *length);

// State and counters of one connection, up to 50 ms old. Set `overview->size` before the call.
// SKIPSTONE_STATUS_NOT_AVAILABLE if there is no such connection, or none yet.
SkipstoneStatus skipstone_overview(SkipstoneHandle handle, SkipstonePeer peer, struct SkipstoneOverview *overview);

// Counters of the drivers and their sockets, up to 50 ms old. Set `stats->size` before the call.
SkipstoneStatus skipstone_driver_stats(SkipstoneHandle handle, struct SkipstoneDriverStats *stats);

// Ends a server or a client at once, without notifying its peers, and invalidates the handle. No thread may read its
// events afterwards.
SkipstoneStatus skipstone_release(SkipstoneHandle handle);

// Sets the defaults: a client that trusts the system's certificate authorities. `size` is
// sizeof(SkipstoneClientConfig).
SkipstoneStatus skipstone_client_config_init(struct SkipstoneClientConfig *config, uint32_t size);

// Begins to connect; SKIPSTONE_EVENT_KIND_CONNECTED or SKIPSTONE_EVENT_KIND_CLOSED follows. The URL is
// `skip://host:port#sha256=...` (encrypted), `skip+plain://`, `skip+dtls://`, `ws://`, `wss://` or `tcp://`. The
// server decides by the token, of up to 1,024 bytes, whether to accept. `config` may be NULL for the defaults.
// `client` gets the handle, which skipstone_client_close or skipstone_release ends.
SkipstoneStatus skipstone_client_connect(const char *url,
                                         const uint8_t *token,
                                         size_t token_length,
                                         const struct SkipstoneClientConfig *config,
                                         SkipstoneClient *client);

// Connects to a server in this process: for a single player, or for the host of a listen server. Events and channels
// are the same as over a network, without sockets and encryption. `config` may be NULL for the defaults.
SkipstoneStatus skipstone_client_connect_local(SkipstoneServer server,
                                               const uint8_t *token,
                                               size_t token_length,
                                               const struct SkipstoneClientConfig *config,
                                               SkipstoneClient *client);

// Closes the connection and invalidates the handle. Queued reliable messages have `linger_us` to arrive first; the
// call returns when the server has confirmed the close, or soon after `linger_us`. `reason` may be NULL.
SkipstoneStatus skipstone_client_close(SkipstoneClient client, uint64_t code, const char *reason, uint64_t linger_us);

// Sends a message of `length` bytes to the server. Otherwise as skipstone_server_send.
SkipstoneStatus skipstone_client_send(SkipstoneClient client,
                                      uint16_t channel,
                                      const uint8_t *data,
                                      size_t length,
                                      uint64_t age_us,
                                      uint64_t *id);

// The number that identifies the connection in events.
SkipstoneStatus skipstone_client_peer(SkipstoneClient client, SkipstonePeer *peer);

// The server's address as text; SKIPSTONE_STATUS_NOT_AVAILABLE while none of the addresses of its name has answered.
SkipstoneStatus skipstone_client_server_address(SkipstoneClient client, char *buffer, size_t capacity, size_t *length);

// The rule of a channel in the server's settings; SKIPSTONE_STATUS_NOT_AVAILABLE before
// SKIPSTONE_EVENT_KIND_CONNECTED. Set `rule->size` before the call.
SkipstoneStatus skipstone_client_channel(SkipstoneClient client, uint16_t channel, struct SkipstoneChannel *rule);

// Migrates the connection to a new socket, after the system has reported a change of network. `has_moved`, which may
// be NULL, gets 0 if the connection is not established, or is a stream, which cannot migrate.
SkipstoneStatus skipstone_client_rebind(SkipstoneClient client, uint32_t *has_moved);

// The estimated current time of the server's clock; SKIPSTONE_STATUS_NOT_AVAILABLE until the server has answered.
SkipstoneStatus skipstone_client_server_time(SkipstoneClient client, struct SkipstoneServerTime *time);

// Takes up to `capacity` events, and stores their number in `count`.
//
// What the events point to is valid until the next call with this handle. Only one thread polls a handle: another
// thread gets SKIPSTONE_STATUS_WRONG_THREAD until the first one has called this function with a `capacity` of 0, which
// returns its events, or has ended.
SkipstoneStatus skipstone_poll(SkipstoneHandle handle,
                               struct SkipstoneEvent *events,
                               uint32_t capacity,
                               uint32_t *count);

// Waits until there is an event, for `timeout_us` at most. It returns at the first event, so a loop with a fixed rate
// calls `skipstone_wait_tick` instead. Other threads may use the handle meanwhile, but only one may wait: a second one
// gets SKIPSTONE_STATUS_WRONG_THREAD. A stepped handle is driven during the wait, and other threads cannot use it.
SkipstoneStatus skipstone_wait(SkipstoneHandle handle, uint64_t timeout_us);

// Waits for the next tick of a loop that runs once per `interval_us`, regardless of how many events arrive:
// `skipstone_poll` returns them afterwards. The first tick is due one interval after the first call, each later one an
// interval after the previous one was due. Ticks that are late by a whole interval or more are skipped; `missed`,
// unless it is NULL, gets their number. Other threads may use the handle meanwhile, but not wait. A stepped handle is
// driven during the wait, and other threads cannot use it. Since version 1.2.
SkipstoneStatus skipstone_wait_tick(SkipstoneHandle handle, uint64_t interval_us, uint64_t *missed);

// Sends one message to every connected member of a group; SKIPSTONE_EVERYONE contains all connected peers. The bytes
// are copied once for all members. `peers` gets the number of members for which the message was accepted, `id` the
// message's number; both may be NULL.
SkipstoneStatus skipstone_server_broadcast(SkipstoneServer server,
                                           SkipstoneGroup group,
                                           uint16_t channel,
                                           const uint8_t *data,
                                           size_t length,
                                           uint32_t *peers,
                                           uint64_t *id);

// As skipstone_server_broadcast, except to the `except_count` peers at `except`: usually the author of a message that
// is passed on. A peer in that list that is not a member, or has disconnected, is ignored. Since version 1.2.
SkipstoneStatus skipstone_server_broadcast_except(SkipstoneServer server,
                                                  SkipstoneGroup group,
                                                  const SkipstonePeer *except,
                                                  uint32_t except_count,
                                                  uint16_t channel,
                                                  const uint8_t *data,
                                                  size_t length,
                                                  uint32_t *peers,
                                                  uint64_t *id);

// Adds a peer to a group.
SkipstoneStatus skipstone_server_join(SkipstoneServer server, SkipstonePeer peer, SkipstoneGroup group);

// Removes a peer from a group.
SkipstoneStatus skipstone_server_leave(SkipstoneServer server, SkipstonePeer peer, SkipstoneGroup group);

// The library's version as text, "0.1.0".
const char *skipstone_version(void);

// The interface version of the loaded library; SKIPSTONE_ABI_VERSION is that of the header.
uint32_t skipstone_abi_version(void);

// Whether the loaded library can serve a program that was built with this version of the header: it has the same major
// number, and no lower minor number. Call it first, with SKIPSTONE_ABI_VERSION.
SkipstoneStatus skipstone_check_abi(uint32_t header_version);

// The size in bytes of a structure in this library, by its SkipstoneStruct; 0 for an unknown one.
uint32_t skipstone_struct_size(uint32_t which);

// Writes the text of this thread's last error and a NUL, as much as fits into `capacity` bytes. Returns the length of
// the whole text without the NUL; 0 if there was no error yet. The text says what is wrong and what to do about it.
size_t skipstone_last_error(char *buffer, size_t capacity);

// The name of a status, "SKIPSTONE_STATUS_BAD_HANDLE".
const char *skipstone_status_name(int32_t status);

// Takes the oldest line of the library's log. The log reports what no call can return: renewed certificates, sockets
// with small buffers, internal errors. SKIPSTONE_STATUS_NOT_AVAILABLE if there is none. A line that does not fit stays
// in the queue.
//
// `level` gets a SkipstoneLogLevel, `length` the length without the NUL; both may be NULL. Up to 256 lines of all
// handles are queued; the library never calls back.
SkipstoneStatus skipstone_next_log_line(char *buffer, size_t capacity, size_t *length, uint32_t *level);

// Ends every server and client of this process at once, without notifying their peers. It is for a host that unloads
// the code which held their handles but keeps the library, such as a game engine's editor. No thread may read events
// afterwards.
SkipstoneStatus skipstone_release_all(void);

// The connected peers, up to `capacity` of them. `count` gets their total number. Since version 1.2.
SkipstoneStatus skipstone_server_peers(SkipstoneServer server,
                                       SkipstonePeer *peers,
                                       uint32_t capacity,
                                       uint32_t *count);

// The address of a client, "192.0.2.1:50000", from SKIPSTONE_EVENT_KIND_REQUESTED until SKIPSTONE_EVENT_KIND_CLOSED is
// polled; SKIPSTONE_STATUS_NOT_AVAILABLE if there is no such client. Since version 1.2.
SkipstoneStatus skipstone_server_peer_address(SkipstoneServer server,
                                              SkipstonePeer peer,
                                              char *buffer,
                                              size_t capacity,
                                              size_t *length);

// Denies these `count` addresses and networks ("192.0.2.7", "192.0.2.0/24", "2001:db8::/32") and no others: on every
// carrier the server ignores all datagrams and streams of new clients from them, keeps no state for them and does not
// answer. Connected players on UDP (native, DTLS, WebTransport) are ignored too and end by the idle timeout; those on
// streams and local clients stay: close them first. After an error the previous list still applies. Since version 1.2.
SkipstoneStatus skipstone_server_set_denied(SkipstoneServer server, const char *const *networks, uint32_t count);

// Begins a new connection after SKIPSTONE_EVENT_KIND_CLOSED, with the URL and configuration of the first, and with the
// latest token: the one of skipstone_client_set_token, or else the first. If the server closed with
// SKIPSTONE_CLOSE_CODE_RESTART and named another address (`at=HOST:PORT` in the reason), the connection goes there; if
// that server does not admit the client, the next one goes to the first URL again. Pause before the call, longer each
// time, with a random part where many clients lose a server at the same time. Its events have the same `peer` as those
// of the first.
//
// A client with `reconnects` needs it only after it has given up.
SkipstoneStatus skipstone_client_reconnect(SkipstoneClient client);

// The time until a client with `reconnects` connects again: call it while handling SKIPSTONE_EVENT_KIND_CLOSED, before
// the next poll, which may begin the next attempt. SKIPSTONE_STATUS_NOT_AVAILABLE if there is no next attempt, because
// the close was final or no attempt is left, or while the client is connected or connecting. The next connection is a
// new one, which begins with SKIPSTONE_EVENT_KIND_CONNECTED; queued messages are not transferred to it. An attempt
// that cannot begin, because the system refuses a socket, causes no event unless it is the last. Since version 1.3.
SkipstoneStatus skipstone_client_returns_in(SkipstoneClient client, uint64_t *pause_us);

// Sets the token of later connections: what the server gave the client for its session, in place of the first token.
// Up to 1,024 bytes; after an error the previous token stays. Since version 1.3.
SkipstoneStatus skipstone_client_set_token(SkipstoneClient client, const uint8_t *token, size_t token_length);

// Sets the defaults: a server that encrypts with a self-signed certificate, accepts every carrier and merges messages
// until skipstone_flush. `size` is sizeof(SkipstoneServerConfig).
SkipstoneStatus skipstone_server_config_init(struct SkipstoneServerConfig *config, uint32_t size);

// Sets the defaults of a SkipstoneDelivery for the channels from `first` to `last`. `size` is
// sizeof(SkipstoneChannel).
SkipstoneStatus skipstone_channel_init(struct SkipstoneChannel *channel,
                                       uint32_t size,
                                       uint16_t first,
                                       uint16_t last,
                                       uint32_t delivery);

// Sets a rule for the channels from `first` to `last` without any limit. `size` is sizeof(SkipstoneInboundRule).
SkipstoneStatus skipstone_inbound_rule_init(struct SkipstoneInboundRule *rule,
                                            uint32_t size,
                                            uint16_t first,
                                            uint16_t last);

// Opens the sockets and begins to serve. `server` gets the handle, which skipstone_server_stop or skipstone_release
// ends.
SkipstoneStatus skipstone_server_start(const struct SkipstoneServerConfig *config, SkipstoneServer *server);

// Closes every connection, stops the server and invalidates the handle. Queued reliable messages have `linger_us` to
// arrive; the call takes little longer. `reason` may be NULL.
SkipstoneStatus skipstone_server_stop(SkipstoneServer server, uint64_t code, const char *reason, uint64_t linger_us);

// Accepts a client that asked to connect. SKIPSTONE_EVENT_KIND_CONNECTED follows.
SkipstoneStatus skipstone_server_accept(SkipstoneServer server, SkipstonePeer peer);

// Refuses a client that asked to connect. It receives the code and up to 512 bytes of the reason, which may be NULL.
SkipstoneStatus skipstone_server_refuse(SkipstoneServer server, SkipstonePeer peer, uint64_t code, const char *reason);

// Closes a connection. Queued reliable messages have `linger_us` to arrive first; SKIPSTONE_EVENT_KIND_CLOSED follows.
// The peer receives the code (those below 1,000 are the application's own) and up to 512 bytes of the reason, which
// may be NULL.
SkipstoneStatus skipstone_server_close(SkipstoneServer server,
                                       SkipstonePeer peer,
                                       uint64_t code,
                                       const char *reason,
                                       uint64_t linger_us);

// Removes a peer at once: skipstone_server_close with SKIPSTONE_CLOSE_CODE_KICKED and without linger.
SkipstoneStatus skipstone_server_kick(SkipstoneServer server, SkipstonePeer peer, const char *reason);

// Sends a message of `length` bytes to one peer. The bytes are copied once; the payload of an event, passed on in the
// order of the events, is not even copied, so do not modify what an event points to. `id`, which may be NULL, gets the
// message's number in later events.
//
// An accepted message on a reliable channel is delivered, or ends in SKIPSTONE_EVENT_KIND_GIVEN_UP, or its connection
// ends. `age_us` is 0, or the age of the message that this one answers or passes on.
SkipstoneStatus skipstone_server_send(SkipstoneServer server,
                                      SkipstonePeer peer,
                                      uint16_t channel,
                                      const uint8_t *data,
                                      size_t length,
                                      uint64_t age_us,
                                      uint64_t *id);

// Sets when messages to one peer are sent: as `merging_us` in the configuration.
SkipstoneStatus skipstone_server_set_merging(SkipstoneServer server, SkipstonePeer peer, uint64_t merging_us);

// Sets the answer to queries of server browsers, which have no connection, up to 1,181 bytes; NULL for none.
SkipstoneStatus skipstone_server_set_query_answer(SkipstoneServer server, const uint8_t *answer, size_t length);

// The URL by which clients on this machine reach the server, with its fingerprint.
SkipstoneStatus skipstone_server_url(SkipstoneServer server, char *buffer, size_t capacity, size_t *length);

// The URL by which pages on this machine reach the server by WebTransport; SKIPSTONE_STATUS_NOT_AVAILABLE if it has
// none.
SkipstoneStatus skipstone_server_webtransport_url(SkipstoneServer server,
                                                  char *buffer,
                                                  size_t capacity,
                                                  size_t *length);

// The address on which the server listens, "0.0.0.0:7777".
SkipstoneStatus skipstone_server_address(SkipstoneServer server, char *buffer, size_t capacity, size_t *length);

// The port on which the server listens.
SkipstoneStatus skipstone_server_port(SkipstoneServer server, uint16_t *port);

// SHA-256 of the server's certificate, SKIPSTONE_FINGERPRINT_BYTES bytes; SKIPSTONE_STATUS_NOT_AVAILABLE if the server
// does not encrypt.
SkipstoneStatus skipstone_server_fingerprint(SkipstoneServer server, uint8_t *fingerprint);

// SHA-256 of the certificates that browsers accept by their hash (`serverCertificateHashes`): the current one and the
// next one. Writes up to `capacity` of them, SKIPSTONE_FINGERPRINT_BYTES bytes each; `count` gets their total number:
// 0 if the certificate is signed by an authority that browsers trust. Since version 1.1.
SkipstoneStatus skipstone_server_web_fingerprints(SkipstoneServer server,
                                                  uint8_t *fingerprints,
                                                  uint32_t capacity,
                                                  uint32_t *count);

// How long the server has been running.
SkipstoneStatus skipstone_server_time(SkipstoneServer server, uint64_t *time_us);

// Counters of all connections, past and present, up to 50 ms old. Set `stats->size` before the call.
SkipstoneStatus skipstone_server_stats(SkipstoneServer server, struct SkipstoneStats *stats);

// State and counters of every connection, up to `capacity` of them. `count` gets their total number. Set the `size` of
// each before the call. For display: the cost grows with the number of connections.
SkipstoneStatus skipstone_server_overviews(SkipstoneServer server,
                                           struct SkipstoneOverview *overviews,
                                           uint32_t capacity,
                                           uint32_t *count);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SKIPSTONE_H */
