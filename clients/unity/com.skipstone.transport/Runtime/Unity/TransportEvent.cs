using System;

namespace Skipstone.Unity
{
    /// <summary>Events of a transport: a peer has connected, a message arrived, or a peer has disconnected.</summary>
    public enum TransportEventKind
    {
        /// <summary>The connection is established.</summary>
        Connected,
        /// <summary>A message arrived.</summary>
        Message,
        /// <summary>The connection ended, or was never established.</summary>
        Disconnected,
    }

    /// <summary>An event in the terms of Unity's networking libraries: connections have small numbers, bytes are in
    /// managed memory.</summary>
    public struct TransportEvent
    {
        /// <summary>An event without bytes.</summary>
        public static readonly TransportEvent Empty = new TransportEvent { Payload = new ArraySegment<byte>(new byte[0]) };

        /// <summary>What happened.</summary>
        public TransportEventKind Kind;
        /// <summary>At a server: the client's number, from 1 on. At a client: 0.</summary>
        public int Connection;
        /// <summary>The channel of a message.</summary>
        public ushort Channel;
        /// <summary>A message's bytes, valid until the next event is taken.</summary>
        public ArraySegment<byte> Payload;
        /// <summary>Why a connection ended, a <see cref="CloseCode"/>.</summary>
        public ulong Code;
        /// <summary>The reason of a close, for people.</summary>
        public string Reason;
    }
}
