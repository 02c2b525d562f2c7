//! Named numbers. C passes them as plain integers, so an unknown one is an error and never a value of these types.

/// The result of a call. Every call that can fail returns one; skipstone_last_error has the text.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipstoneStatus {
    /// Done.
    Ok = 0,
    /// A required pointer is NULL, or a pointer is not aligned for its type.
    BadPointer = -1,
    /// A text is not UTF-8.
    NotUtf8 = -2,
    /// The leading `size` of a structure is unknown to this library: the header has another version, or the structure
    /// was not initialised.
    BadSize = -3,
    /// A number or a text is out of its range; the text names it.
    BadValue = -4,
    /// No server or client has this handle: it is 0, invalid, or has ended.
    BadHandle = -5,
    /// The handle is a client's where a server's is required, or the reverse.
    WrongKind = -6,
    /// Another thread has polled events of this handle and may still read them.
    WrongThread = -7,
    /// The caller's buffer is too small; the required length is returned.
    BufferTooSmall = -8,
    /// There is not enough memory.
    OutOfMemory = -9,
    /// The library is older than the header, or has another major version.
    WrongAbi = -10,
    /// The library was built without a required feature; the text names it.
    NotBuilt = -11,
    /// The system refused a resource: a socket, a thread, a file.
    System = -12,
    /// The URL is invalid.
    BadUrl = -13,
    /// The certificate or its key cannot be used.
    BadIdentity = -14,
    /// The requested trust is not available.
    BadTrust = -15,
    /// The handle has no peer with this number.
    UnknownPeer = -16,
    /// The connection is not established, is closing, or has ended.
    NotConnected = -17,
    /// No rule of the server's channel table contains this channel.
    NoSuchChannel = -18,
    /// An inbound rule reserves this channel for the clients.
    WrongDirection = -19,
    /// The message, or the token, exceeds its maximum length.
    TooLong = -20,
    /// The channel's queue to this peer is full.
    QueueFull = -21,
    /// The queue to the driver's thread is full: try again at the next tick.
    DriverBusy = -22,
    /// The driver's thread has ended; skipstone_failure says why.
    DriverGone = -23,
    /// The client does not wait for a decision: it was already accepted or refused.
    NotWaiting = -24,
    /// There is no such figure, or not yet.
    NotAvailable = -25,
    /// The connection has not ended: close it first, or wait for its SKIPSTONE_EVENT_KIND_CLOSED.
    StillOpen = -26,
    /// An internal error of the library. The handle cannot be used any more; release it.
    Internal = -99,
}

/// What happened.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipstoneEventKind {
    /// A client requests a connection. `data` is its token, `address` its address. Answer with skipstone_server_accept
    /// or skipstone_server_refuse.
    Requested = 1,
    /// The connection is established: messages can be sent.
    Connected = 2,
    /// A message arrived. `data` is the message, `channel` its channel, `age_us` how late it is.
    Message = 3,
    /// The peer has received the message `id`. Only on channels with receipts.
    Acknowledged = 4,
    /// The message `id` will not be sent (or not again); `detail` is a SkipstoneGivenUp.
    GivenUp = 5,
    /// A client's address changed to `address`. The connection continues.
    PathChanged = 6,
    /// The connection ended: its last event. `code` is a SkipstoneCloseCode or the application's own, `data` the reason
    /// as text (usually UTF-8, without a NUL), `detail` a SkipstoneClosedBy.
    Closed = 7,
}

/// Why a message will not be sent (or not again).
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipstoneGivenUp {
    /// A reason without a number in this version.
    Other = 0,
    /// The queue was full, and the channel refuses new messages then.
    QueueFull = 1,
    /// The queue was full, and the channel drops its oldest message then.
    Dropped = 2,
    /// A newer message of a sequenced channel replaced it.
    Superseded = 3,
    /// The packet that contained it was lost, and the channel does not retransmit.
    Lost = 4,
    /// The client does not accept messages of this length.
    TooLong = 5,
    /// The connection ended first.
    Closed = 6,
}

/// Which side ended a connection.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipstoneClosedBy {
    /// This side's application, or a rule of this side.
    Local = 1,
    /// The peer.
    Peer = 2,
    /// Neither: the peer stopped answering, or the carrier failed.
    Nobody = 3,
}

/// Close codes of the protocol. Codes below 1,000 are the application's own.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipstoneCloseCode {
    // catalogue: close codes
    /// Closed by the application without a code of its own.
    None = 0,
    /// The server shuts down.
    Shutdown = 1_000,
    /// The application refused the client.
    Refused = 1_001,
    /// The application removed the peer.
    Kicked = 1_002,
    /// A channel's queue was full, and its rule is to disconnect.
    QueueOverflow = 1_003,
    /// The peer violated the protocol.
    Protocol = 1_004,
    /// The server is full, or the client's network has its maximum number of players.
    Full = 1_005,
    /// The handshake timed out (local: never sent).
    HandshakeTimeout = 1_006,
    /// Nothing arrived for the idle timeout (local).
    IdleTimeout = 1_007,
    /// The carrier was lost: the stream that carried the connection broke (local).
    CarrierLost = 1_008,
    /// Client and server have no protocol version in common (local).
    NoCommonVersion = 1_009,
    /// The encrypted handshake failed, for example because of an untrusted certificate (local, or in REFUSE).
    Security = 1_010,
    /// No common suite: one side requires encryption and the other has none (in REFUSE).
    NoCommonSuite = 1_011,
    /// The server's name has no address, or none of its addresses can be reached (local).
    Unreachable = 1_012,
    /// The server restarts; the reason says when and where to connect again (WIRE.md section 8.1).
    Restart = 1_013,
    /// The peer made this side hold more memory than allowed, or the most of all peers when memory was short.
    Memory = 1_016,
    // catalogue: end
}

