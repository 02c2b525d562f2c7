using System;
using System.Collections.Generic;

namespace Skipstone
{
    /// <summary>Which thread runs the sockets and the protocol.</summary>
    public enum Threading : uint
    {
        /// <summary>A thread of the library.</summary>
        Background = 0,
        /// <summary>The application, by <c>Drive</c>.</summary>
        Stepped = 1,
    }

    /// <summary>The congestion controller.</summary>
    public enum Congestion : uint
    {
        /// <summary>Keeps queues short, and competes with TCP for its share.</summary>
        DelayAware = 0,
        /// <summary>The same, more aggressive: for an owner of the link.</summary>
        Aggressive = 1,
        /// <summary>None.</summary>
        Off = 2,
    }

    /// <summary>When queued messages are sent, and so which share a datagram.</summary>
    public readonly struct Merging
    {
        internal const ulong UntilFlushMicroseconds = ulong.MaxValue;
        internal const ulong AsServerMicroseconds = ulong.MaxValue - 1;

        internal readonly ulong Microseconds;

        private Merging(ulong microseconds) => Microseconds = microseconds;

        /// <summary>Each message is sent when it is queued.</summary>
        public static readonly Merging Not = new Merging(0);
        /// <summary>All that were queued, at each <c>Flush</c>.</summary>
        public static readonly Merging UntilFlush = new Merging(UntilFlushMicroseconds);
        /// <summary>For a client: as the server's settings say.</summary>
        public static readonly Merging AsServer = new Merging(AsServerMicroseconds);

        /// <summary>This time after the first queued message, up to 24 hours.</summary>
        public static Merging After(TimeSpan span) => new Merging(Native.Time.ToMicroseconds(span, nameof(span)));
    }

    /// <summary>How a server protects its clients.</summary>
    public sealed class Security
    {
        internal readonly uint Kind;
        internal readonly string Certificate;
        internal readonly string Key;

        private Security(uint kind, string certificate = null, string key = null)
        {
            Kind = kind;
            Certificate = certificate;
            Key = key;
        }

        /// <summary>Encrypted, with a certificate that is made at the start; <see cref="Server.Url"/> has its
        /// fingerprint.</summary>
        public static readonly Security SelfSigned = new Security(0);

        /// <summary>Unencrypted: for a trusted network, or for a tunnel that encrypts.</summary>
        public static readonly Security Plain = new Security(4);

        /// <summary>Encrypted, with a certificate that is made at the first start and kept in this file.</summary>
        public static Security SelfSignedKept(string file) => new Security(1, file);

        /// <summary>Encrypted, with PEM files, which are read again when they change; without <paramref name="key"/>
        /// both are in the first.</summary>
        public static Security Files(string certificate, string key = null) => new Security(2, certificate, key);

        /// <summary>Encrypted, with PEM texts.</summary>
        public static Security Pem(string certificate, string key) => new Security(3, certificate, key);
    }

