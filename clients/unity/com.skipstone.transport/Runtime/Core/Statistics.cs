// Snapshots that the drivers publish, up to 50 ms old. Reading one waits for nothing.
using System;
using Skipstone.Native;

namespace Skipstone
{
    /// <summary>Counters of one direction.</summary>
    public readonly struct Flow
    {
        private readonly NativeFlow native;

        internal Flow(NativeFlow native) => this.native = native;

        // catalogue: flow
        /// <summary>Datagrams of any size.</summary>
        public ulong Datagrams => native.Datagrams;
        /// <summary>Messages of the application.</summary>
        public ulong Messages => native.Messages;
        /// <summary>Bytes of those messages, each counted once.</summary>
        public ulong PayloadBytes => native.PayloadBytes;
        /// <summary>Bytes of the datagrams: payload, and the overhead of the protocol.</summary>
        public ulong DatagramBytes => native.DatagramBytes;
        /// <summary>Bytes of the datagrams with IP and carrier headers.</summary>
        public ulong IpBytes => native.IpBytes;
        // catalogue: end
    }

    /// <summary>Counters of a connection, or of all. They only grow.</summary>
    public readonly struct Stats
    {
        private readonly NativeStats native;

        internal Stats(in NativeStats native) => this.native = native;

        // An overview's newer counters are at its end.
        internal Stats(in NativeOverview overview)
        {
            native = default;
            // catalogue: counters of an overview copied
            native.Sent = overview.Stats.Sent;
            native.Received = overview.Stats.Received;
            native.PacketsLost = overview.Stats.PacketsLost;
            native.PacketsSpurious = overview.Stats.PacketsSpurious;
            native.Resent = overview.Stats.Resent;
            native.Probes = overview.Stats.Probes;
            native.RepairsSent = overview.Stats.RepairsSent;
            native.CopiesSent = overview.Stats.CopiesSent;
            native.RedundancyBytesSent = overview.Stats.RedundancyBytesSent;
            native.PacketsRecovered = overview.Stats.PacketsRecovered;
            native.PacketsRecoveredByPeer = overview.Stats.PacketsRecoveredByPeer;
            native.PathsChanged = overview.Stats.PathsChanged;
            native.QueueOverflows = overview.Stats.QueueOverflows;
            native.Drops = overview.Stats.Drops;
            native.AcksOverdue = overview.AcksOverdue;
            native.PathsRefused = overview.PathsRefused;
            native.BlackHoles = overview.BlackHoles;
            // catalogue: end
        }

        // catalogue: counters
        /// <summary>What was sent.</summary>
        public Flow Sent => new Flow(native.Sent);
        /// <summary>What was received and authenticated.</summary>
        public Flow Received => new Flow(native.Received);
        /// <summary>Packets declared lost.</summary>
        public ulong PacketsLost => native.PacketsLost;
        /// <summary>Packets declared lost whose acknowledgement came later.</summary>
        public ulong PacketsSpurious => native.PacketsSpurious;
        /// <summary>Messages and fragments retransmitted.</summary>
        public ulong Resent => native.Resent;
        /// <summary>Packets whose acknowledgement was overdue (probe timeout), so that their content was sent
        /// again.</summary>
        public ulong Probes => native.Probes;
        /// <summary>Repair packets sent.</summary>
        public ulong RepairsSent => native.RepairsSent;
        /// <summary>Copies of retransmissions, each in addition to the retransmission itself; and packets that repeat
        /// messages of earlier ones.</summary>
        public ulong CopiesSent => native.CopiesSent;
        /// <summary>Bytes of repairs and copies, IP headers included, and of messages repeated.</summary>
        public ulong RedundancyBytesSent => native.RedundancyBytesSent;
        /// <summary>Packets of the peer that were lost and recovered here, each without waiting for a round
        /// trip.</summary>
        public ulong PacketsRecovered => native.PacketsRecovered;
        /// <summary>Packets sent here that were lost and that the peer recovered.</summary>
        public ulong PacketsRecoveredByPeer => native.PacketsRecoveredByPeer;
        /// <summary>Times that the connection moved to a new address.</summary>
        public ulong PathsChanged => native.PathsChanged;
        /// <summary>Messages refused or dropped by a full queue.</summary>
        public ulong QueueOverflows => native.QueueOverflows;
        /// <summary>Datagrams, packets and messages that were dropped on arrival, for any reason.</summary>
        public ulong Drops => native.Drops;
        /// <summary>Acknowledgements that the peer reports to have delayed for longer than the settings allow: its
        /// machine paused, an earlier acknowledgement was lost, or it does not follow the settings.</summary>
        public ulong AcksOverdue => native.AcksOverdue;
        /// <summary>New addresses that did not prove to be the peer's.</summary>
        public ulong PathsRefused => native.PathsRefused;
        /// <summary>Times that large datagrams were lost on the path, so that only small ones are sent (RFC 8899,
        /// section 3).</summary>
        public ulong BlackHoles => native.BlackHoles;
        // catalogue: end
    }

