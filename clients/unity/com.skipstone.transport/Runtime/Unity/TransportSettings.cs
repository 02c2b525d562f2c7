using System;
using UnityEngine;

namespace Skipstone.Unity
{
    /// <summary>Where a server listens and where its clients connect, as the inspector shows it.</summary>
    [Serializable]
    public sealed class TransportSettings
    {
        /// <summary>Where clients connect: a host name, an address, or a whole URL
        /// (<c>skip://game.example:7777#sha256=...</c>).</summary>
        [Tooltip("Where clients connect: a host name, an address, or a whole URL")]
        public string Address = "127.0.0.1";
        /// <summary>The port of UDP and TCP.</summary>
        [Tooltip("The port of UDP and TCP")]
        public ushort Port = 7777;
        /// <summary>The address on which the server listens; <c>[::]</c> serves IPv4 too.</summary>
        [Tooltip("The address on which the server listens; [::] serves IPv4 too")]
        public string ListenAddress = "[::]";
        /// <summary>Whether the connection is encrypted.</summary>
        [Tooltip("Whether the connection is encrypted")]
        public bool Encrypt = true;
        /// <summary>For a server: a PEM file with the certificate; empty for one that is generated at each
        /// start.</summary>
        [Tooltip("Of a server: a PEM file with the certificate; empty for one that is made at each start")]
        public string CertificateFile = "";
        /// <summary>For a server: a PEM file with the certificate's key; empty if it is in the same file.</summary>
        [Tooltip("Of a server: a PEM file with the certificate's key; empty if it is in the same file")]
        public string KeyFile = "";
        /// <summary>For a client: SHA-256 of the server's certificate, in hexadecimal; empty to trust the authorities
        /// of the system.</summary>
        [Tooltip("Of a client: SHA-256 of the server's certificate, in hexadecimal; empty to trust the system's authorities")]
        public string Fingerprint = "";
        /// <summary>Maximum number of players.</summary>
        [Tooltip("Players at once")]
        public int ConnectionsMax = 1000;

        /// <summary>The URL that these settings mean for a client.</summary>
        /// <param name="isBrowser">Whether the client is a page, which connects by WebTransport and WebSocket.</param>
        public string Url(bool isBrowser)
        {
            if (Address.IndexOf("://", StringComparison.Ordinal) >= 0) return Address;
            bool isBareIpv6 = Address.IndexOf(':') >= 0 && Address[0] != '[';
            string host = isBareIpv6 ? "[" + Address + "]" : Address;
            string scheme = isBrowser ? (Encrypt ? "https" : "ws") : (Encrypt ? "skip" : "skip+plain");
            string pin = Encrypt && !string.IsNullOrEmpty(Fingerprint) ? "#sha256=" + Fingerprint : "";
            return scheme + "://" + host + ":" + Port + pin;
        }

        /// <summary>The configuration that these settings mean for a server.</summary>
        public ServerConfig ServerConfig() => new ServerConfig
        {
            Listen = ListenAddress + ":" + Port,
            Security = !Encrypt ? Security.Plain
                : string.IsNullOrEmpty(CertificateFile) ? Security.SelfSigned
                : Security.Files(CertificateFile, string.IsNullOrEmpty(KeyFile) ? null : KeyFile),
            Channels = TransportChannels.Table,
            ConnectionsMax = (uint)Math.Max(1, ConnectionsMax),
        };
    }

    /// <summary>The channels of all transports of this package.</summary>
    public static class TransportChannels
    {
        /// <summary>Each message once, in order.</summary>
        public const ushort ReliableOrdered = 0;
        /// <summary>Sent once, delivered on arrival.</summary>
        public const ushort Unreliable = 1;
        /// <summary>Sent once, delivered only if newer than the newest delivered message.</summary>
        public const ushort UnreliableSequenced = 2;
        /// <summary>Each message once, on arrival.</summary>
        public const ushort ReliableUnordered = 3;

        /// <summary>Their rules.</summary>
        public static readonly ChannelRule[] Table =
        {
            new ChannelRule(ReliableOrdered, DeliveryMode.ReliableOrdered),
            new ChannelRule(Unreliable, DeliveryMode.Unreliable),
            new ChannelRule(UnreliableSequenced, DeliveryMode.UnreliableSequenced),
            new ChannelRule(ReliableUnordered, DeliveryMode.ReliableUnordered),
        };

        // Whether a connection must end after a send with this outcome: the channel promises every message, and this
        // one is missing.
        internal static bool IsBroken(ushort channel, Status status) =>
            (channel == ReliableOrdered || channel == ReliableUnordered)
            // The events report a peer that has left, and the code that ended the handle knows about it.
            && status != Status.Ok && status != Status.BadHandle && status != Status.NotConnected && status != Status.UnknownPeer && status != Status.DriverGone;
    }
}