    /// <summary>Configuration of a server. A <c>null</c> field means the library's default.</summary>
    public sealed class ServerConfig
    {
        /// <summary>The address of UDP and TCP: <c>0.0.0.0:7777</c>, or <c>[::]:7777</c>, which serves IPv4 too; port 0
        /// lets the system choose. <c>null</c> for a server without sockets, which only
        /// <see cref="Server.ConnectLocal"/> reaches.</summary>
        public string Listen { get; set; } = "[::]:7777";
        /// <summary>Which thread runs the sockets and the protocol.</summary>
        public Threading Threading { get; set; }
        /// <summary>How clients are protected.</summary>
        public Security Security { get; set; } = Security.SelfSigned;
        /// <summary>Whether clients that request no encryption are admitted too.</summary>
        public bool? AllowsPlain { get; set; }
        /// <summary>Whether WebSocket and <c>tcp://</c> clients are served on the TCP port of the same
        /// number.</summary>
        public bool? WebSocket { get; set; }
        /// <summary>Whether browsers are served by WebTransport, if the server encrypts.</summary>
        public bool? WebTransport { get; set; }
        /// <summary>The channel table; the first rule that holds a channel rules it. None: every channel reliable and ordered.</summary>
        public IReadOnlyList<ChannelRule> Channels { get; set; }
        /// <summary>Limits on what clients may send.</summary>
        public IReadOnlyList<InboundRule> Inbound { get; set; }
        // catalogue: settings
        /// <summary>Time without a packet after which the peer is gone: the idle timeout.</summary>
        public TimeSpan? IdleTimeout { get; set; }
        /// <summary>Time without a packet after which a client sends a PING, or 5/6 of the idle timeout if that is
        /// shorter; a server waits half as long again, or until half-way to the idle timeout if that is
        /// sooner.</summary>
        public TimeSpan? Keepalive { get; set; }
        /// <summary>Longest time for which an acknowledgement may be held back while losses are possible (WIRE.md
        /// section 4.1).</summary>
        public TimeSpan? AckDelay { get; set; }
        /// <summary>Longest time for which an acknowledgement may be held back at all, also where nothing was lost
        /// (WIRE.md section 4.1); `ack_delay` if that is longer. On a stream it is always 100 ms.</summary>
        public TimeSpan? AckDelayMax { get; set; }
        /// <summary>Maximum bytes of a message.</summary>
        public uint? MessageBytesMax { get; set; }
        /// <summary>Bytes of reliable messages that a receiver holds: the receive window, in which a message of
        /// `message_bytes_max` must fit.</summary>
        public uint? WindowBytes { get; set; }
        /// <summary>Maximum bytes of a datagram of UDP; streams have packets of their own size.</summary>
        public uint? DatagramBytesMax { get; set; }
        /// <summary>The channel by which the server moves its clients to other servers (WIRE.md section 8.2), which
        /// must be reliable and ordered, and which applications cannot use; 65,536 for none.</summary>
        public uint? MovesChannel { get; set; }
        // catalogue: end
        /// <summary>Protection against loss, for channels without their own.</summary>
        public Redundancy? Redundancy { get; set; }
        /// <summary>Maximum bytes of repairs and copies, in percent of the bytes that they protect.</summary>
        public ushort? RedundancyBudgetPercent { get; set; }
        /// <summary>When the server sends queued messages. Default <see cref="Merging.UntilFlush"/>.</summary>
        public Merging? Merging { get; set; }
        /// <summary>The same for its clients, unless they choose otherwise. Default
        /// <see cref="Merging.Not"/>.</summary>
        public Merging? ClientMerging { get; set; }
        /// <summary>The congestion controller.</summary>
        public Congestion? Congestion { get; set; }
        // catalogue: server settings
        /// <summary>Proxies, by address or network (`10.0.0.7`, `10.0.0.0/8`), that may name the client whose
        /// connection they forward: by the PROXY protocol (versions 1 and 2), or for WebSockets by `Forwarded` or
        /// `X-Forwarded-For`.</summary>
        public IReadOnlyList<string> TrustedProxies { get; set; }
        /// <summary>Addresses and networks that the server denies, on any carrier: their datagrams are dropped and
        /// their streams closed before any state is kept or any answer sent, and counted.</summary>
        public IReadOnlyList<string> Denied { get; set; }
        /// <summary>Time limit of a handshake, the application's decision included.</summary>
        public TimeSpan? HandshakeTimeout { get; set; }
        /// <summary>Maximum number of connected players; further clients are told that the server is full. Connections
        /// that are closing, were refused, or wait to be accepted do not count.</summary>
        public uint? ConnectionsMax { get; set; }
        /// <summary>Players of one network (IPv4 /24, IPv6 /56) at most; further clients of it are told that it has no
        /// more places. By default three times as many as there are free places, and 8 in any case, so that one network
        /// leaves a quarter of the places to others; then loopback and private addresses have no limit.</summary>
        public uint? PlayersOfNetworkMax { get; set; }
        /// <summary>Number of drivers, each with its own thread, sockets and share of the clients; at most one for each
        /// core is useful. 1 by default, or 2 to 256 on Linux with background threads.</summary>
        public uint? Shards { get; set; }
        /// <summary>Bytes of messages that may wait in each of the two queues between the application and a driver's
        /// thread: messages to send, and events that were not polled. At least 1 MiB.</summary>
        public ulong? QueueBytesMax { get; set; }
        /// <summary>Maximum rate at which the server sends to each client, in bytes per second, IP headers included; at
        /// least 1,000. Without a limit by default.</summary>
        public ulong? BandwidthMaxPerPeer { get; set; }
        /// <summary>Maximum rate at which the server sends to all clients together, in bytes per second, IP headers
        /// included. Without a limit by default.</summary>
        public ulong? BandwidthMax { get; set; }
        /// <summary>Answer to server browsers, which ask in clear and without a connection: up to 1,181 bytes in the
        /// application's own format. No answer by default.</summary>
        public byte[] QueryAnswer { get; set; }
        /// <summary>The progress of messages of at least this many bytes is published; by default of none, which costs
        /// nothing.</summary>
        public uint? TransferBytesMin { get; set; }
        /// <summary>Bytes of memory that one connection may use; never less than four receive windows.</summary>
        public ulong? MemoryPerConnection { get; set; }
        /// <summary>Bytes of memory that all connections of one network (IPv4 /24, IPv6 /56) may use.</summary>
        public ulong? MemoryPerNetwork { get; set; }
        /// <summary>Bytes of memory that all connections may use.</summary>
        public ulong? MemoryMax { get; set; }
        /// <summary>Origins of the pages from which browsers may connect, as browsers write them:
        /// `https://game.example`. Others get HTTP 403. An empty list allows all. Programs other than browsers send no
        /// origin and may connect: the list protects players from other sites' pages, not the server from unknown
        /// clients.</summary>
        public IReadOnlyList<string> Origins { get; set; }
        /// <summary>Names and addresses that a request may have as `Host`, without ports: `game.example`. Others get
        /// HTTP 421. An empty list allows all.</summary>
        public IReadOnlyList<string> Hosts { get; set; }
        /// <summary>Requires TLS: requests for pages are redirected to `https://`, unencrypted WebSockets and streams
        /// are refused. Streams from a trusted proxy are accepted, since TLS may end there. Needs a
        /// certificate.</summary>
        public bool? RequiresTls { get; set; }
        // catalogue: end
        /// <summary>A simulated network around the UDP socket; <see cref="WebSocket"/> must be off.</summary>
        public Impairment Impairment { get; set; }
        /// <summary>Maximum number of events of one <see cref="Server.Poll"/>; 1 to 65,536.</summary>
        public int EventsPerPoll { get; set; } = 256;

        /// <summary>A server without sockets, for a single player or a test: only <see cref="Server.ConnectLocal"/>
        /// reaches it.</summary>
        public static ServerConfig Offline() =>
            new ServerConfig { Listen = null, WebSocket = false, WebTransport = false, Security = Security.Plain };
    }
}
