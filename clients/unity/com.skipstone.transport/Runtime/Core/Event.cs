using System;
using Skipstone.Native;

namespace Skipstone
{
    /// <summary>The kind of an event.</summary>
    public enum EventKind : uint
    {
        /// <summary>A client requests a connection: <see cref="Event.Payload"/> is its token,
        /// <see cref="Event.Address"/> its address. Answer with <see cref="Server.Accept"/> or
        /// <see cref="Server.Refuse"/>.</summary>
        Requested = 1,
        /// <summary>The connection is established: messages can be sent.</summary>
        Connected = 2,
        /// <summary>A message arrived: <see cref="Event.Payload"/>, on <see cref="Event.Channel"/>.</summary>
        Message = 3,
        /// <summary>The peer has the message <see cref="Event.Id"/>. Only on channels with receipts.</summary>
        Acknowledged = 4,
        /// <summary>The message <see cref="Event.Id"/> will not be sent (or not again); <see cref="Event.GivenUp"/> is
        /// the reason.</summary>
        GivenUp = 5,
        /// <summary>A client's address changed to <see cref="Event.Address"/>. The connection continues.</summary>
        PathChanged = 6,
        /// <summary>The connection ended, the last of its events: <see cref="Event.Code"/>, <see cref="Event.Reason"/>,
        /// <see cref="Event.ClosedBy"/>.</summary>
        Closed = 7,
    }

    /// <summary>The side that ended a connection.</summary>
    public enum ClosedBy : uint
    {
        /// <summary>This side's application, or a rule of this side.</summary>
        Local = 1,
        /// <summary>The peer.</summary>
        Peer = 2,
        /// <summary>Neither: the peer stopped answering, or the carrier failed.</summary>
        Nobody = 3,
    }

    /// <summary>Why a message will not be sent (or not again).</summary>
    public enum GivenUp : uint
    {
        /// <summary>A reason without a number in this version.</summary>
        Other = 0,
        /// <summary>The queue was full, and the channel refuses new messages then.</summary>
        QueueFull = 1,
        /// <summary>The queue was full, and the channel drops its oldest message then.</summary>
        Dropped = 2,
        /// <summary>A newer message of a sequenced channel replaced it.</summary>
        Superseded = 3,
        /// <summary>The packet that contained it was lost, and the channel does not retransmit.</summary>
        Lost = 4,
        /// <summary>The client does not accept messages of this length.</summary>
        TooLong = 5,
        /// <summary>The connection ended first.</summary>
        Closed = 6,
    }

    /// <summary>Close codes of the protocol. Codes below 1,000 are the application's own.</summary>
    public static class CloseCode
    {
        // catalogue: close codes
        /// <summary>Closed by the application without a code of its own.</summary>
        public const ulong None = 0;
        /// <summary>The server shuts down.</summary>
        public const ulong Shutdown = 1000;
        /// <summary>The application refused the client.</summary>
        public const ulong Refused = 1001;
        /// <summary>The application removed the peer.</summary>
        public const ulong Kicked = 1002;
        /// <summary>A channel's queue was full, and its rule is to disconnect.</summary>
        public const ulong QueueOverflow = 1003;
        /// <summary>The peer violated the protocol.</summary>
        public const ulong Protocol = 1004;
        /// <summary>The server is full, or the client's network has its maximum number of players.</summary>
        public const ulong Full = 1005;
        /// <summary>The handshake timed out (local: never sent).</summary>
        public const ulong HandshakeTimeout = 1006;
        /// <summary>Nothing arrived for the idle timeout (local).</summary>
        public const ulong IdleTimeout = 1007;
        /// <summary>The carrier was lost: the stream that carried the connection broke (local).</summary>
        public const ulong CarrierLost = 1008;
        /// <summary>Client and server have no protocol version in common (local).</summary>
        public const ulong NoCommonVersion = 1009;
        /// <summary>The encrypted handshake failed, for example because of an untrusted certificate (local, or in
        /// REFUSE).</summary>
        public const ulong Security = 1010;
        /// <summary>No common suite: one side requires encryption and the other has none (in REFUSE).</summary>
        public const ulong NoCommonSuite = 1011;
        /// <summary>The server's name has no address, or none of its addresses can be reached (local).</summary>
        public const ulong Unreachable = 1012;
        /// <summary>The server restarts; the reason says when and where to connect again (WIRE.md section
        /// 8.1).</summary>
        public const ulong Restart = 1013;
        /// <summary>The peer made this side hold more memory than allowed, or the most of all peers when memory was
        /// short.</summary>
        public const ulong Memory = 1016;
        // catalogue: end
    }

    /// <summary>Something that happened to a connection. It is read in place, and stays until the next <c>Poll</c> of
    /// the same server or client: afterwards its members throw <see cref="InvalidOperationException"/>.</summary>
    public readonly struct Event
    {
        private readonly EventBuffer buffer;
        private readonly int index;
        private readonly int round;

        internal Event(EventBuffer buffer, int index, int round)
        {
            this.buffer = buffer;
            this.index = index;
            this.round = round;
        }

        private ref NativeEvent Native => ref buffer.At(index, round);

        /// <summary>The kind of the event. Ignore unknown kinds: a newer library may have more.</summary>
        public EventKind Kind => (EventKind)Native.Kind;
        /// <summary>The connection.</summary>
        public PeerId Peer => new PeerId(Native.Peer);
        /// <summary>The channel of a message.</summary>
        public ushort Channel => Native.Channel;
        /// <summary>The bytes of a message or of a token; empty in other events.</summary>
        public Payload Payload => new Payload(buffer, index, round);
        /// <summary>How much later than planned a message arrived, because it was lost at first; usually zero. Pass it
        /// on as the age of an answer.</summary>
        public TimeSpan Age => Time.FromMicroseconds(Native.AgeMicroseconds);
        /// <summary>The message that was acknowledged or given up.</summary>
        public MessageId Id => new MessageId(Native.Id);
        /// <summary>Why a message was given up.</summary>
        public GivenUp GivenUp => (GivenUp)Native.Detail;
        /// <summary>Why a connection ended: a <see cref="CloseCode"/>, or a number below 1,000 of the application's
        /// own.</summary>
        public ulong Code => Native.Code;
        /// <summary>The side that ended a connection.</summary>
        public ClosedBy ClosedBy => (ClosedBy)Native.Detail;
        /// <summary>The reason of a close, for people. Makes a string.</summary>
        public string Reason => Payload.ToText();
        /// <summary>The address of a client as text; <c>null</c> in events without an address. Makes a
        /// string.</summary>
        public string Address => Utf8.Read(Native.Address);

        /// <summary>Kind, peer and length, for a log. Makes a string.</summary>
        public override string ToString() => Kind + " of " + Peer + ", " + Payload.Length + " bytes";
    }
}