/// How the messages of a channel are delivered.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipstoneDelivery {
    /// Sent once, delivered on arrival.
    Unreliable = 0,
    /// Sent once, delivered only if newer than the newest delivered message.
    UnreliableSequenced = 1,
    /// Each message once, in order.
    ReliableOrdered = 2,
    /// Each message once, on arrival.
    ReliableUnordered = 3,
    /// The newest message is retransmitted until it arrives; older ones are given up.
    ReliableSequenced = 4,
}

/// The reaction if a channel's queue has no room for a message.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipstoneOverflow {
    /// The message is refused.
    Refuse = 0,
    /// The oldest queued message is dropped.
    DropOldest = 1,
    /// The connection is closed.
    Disconnect = 2,
}

/// Protection against loss in addition to retransmission.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipstoneRedundancy {
    /// Lost content is retransmitted once, and nothing else.
    Off = 0,
    /// Lost content is retransmitted in several copies.
    Lean = 1,
    /// Repair packets according to the measured loss, and copies.
    Adaptive = 2,
    /// A block code: after `redundancy_first` packets, `redundancy_second` repair packets.
    Fixed = 3,
    /// Each packet repeats the messages of the last `redundancy_first` packets, 1 to 8.
    Repeat = 4,
    /// For a channel: the server's default for all channels.
    AsSettings = 255,
}

/// The sides that may send on a channel.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipstoneDirection {
    /// The server and its clients.
    Both = 0,
    /// The server only.
    ServerToClient = 1,
    /// Clients only.
    ClientToServer = 2,
}

/// The reaction when a client breaks an inbound rule.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipstoneViolation {
    /// The connection is closed.
    Close = 0,
    /// The message is dropped; only on unreliable channels.
    Drop = 1,
}

/// Who runs the driver.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipstoneThreading {
    /// A thread of the library.
    Background = 0,
    /// The application, by calling skipstone_drive.
    Stepped = 1,
}

/// How a server protects its clients.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipstoneSecurity {
    /// Encrypted, with a certificate that is generated at the start; skipstone_server_url contains its fingerprint.
    SelfSigned = 0,
    /// Encrypted, with a certificate that is generated at the first start and stored in the file `certificate`.
    SelfSignedKept = 1,
    /// Encrypted, with PEM files whose names are `certificate` and `key`; they are read again when they change. Without
    /// `key` both are in the file `certificate`.
    Files = 2,
    /// Encrypted, with PEM texts in `certificate` and `key`, which may be equal.
    Pem = 3,
    /// Unencrypted: for a trusted network, or for a tunnel that encrypts.
    Plain = 4,
}

/// Which servers a client trusts.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipstoneTrust {
    /// Those with a certificate that is signed by an authority of the system. A fingerprint in the URL takes
    /// precedence.
    System = 0,
    /// Those with a certificate that is signed by one of the authorities in the PEM text `authorities`.
    Authorities = 1,
    /// The one with a certificate that has the fingerprint `fingerprint`.
    Pinned = 2,
    /// Any server, including any attacker between: for tests on one's own machine.
    DangerouslyAnything = 3,
}

/// The congestion controller.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipstoneCongestion {
    /// Keeps queues short, and competes with TCP for its share.
    DelayAware = 0,
    /// The same, more aggressive: for an owner of the link.
    Aggressive = 1,
    /// None.
    Off = 2,
}

/// The severity of a log line.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipstoneLogLevel {
    /// Information.
    Info = 1,
    /// A problem that needs attention.
    Warning = 2,
    /// Something failed.
    Error = 3,
}

/// The structures whose size skipstone_struct_size returns.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipstoneStruct {
    /// SkipstoneEvent.
    Event = 1,
    /// SkipstoneChannel.
    Channel = 2,
    /// SkipstoneInboundRule.
    InboundRule = 3,
    /// SkipstoneLink.
    Link = 4,
    /// SkipstoneServerConfig.
    ServerConfig = 5,
    /// SkipstoneClientConfig.
    ClientConfig = 6,
    /// SkipstoneStats.
    Stats = 7,
    /// SkipstoneOverview.
    Overview = 8,
    /// SkipstoneDriverStats.
    DriverStats = 9,
    /// SkipstoneServerTime.
    ServerTime = 10,
    /// SkipstoneFlow.
    Flow = 11,
}