    /// <summary>A snapshot of a connection.</summary>
    public readonly struct Overview
    {
        private readonly NativeOverview native;

        internal Overview(in NativeOverview native) => this.native = native;

        /// <summary>The connection.</summary>
        public PeerId Peer => new PeerId(native.Peer);
        /// <summary>Current maximum bytes of a datagram: what the path is known to carry.</summary>
        public int DatagramBytes => (int)native.DatagramBytes;
        /// <summary>Smoothed round-trip time.</summary>
        public TimeSpan Rtt => Time.FromMicroseconds(native.RttMicroseconds);
        /// <summary>Variation of the round-trip time.</summary>
        public TimeSpan RttVariation => Time.FromMicroseconds(native.RttVariationMicroseconds);
        /// <summary>The minimum round-trip time that was measured; zero before the first.</summary>
        public TimeSpan RttMin => Time.FromMicroseconds(native.RttMinMicroseconds);
        /// <summary>Messages that are queued or in flight.</summary>
        public ulong QueuedMessages => native.QueuedMessages;
        /// <summary>Bytes of those messages.</summary>
        public ulong QueuedBytes => native.QueuedBytes;
        /// <summary>Bytes of messages that arrived and wait for earlier ones.</summary>
        public ulong HeldBytes => native.HeldBytes;
        /// <summary>Bytes in flight.</summary>
        public ulong BytesInFlight => native.BytesInFlight;
        /// <summary>The congestion window: maximum bytes in flight.</summary>
        public ulong CongestionWindow => native.CongestionWindow;
        /// <summary>Bytes of datagrams per second that may be sent to the peer, as far as the path is known: scale
        /// snapshots by it. <see cref="ulong.MaxValue"/> where nothing limits them: on a stream, whose load shows in
        /// <see cref="QueuedBytes"/>.</summary>
        public ulong AvailableBytesPerSecond => native.AvailableBytesPerSecond;
        /// <summary>Messages per second to the peer, over about a second.</summary>
        public double SentMessagesPerSecond => native.SentMessagesPerSecond;
        /// <summary>Bytes per second to the peer, headers included.</summary>
        public double SentBytesPerSecond => native.SentBytesPerSecond;
        /// <summary>Bytes of messages per second to the peer.</summary>
        public double SentPayloadBytesPerSecond => native.SentPayloadBytesPerSecond;
        /// <summary>Share of packets to the peer that the path lost, 0 to 1, over about the last thousand; those sent
        /// together count as one.</summary>
        public double SentLoss => native.SentLoss;
        /// <summary>Messages per second from the peer.</summary>
        public double ReceivedMessagesPerSecond => native.ReceivedMessagesPerSecond;
        /// <summary>Bytes per second from the peer, headers included.</summary>
        public double ReceivedBytesPerSecond => native.ReceivedBytesPerSecond;
        /// <summary>Bytes of messages per second from the peer.</summary>
        public double ReceivedPayloadBytesPerSecond => native.ReceivedPayloadBytesPerSecond;
        /// <summary>Share of packets from the peer that the path lost, 0 to 1, over about the last thousand.</summary>
        public double ReceivedLoss => native.ReceivedLoss;
        /// <summary>The connection's counters.</summary>
        public Stats Stats => new Stats(native);

        /// <summary>The carrier of the connection: udp, dtls, wt, ws, wss, tcp, tls or local. Makes a string.</summary>
        public unsafe string Carrier
        {
            get
            {
                NativeOverview copy = native;
                int length = 0;
                while (length < 8 && copy.Carrier[length] != 0) length++;
                return Utf8.Read(copy.Carrier, length);
            }
        }
    }

    /// <summary>A client's estimate of the server's clock.</summary>
    public readonly struct ServerTime
    {
        /// <summary>The server's uptime, as <see cref="Server.Time"/> returns it there.</summary>
        public TimeSpan At { get; }
        /// <summary>The maximum error of the estimate, in both directions.</summary>
        public TimeSpan Error { get; }

        internal ServerTime(TimeSpan at, TimeSpan error)
        {
            At = at;
            Error = error;
        }
    }
}
