// Rules of channels: a server's table of rules, and limits on what its clients may send.
namespace Skipstone
{
    /// <summary>How the messages of a channel are delivered.</summary>
    public enum DeliveryMode : uint
    {
        /// <summary>Sent once, delivered on arrival.</summary>
        Unreliable = 0,
        /// <summary>Sent once, delivered only if newer than the newest delivered message.</summary>
        UnreliableSequenced = 1,
        /// <summary>Each message once, in order.</summary>
        ReliableOrdered = 2,
        /// <summary>Each message once, on arrival.</summary>
        ReliableUnordered = 3,
        /// <summary>The newest message is retransmitted until it arrives; older ones are given up.</summary>
        ReliableSequenced = 4,
    }

    /// <summary>The reaction if a channel's queue has no room for a message.</summary>
    public enum Overflow : uint
    {
        /// <summary>The message is refused.</summary>
        Refuse = 0,
        /// <summary>The oldest queued message is dropped.</summary>
        DropOldest = 1,
        /// <summary>The connection is closed.</summary>
        Disconnect = 2,
    }

    /// <summary>Protection against loss in addition to retransmission.</summary>
    public enum RedundancyMode : uint
    {
        /// <summary>Lost content is retransmitted once, and nothing else.</summary>
        Off = 0,
        /// <summary>Lost content is retransmitted in several copies.</summary>
        Lean = 1,
        /// <summary>Repair packets according to the measured loss, and copies.</summary>
        Adaptive = 2,
        /// <summary>A block code: a number of repair packets after each block of packets.</summary>
        Fixed = 3,
        /// <summary>Each packet repeats the messages of the last 1 to 8 packets.</summary>
        Repeat = 4,
        /// <summary>For a channel: the server's default for all channels.</summary>
        AsSettings = 255,
    }

    /// <summary>A redundancy mode with its figures.</summary>
    public readonly struct Redundancy
    {
        /// <summary>The mode.</summary>
        public RedundancyMode Mode { get; }
        /// <summary>For <see cref="RedundancyMode.Fixed"/> the packets of a block, for
        /// <see cref="RedundancyMode.Repeat"/> the packets whose messages are repeated.</summary>
        public byte First { get; }
        /// <summary>For <see cref="RedundancyMode.Fixed"/> the repair packets of a block.</summary>
        public byte Second { get; }

        internal Redundancy(RedundancyMode mode, byte first, byte second)
        {
            Mode = mode;
            First = first;
            Second = second;
        }

        /// <summary>Lost content is retransmitted once, and nothing else.</summary>
        public static readonly Redundancy Off = new Redundancy(RedundancyMode.Off, 0, 0);
        /// <summary>Lost content is retransmitted in several copies.</summary>
        public static readonly Redundancy Lean = new Redundancy(RedundancyMode.Lean, 0, 0);
        /// <summary>Repair packets according to the measured loss, and copies.</summary>
        public static readonly Redundancy Adaptive = new Redundancy(RedundancyMode.Adaptive, 0, 0);
        /// <summary>For a channel: the server's default for all channels.</summary>
        public static readonly Redundancy AsSettings = new Redundancy(RedundancyMode.AsSettings, 0, 0);

        /// <summary>A block code: <paramref name="repairs"/> repair packets after <paramref name="packets"/>
        /// packets.</summary>
        public static Redundancy Fixed(byte packets, byte repairs) => new Redundancy(RedundancyMode.Fixed, packets, repairs);

        /// <summary>Each packet repeats the messages of the last <paramref name="bursts"/> packets, 1 to 8.</summary>
        public static Redundancy Repeat(byte bursts) => new Redundancy(RedundancyMode.Repeat, bursts, 0);
    }

    /// <summary>A rule of a server's channel table, for the channels from <see cref="First"/> to <see cref="Last"/>.
    /// Clients have no table of their own: they learn the server's when they connect.</summary>
    public sealed class ChannelRule
    {
        /// <summary>The first channel of the rule.</summary>
        public ushort First { get; }
        /// <summary>The last channel of the rule.</summary>
        public ushort Last { get; }
        /// <summary>How messages are delivered.</summary>
        public DeliveryMode Mode { get; }
        /// <summary>0 is the most urgent. Default 1.</summary>
        public byte Priority { get; set; } = 1;
        /// <summary>The share among channels of one priority, at least 1.</summary>
        public byte Weight { get; set; } = 1;
        /// <summary>The reaction to a full queue; <c>null</c> for the mode's own: reliable channels disconnect, others
        /// refuse.</summary>
        public Overflow? Overflow { get; set; }
        /// <summary>Whether the sender gets an event for each message that arrived, by
        /// <see cref="EventKind.Acknowledged"/>.</summary>
        public bool Receipts { get; set; }
        /// <summary>Maximum number of messages in each channel's queue; <c>null</c> for the library's
        /// default.</summary>
        public uint? QueueMessagesMax { get; set; }
        /// <summary>Maximum bytes in each channel's queue; <c>null</c> for the library's default.</summary>
        public uint? QueueBytesMax { get; set; }
        /// <summary>Protection against loss of these channels alone.</summary>
        public Redundancy Redundancy { get; set; } = Redundancy.AsSettings;

        /// <summary>A rule for one channel.</summary>
        public ChannelRule(ushort channel, DeliveryMode mode) : this(channel, channel, mode) { }

        /// <summary>A rule for the channels from <paramref name="first"/> to <paramref name="last"/>.</summary>
        public ChannelRule(ushort first, ushort last, DeliveryMode mode)
        {
            First = first;
            Last = last;
            Mode = mode;
        }
    }

    /// <summary>The sides that may send on a channel.</summary>
    public enum Direction : uint
    {
        /// <summary>The server and its clients.</summary>
        Both = 0,
        /// <summary>The server only.</summary>
        ServerToClient = 1,
        /// <summary>Clients only.</summary>
        ClientToServer = 2,
    }

    /// <summary>The reaction if a client violates an inbound rule.</summary>
    public enum Violation : uint
    {
        /// <summary>The connection is closed.</summary>
        Close = 0,
        /// <summary>The message is dropped; only on unreliable channels.</summary>
        Drop = 1,
    }

    /// <summary>Limits on what clients may send, on the channels from <see cref="First"/> to
    /// <see cref="Last"/>.</summary>
    public sealed class InboundRule
    {
        /// <summary>The first channel of the rule.</summary>
        public ushort First { get; }
        /// <summary>The last channel of the rule.</summary>
        public ushort Last { get; }
        /// <summary>The sides that may send.</summary>
        public Direction Direction { get; set; }
        /// <summary>The reaction if a client violates the rule.</summary>
        public Violation Violation { get; set; }
        /// <summary>Maximum bytes of a message from a client; 0 for the limit of the settings.</summary>
        public uint MessageBytesMax { get; set; }
        /// <summary>Messages per second of each client on each channel; 0 for no limit.</summary>
        public uint MessagesPerSecond { get; set; }
        /// <summary>Messages that may arrive at once after a pause; at least 1 if there is a rate.</summary>
        public uint Burst { get; set; } = 1;

        /// <summary>A rule for the channels from <paramref name="first"/> to <paramref name="last"/>.</summary>
        public InboundRule(ushort first, ushort last)
        {
            First = first;
            Last = last;
        }
    }
}
