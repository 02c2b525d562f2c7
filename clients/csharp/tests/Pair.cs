using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Text;

namespace Skipstone.Tests
{
    // The content of an event, kept after its round.
    internal sealed class Seen
    {
        internal EventKind Kind;
        internal PeerId Peer;
        internal ushort Channel;
        internal byte[] Data;
        internal MessageId Id;
        internal ulong Code;
        internal ClosedBy ClosedBy;
        internal GivenUp GivenUp;
        internal string Address;

        internal string Text => Encoding.UTF8.GetString(Data);

        internal Seen(Event happened)
        {
            Kind = happened.Kind;
            Peer = happened.Peer;
            Channel = happened.Channel;
            Data = happened.Payload.ToArray();
            Id = happened.Id;
            Code = happened.Code;
            ClosedBy = happened.ClosedBy;
            GivenUp = happened.GivenUp;
            Address = happened.Address;
        }

        public override string ToString() => Kind + " " + Channel + " " + Text;
    }

    // A server without sockets and a client of this process, both stepped by the test: no thread, no clock but the
    // deadline.
    internal sealed class Pair : IDisposable
    {
        internal static readonly ChannelRule[] AllModes =
        {
            new ChannelRule(0, DeliveryMode.ReliableOrdered),
            new ChannelRule(1, DeliveryMode.ReliableUnordered),
            new ChannelRule(2, DeliveryMode.ReliableSequenced),
            new ChannelRule(3, DeliveryMode.Unreliable),
            new ChannelRule(4, DeliveryMode.UnreliableSequenced),
            new ChannelRule(5, DeliveryMode.ReliableOrdered) { Receipts = true },
            new ChannelRule(6, DeliveryMode.Unreliable) { Receipts = true },
        };

        internal readonly Server Server;
        internal readonly Client Client;
        internal readonly List<Seen> AtServer = new List<Seen>();
        internal readonly List<Seen> AtClient = new List<Seen>();
        internal PeerId Peer;

        internal Pair(Action<ServerConfig> change = null, byte[] token = null)
        {
            ServerConfig config = ServerConfig.Offline();
            config.Threading = Threading.Stepped;
            config.Channels = AllModes;
            change?.Invoke(config);
            Server = Server.Start(config);
            Client = Server.ConnectLocal(token, new ClientConfig { Threading = Threading.Stepped });
        }

        // Connected on both sides, with no event left.
        internal static Pair Connected(Action<ServerConfig> change = null)
        {
            var pair = new Pair(change);
            pair.Until(() => pair.AtServer.Any(seen => seen.Kind == EventKind.Requested), "a request");
            pair.Peer = pair.AtServer[0].Peer;
            pair.Server.Accept(pair.Peer);
            pair.Until(() => pair.AtServer.Any(seen => seen.Kind == EventKind.Connected)
                && pair.AtClient.Any(seen => seen.Kind == EventKind.Connected), "a connection");
            pair.AtServer.Clear();
            pair.AtClient.Clear();
            return pair;
        }

        // One round of both; returns the events.
        internal void Step()
        {
            Client.Drive();
            Server.Flush();
            Server.Drive();
            Client.Drive();
            foreach (Event happened in Server.Poll()) AtServer.Add(new Seen(happened));
            foreach (Event happened in Client.Poll()) AtClient.Add(new Seen(happened));
        }

        internal void Until(Func<bool> isSo, string what)
        {
            var clock = Stopwatch.StartNew();
            while (!isSo())
            {
                if (clock.Elapsed > TimeSpan.FromSeconds(10)) throw new TimeoutException("there was never " + what);
                Step();
            }
        }

        public void Dispose()
        {
            Client.Dispose();
            Server.Dispose();
        }
    }
}
