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

        // catalogue: driver counters
        /// <summary>Rounds of the driver's loop.</summary>
        public ulong Rounds => native.Rounds;
        /// <summary>Rounds that ended with something left to read, because they had taken as long as a round
        /// may.</summary>
        public ulong RoundsCut => native.RoundsCut;
        /// <summary>System calls that sent datagrams.</summary>
        public ulong SendCalls => native.SendCalls;
        /// <summary>Datagrams that the system refused to send.</summary>
        public ulong SendErrors => native.SendErrors;
        /// <summary>Datagrams and streams from addresses that the server denies.</summary>
        public ulong Denied => native.Denied;
        /// <summary>The most work in one round's reading: its expected CPU time, estimated from the data that was
        /// read.</summary>
        public TimeSpan RoundCostMax => Time.FromMicroseconds(native.RoundCostMaxMicroseconds);
        /// <summary>The smallest receive buffer granted, in bytes.</summary>
        public ulong ReceiveBufferBytes => native.ReceiveBufferBytes;
        /// <summary>Whether the kernel granted smaller buffers than asked for.</summary>
        public bool AreBuffersShort => native.AreBuffersShort != 0;
        /// <summary>Datagrams that the kernel dropped because a receive buffer was full.</summary>
        public ulong ReceiveDrops => native.ReceiveDrops;
        /// <summary>WebSocket connections in clear, open now.</summary>
        public ulong WebSockets => native.WebSockets;
        /// <summary>WebSocket connections over TLS, open now.</summary>
        public ulong SecureWebSockets => native.SecureWebSockets;
        /// <summary>TCP connections without WebSocket, open now.</summary>
        public ulong RawStreams => native.RawStreams;
        /// <summary>Datagrams that the network simulated around a server dropped for lack of memory.</summary>
        public ulong ImpairmentDrops => native.ImpairmentDrops;
        /// <summary>Streams in memory to clients of this process, or to their server.</summary>
        public ulong Locals => native.Locals;
        // catalogue: end
        /// <summary>DTLS sessions, open now.</summary>
        public ulong DtlsSessions => native.DtlsSessions;
        /// <summary>QUIC connections of WebTransport open now.</summary>
        public ulong WebTransportSessions => native.WebTransportSessions;
        /// <summary>Datagrams that came to the wrong shard.</summary>
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

        // catalogue: misrouted counters
        /// <summary>Datagrams handed to the shard that their connection id names.</summary>
        public ulong HandedOn => native.MisroutedHandedOn;
        /// <summary>Misrouted datagrams dropped, because too many already waited for their shard.</summary>
        public ulong Dropped => native.MisroutedDropped;
        // catalogue: end
    }

    /// <summary>DTLS sessions of a server.</summary>
    public readonly struct DtlsStats
    {
        private readonly NativeDriverStats native;

        internal DtlsStats(in NativeDriverStats native) => this.native = native;

        // catalogue: dtls counters
        /// <summary>DTLS sessions that there are now, handshakes included.</summary>
        public ulong Open => native.DtlsSessions;
        /// <summary>DTLS sessions that began with a ClientHello.</summary>
        public ulong Begun => native.DtlsBegun;
        /// <summary>DTLS handshakes that were completed.</summary>
        public ulong Established => native.DtlsEstablished;
        /// <summary>DTLS sessions that were removed before their time limit, because another session needed the
        /// place.</summary>
        public ulong Displaced => native.DtlsDisplaced;
        /// <summary>Datagrams that belonged to no DTLS session and began none, or were invalid in their session, and
        /// answers that would have been too long.</summary>
        public ulong Dropped => native.DtlsDropped;
        // catalogue: end
    }

    /// <summary>WebTransport sessions of a server, and the underlying QUIC connections.</summary>
    public readonly struct WebTransportStats
    {
        private readonly NativeDriverStats native;

        internal WebTransportStats(in NativeDriverStats native) => this.native = native;

        // catalogue: webtransport counters
        /// <summary>QUIC connections that there are now, handshakes included.</summary>
        public ulong Open => native.WebTransportSessions;
        /// <summary>QUIC handshakes that began.</summary>
        public ulong Begun => native.WebTransportBegun;
        /// <summary>QUIC handshakes that were completed.</summary>
        public ulong Established => native.WebTransportEstablished;
        /// <summary>WebTransport sessions that were granted.</summary>
        public ulong Sessions => native.WebTransportGranted;
        /// <summary>Unproven clients that were asked for a proof of their address first (RFC 9000, section
        /// 8.1.2).</summary>
        public ulong Retries => native.WebTransportRetries;
        /// <summary>QUIC connections that were removed before their time limit, because another one needed the
        /// place.</summary>
        public ulong Displaced => native.WebTransportDisplaced;
        /// <summary>Requests and streams that were refused, for their origin or because nothing here needs
        /// them.</summary>
        public ulong Refused => native.WebTransportRefused;
        /// <summary>Connections that ended because the client broke a rule of QUIC, TLS or HTTP/3.</summary>
        public ulong Breaches => native.WebTransportBreaches;
        /// <summary>Datagrams that belonged to no QUIC connection and began none, or to no session; and datagrams of
        /// the protocol that a session did not accept.</summary>
        public ulong Dropped => native.WebTransportDropped;
        // catalogue: end
    }

    /// <summary>Streams of a server's TCP port, and why they ended.</summary>
    public readonly struct StreamStats
    {
        private readonly NativeDriverStats native;

        internal StreamStats(in NativeDriverStats native) => this.native = native;

        // catalogue: stream counters
        /// <summary>Streams accepted.</summary>
        public ulong Accepted => native.StreamsAccepted;
        /// <summary>Streams whose handshake or close timed out.</summary>
        public ulong TimedOut => native.StreamsTimedOut;
        /// <summary>Streams that were closed because they cost too much before they carried a connection.</summary>
        public ulong TooDear => native.StreamsTooDear;
        /// <summary>Streams that were closed for newer ones, because their network had too many without a
        /// connection.</summary>
        public ulong Displaced => native.StreamsDisplaced;
        /// <summary>Plain HTTP requests that were answered.</summary>
        public ulong Answered => native.StreamsAnswered;
        /// <summary>HTTP requests that were refused: with 426 without a WebSocket upgrade, with 404 for an unknown
        /// path.</summary>
        public ulong NotUpgraded => native.StreamsNotUpgraded;
        /// <summary>Streams that ended without a close: the peer is gone, or left without closing.</summary>
        public ulong Lost => native.StreamsLost;
        /// <summary>Streams that were closed in an orderly way, by either side.</summary>
        public ulong Closed => native.StreamsClosed;
        /// <summary>First bytes of no protocol that the port accepts, and malformed requests.</summary>
        public ulong MalformedRequests => native.StreamsMalformedRequests;
        /// <summary>Heads of requests beyond 8 KiB, or with too many lines.</summary>
        public ulong OversizedRequests => native.StreamsOversizedRequests;
        /// <summary>Invalid WebSocket frames, and invalid message lengths.</summary>
        public ulong BrokenFrames => native.StreamsBrokenFrames;
        /// <summary>Messages beyond the limit.</summary>
        public ulong OversizedMessages => native.StreamsOversizedMessages;
        /// <summary>TLS that failed: no certificate fits the name, the client does not trust it, or the bytes are not
        /// TLS.</summary>
        public ulong TlsFailures => native.StreamsTlsFailures;
        /// <summary>Clients that asked for TLS while they, their network or all had begun too many
        /// handshakes.</summary>
        public ulong OverBudget => native.StreamsOverBudget;
        /// <summary>PROXY headers that cannot be read, or come from a host that is not a trusted proxy.</summary>
        public ulong BadProxyHeaders => native.StreamsBadProxyHeaders;
        /// <summary>Requests in clear where TLS is required, and streams of a kind that is not taken.</summary>
        public ulong NotTaken => native.StreamsNotTaken;
        /// <summary>Pages of other origins, and requests for other hosts.</summary>
        public ulong Foreign => native.StreamsForeign;
        // catalogue: end
    }
}
