using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using NUnit.Framework;

namespace Skipstone.Unity.Tests
{
    public class TransportTests
    {
        private static readonly ArraySegment<byte> TooLong = new ArraySegment<byte>(new byte[2001]);

        private TransportServer server;
        private TransportClient client;
        private readonly Queue<TransportEvent> atTheServer = new Queue<TransportEvent>();

        // Without sockets: a server of this process and its client.
        [SetUp]
        public void Start()
        {
            atTheServer.Clear();
            ServerConfig config = ServerConfig.Offline();
            config.Channels = TransportChannels.Table;
            config.MessageBytesMax = 2000;
            server = new TransportServer(config);
            client = new NativeTransportClient(server.Native.ConnectLocal(Encoding.UTF8.GetBytes("Ann")));
        }

        [TearDown]
        public void Stop()
        {
            client.Dispose();
            client.Dispose();
            server.Dispose();
            server.Dispose();
        }

        [Test]
        public void A_client_gets_a_small_number_and_an_echo()
        {
            TransportEvent joined = Next(TransportEventKind.Connected, true);
            Assert.AreEqual((1, true, 1), (joined.Connection, server.Has(1), server.Count));
            Assert.AreEqual("127.0.0.1:0", server.AddressOf(1));
            Next(TransportEventKind.Connected, false);
            Assert.IsTrue(client.IsConnected);
            foreach (ChannelRule rule in TransportChannels.Table)
            {
                Assert.AreEqual(Status.Ok, client.Send(rule.First, new ArraySegment<byte>(new byte[] { 1, 2, 3 }, 1, 2)));
                TransportEvent came = Next(TransportEventKind.Message, true);
                Assert.AreEqual((1, rule.First, 2, (byte)2), (came.Connection, came.Channel, came.Payload.Count, came.Payload.Array[came.Payload.Offset]));
                Assert.AreEqual(Status.Ok, server.Send(1, rule.First, came.Payload));
                Assert.AreEqual((rule.First, 2), (Next(TransportEventKind.Message, false).Channel, 2));
            }
        }

        [Test]
        public void A_disconnected_client_has_left_on_both_sides()
        {
            Next(TransportEventKind.Connected, true);
            Next(TransportEventKind.Connected, false);
            Assert.IsFalse(server.Disconnect(7));
            Assert.IsTrue(server.Disconnect(1));
            Assert.AreEqual(CloseCode.Kicked, Next(TransportEventKind.Disconnected, false).Code);
            Assert.AreEqual(1, Next(TransportEventKind.Disconnected, true).Connection);
            Assert.AreEqual((false, "", false), (server.Has(1), server.AddressOf(1), client.IsConnected));
            Assert.AreEqual(Status.UnknownPeer, server.Send(1, 0, default));
            Assert.AreEqual(Status.NotConnected, client.Send(0, default));
        }

        [Test]
        public void A_token_that_is_not_admitted_is_refused()
        {
            string asked = null;
            server.Admits = token =>
            {
                asked = token.ToText();
                return false;
            };
            Assert.AreEqual(CloseCode.Refused, Next(TransportEventKind.Disconnected, false).Code);
            Assert.AreEqual(("Ann", 0), (asked, server.Count));
        }

        [Test]
        public void A_client_whose_reliable_message_is_refused_ends_with_one_report()
        {
            Next(TransportEventKind.Connected, true);
            Next(TransportEventKind.Connected, false);
            Assert.AreEqual(Status.TooLong, client.SendOrEnd(TransportChannels.Unreliable, TooLong));
            Assert.AreEqual(Status.TooLong, client.Send(TransportChannels.ReliableOrdered, TooLong));
            Assert.AreEqual(Status.Ok, client.SendOrEnd(TransportChannels.ReliableOrdered, new ArraySegment<byte>(new byte[1])));
            Assert.AreEqual(Status.TooLong, client.SendOrEnd(TransportChannels.ReliableOrdered, TooLong));
            Assert.AreEqual((false, Status.NotConnected), (client.IsConnected, client.SendOrEnd(TransportChannels.ReliableOrdered, default)));
            Assert.IsTrue(client.TryTake(out TransportEvent end));
            Assert.AreEqual(TransportEventKind.Disconnected, end.Kind);
            StringAssert.Contains("TooLong", end.Reason);
            Assert.IsFalse(client.TryTake(out _));
            Assert.AreEqual(TimeSpan.Zero, client.Rtt);
            Assert.AreEqual(1, Next(TransportEventKind.Disconnected, true).Connection);
        }

