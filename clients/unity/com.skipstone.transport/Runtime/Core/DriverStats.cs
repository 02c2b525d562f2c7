// Counters that the drivers publish, up to 50 ms old. Reading them waits for nothing.
using System;
using Skipstone.Native;

namespace Skipstone
{
    /// <summary>Counters of the drivers and their sockets.</summary>
    public readonly struct DriverStats
    {
        private readonly NativeDriverStats native;

        internal DriverStats(in NativeDriverStats native) => this.native = native;

        /// <summary>Whether the system granted smaller socket buffers than requested.</summary>
        public bool AreBuffersShort => native.AreBuffersShort != 0;
        /// <summary>Rounds of the drivers' loops.</summary>
        public ulong Rounds => native.Rounds;
        /// <summary>Rounds that ended with datagrams left to read, because their time limit was reached.</summary>
        public ulong RoundsCut => native.RoundsCut;
        /// <summary>The maximum work of one round's reading, estimated from what was read.</summary>
        public TimeSpan RoundCostMax => Time.FromMicroseconds(native.RoundCostMaxMicroseconds);
        /// <summary>System calls that sent datagrams.</summary>
        public ulong SendCalls => native.SendCalls;
        /// <summary>Datagrams that the system refused to send.</summary>
        public ulong SendErrors => native.SendErrors;
        /// <summary>Datagrams that the system dropped because a receive buffer was full.</summary>
        public ulong ReceiveDrops => native.ReceiveDrops;
        /// <summary>Unencrypted WebSocket connections open now.</summary>
        public ulong WebSockets => native.WebSockets;
        /// <summary>WebSocket connections over TLS open now.</summary>
        public ulong SecureWebSockets => native.SecureWebSockets;
        /// <summary>TCP connections without WebSocket open now.</summary>
        public ulong RawStreams => native.RawStreams;
        /// <summary>Clients of this process connected now.</summary>
        public ulong Locals => native.Locals;
        /// <summary>DTLS sessions open now.</summary>
        public ulong DtlsSessions => native.DtlsSessions;
        /// <summary>QUIC connections of WebTransport open now.</summary>
        public ulong WebTransportSessions => native.WebTransportSessions;
        /// <summary>Datagrams and streams from denied addresses.</summary>
        public ulong Denied => native.Denied;
        /// <summary>The smallest receive buffer that the system granted, in bytes.</summary>
        public ulong ReceiveBufferBytes => native.ReceiveBufferBytes;
        /// <summary>Datagrams that the simulated network dropped because its memory limit was reached.</summary>
        public ulong ImpairmentDrops => native.ImpairmentDrops;
        /// <summary>Datagrams that arrived at the wrong shard.</summary>
        public MisroutedStats Misrouted => new MisroutedStats(native);
        /// <summary>DTLS sessions of a server.</summary>
        public DtlsStats Dtls => new DtlsStats(native);
        /// <summary>WebTransport sessions of a server, and the underlying QUIC connections.</summary>
        public WebTransportStats WebTransport => new WebTransportStats(native);
        /// <summary>Streams of a server's TCP port, and why they ended.</summary>
        public StreamStats Streams => new StreamStats(native);
    }

    /// <summary>Datagrams that arrived at the wrong shard.</summary>
    public readonly struct MisroutedStats
    {
        private readonly NativeDriverStats native;

        internal MisroutedStats(in NativeDriverStats native) => this.native = native;

        /// <summary>Datagrams that arrived at the wrong shard and were forwarded to the shard of their
        /// connection.</summary>
        public ulong HandedOn => native.MisroutedHandedOn;
        /// <summary>Datagrams that arrived at the wrong shard and were dropped, because too many were queued for the
        /// right one.</summary>
        public ulong Dropped => native.MisroutedDropped;
    }

    /// <summary>DTLS sessions of a server.</summary>
    public readonly struct DtlsStats
    {
        private readonly NativeDriverStats native;

        internal DtlsStats(in NativeDriverStats native) => this.native = native;

        /// <summary>Current sessions, including handshakes.</summary>
        public ulong Open => native.DtlsSessions;
        /// <summary>DTLS sessions that began with a ClientHello.</summary>
        public ulong Begun => native.DtlsBegun;
        /// <summary>DTLS handshakes that were completed.</summary>
        public ulong Established => native.DtlsEstablished;
        /// <summary>DTLS sessions that were removed before their time limit to make room for another one.</summary>
        public ulong Displaced => native.DtlsDisplaced;
        /// <summary>Datagrams of DTLS that belonged to no session and began none, or were ignored by their
        /// session.</summary>
        public ulong Dropped => native.DtlsDropped;
    }

