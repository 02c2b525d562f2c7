using System;

namespace Skipstone
{
    /// <summary>Which servers a client trusts, unless the URL has a fingerprint.</summary>
    public sealed class Trust
    {
        internal readonly uint Kind;
        internal readonly string Pem;
        internal readonly byte[] Fingerprint;

        private Trust(uint kind, string pem = null, byte[] fingerprint = null)
        {
            Kind = kind;
            Pem = pem;
            Fingerprint = fingerprint;
        }

        /// <summary>Those with a certificate that is signed by an authority of the system.</summary>
        public static readonly Trust System = new Trust(0);

        /// <summary>Any server, including any attacker between: for tests on one's own machine.</summary>
        public static readonly Trust DangerouslyAnything = new Trust(3);

        /// <summary>Those with a certificate that is signed by one of these authorities.</summary>
        public static Trust Authorities(string pem) => new Trust(1, pem ?? throw new ArgumentNullException(nameof(pem)));

        /// <summary>The one whose certificate has this SHA-256.</summary>
        public static Trust Pinned(byte[] fingerprint)
        {
            if (fingerprint == null) throw new ArgumentNullException(nameof(fingerprint));
            if (fingerprint.Length != 32)
                throw new ArgumentException("a fingerprint has 32 bytes (SHA-256), this one " + fingerprint.Length, nameof(fingerprint));
            return new Trust(2, null, (byte[])fingerprint.Clone());
        }
    }

    /// <summary>Configuration of a client. A <c>null</c> field means the library's default; timeouts, limits and
    /// channels are the server's.</summary>
    public sealed class ClientConfig
    {
        /// <summary>The threading mode: which thread runs the socket and the protocol.</summary>
        public Threading Threading { get; set; }
        /// <summary>Which servers to trust, if the URL has no fingerprint.</summary>
        public Trust Trust { get; set; } = Trust.System;
        /// <summary>The congestion controller.</summary>
        public Congestion? Congestion { get; set; }
        /// <summary>The version of DTLS that <c>skip+dtls://</c> means: 12 or 13.</summary>
        public uint? DtlsVersion { get; set; }
        /// <summary>Whether to request the server's time regularly, for
        /// <see cref="Client.TryReadServerTime"/>.</summary>
        public bool? FollowsServerTime { get; set; }
        /// <summary>When queued messages are sent. Default <see cref="Merging.AsServer"/>.</summary>
        public Merging? Merging { get; set; }
        /// <summary>Time limit of the handshake.</summary>
        public TimeSpan? HandshakeTimeout { get; set; }
        /// <summary>Maximum bytes in each of the two queues between the application and the driver.</summary>
        public ulong? QueueBytesMax { get; set; }
        /// <summary>Maximum bytes per second that this client sends.</summary>
        public ulong? BandwidthMax { get; set; }
        /// <summary>Maximum bytes of a message that this client accepts.</summary>
        public uint? MessageBytesMax { get; set; }
        /// <summary>Maximum maximum bytes of reliable messages that this client holds.</summary>
        public uint? WindowBytes { get; set; }
        /// <summary>Maximum bytes of a datagram that this client accepts.</summary>
        public uint? DatagramBytesMax { get; set; }
        /// <summary>How the client connects again by itself; <c>null</c>, the default, if it does not.</summary>
        public Reconnect Reconnect { get; set; }
        /// <summary>A simulated network around the UDP socket.</summary>
        public Impairment Impairment { get; set; }
        /// <summary>Maximum number of events of one <see cref="Client.Poll"/>; 1 to 65,536.</summary>
        public int EventsPerPoll { get; set; } = 256;
    }
}