        [Test]
        public void A_server_ends_the_client_to_which_a_reliable_message_is_refused()
        {
            Next(TransportEventKind.Connected, true);
            Next(TransportEventKind.Connected, false);
            Assert.AreEqual(Status.TooLong, server.SendOrEnd(1, TransportChannels.UnreliableSequenced, TooLong));
            Assert.AreEqual(Status.Ok, server.SendOrEnd(1, TransportChannels.ReliableUnordered, new ArraySegment<byte>(new byte[7])));
            Assert.AreEqual(Status.TooLong, server.SendOrEnd(1, TransportChannels.ReliableUnordered, TooLong));
            Assert.AreEqual(Status.NotConnected, server.SendOrEnd(1, TransportChannels.ReliableUnordered, new ArraySegment<byte>(new byte[8])));
            Assert.AreEqual(7, Next(TransportEventKind.Message, false).Payload.Count, "what came before it arrives");
            TransportEvent end = Next(TransportEventKind.Disconnected, false);
            Assert.AreEqual(CloseCode.Kicked, end.Code);
            StringAssert.Contains("TooLong", end.Reason);
            Assert.AreEqual(1, Next(TransportEventKind.Disconnected, true).Connection);
        }

        [Test]
        public void A_refusal_of_any_kind_breaks_a_reliable_channel_and_no_other()
        {
            foreach (Status status in new[] { Status.DriverBusy, Status.QueueFull, Status.TooLong, Status.NoSuchChannel, Status.Internal })
            {
                Assert.IsTrue(TransportChannels.IsBroken(TransportChannels.ReliableOrdered, status), status.ToString());
                Assert.IsTrue(TransportChannels.IsBroken(TransportChannels.ReliableUnordered, status), status.ToString());
                Assert.IsFalse(TransportChannels.IsBroken(TransportChannels.Unreliable, status), status.ToString());
                Assert.IsFalse(TransportChannels.IsBroken(TransportChannels.UnreliableSequenced, status), status.ToString());
            }
            foreach (Status status in new[] { Status.Ok, Status.NotConnected, Status.UnknownPeer, Status.DriverGone })
                Assert.IsFalse(TransportChannels.IsBroken(TransportChannels.ReliableOrdered, status), status.ToString());
        }

        [Test]
        public void A_page_that_refuses_a_client_throws_what_the_native_client_throws()
        {
            Assert.AreEqual(3, BrowserRefusal.Check(3, "https://a"));
            Assert.AreEqual(Status.NotBuilt, Assert.Throws<SkipstoneException>(() => BrowserRefusal.Check(-11, "https://a")).Status);
            SkipstoneException refusal = Assert.Throws<SkipstoneException>(() => BrowserRefusal.Check(-13, "http://a"));
            Assert.AreEqual(Status.BadUrl, refusal.Status);
            StringAssert.Contains("http://a", refusal.Message);
        }

        [Test]
        public void Addresses_become_URLs()
        {
            var settings = new TransportSettings { Address = "game.example", Port = 7000 };
            Assert.AreEqual("skip://game.example:7000", settings.Url(false));
            Assert.AreEqual("https://game.example:7000", settings.Url(true));
            settings.Fingerprint = "ab";
            Assert.AreEqual("skip://game.example:7000#sha256=ab", settings.Url(false));
            settings.Encrypt = false;
            Assert.AreEqual("skip+plain://game.example:7000", settings.Url(false));
            Assert.AreEqual("ws://game.example:7000", settings.Url(true));
            settings.Address = "::1";
            Assert.AreEqual("skip+plain://[::1]:7000", settings.Url(false));
            settings.Address = "wss://other.example";
            Assert.AreEqual("wss://other.example", settings.Url(false));
        }

        // The next event of this kind; earlier events of other kinds are dropped. The server is polled meanwhile, to
        // accept clients.
        private TransportEvent Next(TransportEventKind kind, bool atServer)
        {
            var clock = System.Diagnostics.Stopwatch.StartNew();
            while (clock.Elapsed < TimeSpan.FromSeconds(10))
            {
                server.Flush();
                while (server.TryTake(out TransportEvent taken))
                {
                    taken.Payload = new ArraySegment<byte>(taken.Payload.ToArray());
                    atTheServer.Enqueue(taken);
                }
                TransportEvent happened = default;
                bool isOne = atServer ? atTheServer.Count > 0 : client.TryTake(out happened);
                if (isOne && atServer) happened = atTheServer.Dequeue();
                if (isOne && happened.Kind == kind) return happened;
                if (!isOne) System.Threading.Thread.Sleep(1);
            }
            throw new TimeoutException("there was no " + kind);
        }
    }
}