    /// <summary>WebTransport sessions of a server, and the underlying QUIC connections.</summary>
    public readonly struct WebTransportStats
    {
        private readonly NativeDriverStats native;

        internal WebTransportStats(in NativeDriverStats native) => this.native = native;

        /// <summary>Current QUIC connections, including handshakes.</summary>
        public ulong Open => native.WebTransportSessions;
        /// <summary>QUIC handshakes that began.</summary>
        public ulong Begun => native.WebTransportBegun;
        /// <summary>QUIC handshakes that were completed.</summary>
        public ulong Established => native.WebTransportEstablished;
        /// <summary>Sessions of WebTransport that were granted.</summary>
        public ulong Granted => native.WebTransportGranted;
        /// <summary>Unproven clients that were asked to prove their address first (RFC 9000, section 8.1.2).</summary>
        public ulong Retries => native.WebTransportRetries;
        /// <summary>QUIC connections that were removed before their time limit to make room for another one.</summary>
        public ulong Displaced => native.WebTransportDisplaced;
        /// <summary>Requests and streams that were refused because of their origin, or because the server does not use
        /// them.</summary>
        public ulong Refused => native.WebTransportRefused;
        /// <summary>Connections that ended because the client violated QUIC, TLS or HTTP/3.</summary>
        public ulong Breaches => native.WebTransportBreaches;
        /// <summary>Datagrams of QUIC that belonged to no connection and began none, or to no session.</summary>
        public ulong Dropped => native.WebTransportDropped;
    }

    /// <summary>Streams of a server's TCP port, and why they ended.</summary>
    public readonly struct StreamStats
    {
        private readonly NativeDriverStats native;

        internal StreamStats(in NativeDriverStats native) => this.native = native;

        /// <summary>Streams accepted on the TCP port.</summary>
        public ulong Accepted => native.StreamsAccepted;
        /// <summary>Streams whose handshake or close timed out.</summary>
        public ulong TimedOut => native.StreamsTimedOut;
        /// <summary>Streams that were closed because they cost too much before they carried a connection.</summary>
        public ulong TooDear => native.StreamsTooDear;
        /// <summary>Streams that were closed in favour of newer ones, because their network had too many without a
        /// connection.</summary>
        public ulong Displaced => native.StreamsDisplaced;
        /// <summary>Plain HTTP requests that were answered.</summary>
        public ulong Answered => native.StreamsAnswered;
        /// <summary>Plain HTTP requests for an unknown path.</summary>
        public ulong NotUpgraded => native.StreamsNotUpgraded;
        /// <summary>Streams that ended without a close.</summary>
        public ulong Lost => native.StreamsLost;
        /// <summary>Streams that were closed in an orderly way, by either side.</summary>
        public ulong Closed => native.StreamsClosed;
        /// <summary>First bytes of an unknown protocol, and malformed requests.</summary>
        public ulong MalformedRequests => native.StreamsMalformedRequests;
        /// <summary>Request heads above 8 KiB, or with too many lines.</summary>
        public ulong OversizedRequests => native.StreamsOversizedRequests;
        /// <summary>Broken WebSocket frames, and impossible message lengths.</summary>
        public ulong BrokenFrames => native.StreamsBrokenFrames;
        /// <summary>Messages above the maximum length.</summary>
        public ulong OversizedMessages => native.StreamsOversizedMessages;
        /// <summary>Failed TLS handshakes: no certificate fits, the client does not trust it, or the bytes are not
        /// TLS.</summary>
        public ulong TlsFailures => native.StreamsTlsFailures;
        /// <summary>Clients that began TLS while too many handshakes were pending.</summary>
        public ulong OverBudget => native.StreamsOverBudget;
        /// <summary>PROXY headers that are malformed, or from a client that is not a trusted proxy.</summary>
        public ulong BadProxyHeaders => native.StreamsBadProxyHeaders;
        /// <summary>Unencrypted requests where TLS is required, and streams of a kind that is not accepted.</summary>
        public ulong NotTaken => native.StreamsNotTaken;
        /// <summary>Pages of other origins, and requests for other hosts.</summary>
        public ulong Foreign => native.StreamsForeign;
    }
}
