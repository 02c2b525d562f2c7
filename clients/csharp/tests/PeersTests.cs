using System;
using System.Diagnostics;
using System.Linq;
using System.Text;
using NUnit.Framework;

namespace Skipstone.Tests
{
    public unsafe class PeersTests
    {
        [Test]
        public void A_broadcast_skips_the_excluded_peers_in_each_of_its_forms()
        {
            using (Pair pair = Pair.Connected())
            {
                Server server = pair.Server;
                byte[] bytes = { 1, 2, 3 };
                var part = new ArraySegment<byte>(bytes, 1, 1);
                PeerId[] nobody = { }, absent = { new PeerId(77) }, all = { new PeerId(77), pair.Peer };
                Assert.AreEqual((1, 0), (server.BroadcastExcept(Group.Everyone, nobody, 0, bytes), server.BroadcastExcept(Group.Everyone, all, 0, bytes)));
                Assert.AreEqual((1, 0), (server.BroadcastExcept(Group.Everyone, absent, 0, part), server.BroadcastExcept(Group.Everyone, all, 0, part)));
                fixed (byte* first = bytes) Assert.AreEqual(1, server.BroadcastExcept(Group.Everyone, nobody, 0, first, 2));
                Assert.AreEqual(Status.Ok, server.TryBroadcast(Group.Everyone, 0, bytes, out int reached, out MessageId id));
                Assert.AreEqual(Status.Ok, server.TryBroadcastExcept(Group.Everyone, nobody, 0, part, out int reachedToo, out MessageId next));
                Assert.AreEqual((1, 1), (reached, reachedToo));
                Assert.Greater(next.Value, id.Value);
                Assert.AreEqual(Status.NoSuchChannel, server.TryBroadcastExcept(Group.Everyone, nobody, 999, bytes, out reached, out id));
                Assert.AreEqual((0, 0UL), (reached, id.Value));
                Assert.Throws<ArgumentNullException>(() => server.BroadcastExcept(Group.Everyone, null, 0, bytes));
                pair.Until(() => pair.AtClient.Count == 5, "five messages");
                CollectionAssert.AreEqual(new[] { 3, 1, 2, 3, 1 }, pair.AtClient.Select(seen => seen.Data.Length));
            }
        }

        [Test]
        public void A_message_is_forwarded_to_all_but_its_sender()
        {
            using (Pair pair = Pair.Connected())
            {
                pair.Client.Send(0, Encoding.UTF8.GetBytes("to the others"));
                int reached = -1;
                pair.Until(() =>
                {
                    pair.Client.Drive();
                    pair.Server.Drive();
                    foreach (Event happened in pair.Server.Poll())
                        reached = pair.Server.BroadcastExcept(Group.Everyone, new[] { happened.Peer }, 0, happened.Payload);
                    return reached >= 0;
                }, "a message");
                Assert.AreEqual(0, reached);
            }
        }

        [Test]
        public void Connected_peers_are_listed_with_their_addresses_and_figures()
        {
            using (Pair pair = Pair.Connected())
            {
                CollectionAssert.AreEqual(new[] { pair.Peer }, pair.Server.Peers);
                Assert.AreEqual("127.0.0.1:0", pair.Server.RemoteAddress(pair.Peer));
                Assert.IsNull(pair.Server.RemoteAddress(new PeerId(77)));
                Overview[] overviews = null;
                pair.Until(() => (overviews = pair.Server.Overviews).Length > 0, "figures");
                CollectionAssert.AreEqual(new[] { pair.Peer }, overviews.Select(overview => overview.Peer));
            }
        }

        [Test]
        public void Denied_addresses_are_counted_until_they_are_allowed()
        {
            var config = new ServerConfig { Listen = "127.0.0.1:0", Denied = new[] { "nonsense" } };
            StringAssert.Contains("denied", Assert.Throws<SkipstoneException>(() => Server.Start(config)).Message);
            config.Denied = new[] { "192.0.2.0/24", "127.0.0.1" };
            using (Server server = Server.Start(config))
            using (Client client = Client.Connect(server.Url))
            {
                Until(() => server.DriverStats.Denied > 0, server, client);
                Assert.Greater(server.DriverStats.ReceiveBufferBytes, 0UL);
                Assert.AreEqual(0UL, server.DriverStats.Streams.Accepted);
                Assert.Throws<ArgumentException>(() => server.SetDenied("192.0.2.1\0/8"));
                StringAssert.Contains("nor a network", Assert.Throws<SkipstoneException>(() => server.SetDenied("nonsense")).Message);
                server.SetDenied("192.0.2.7");
                Until(() => server.Peers.Length == 1, server, client);
            }
        }

        private static void Until(Func<bool> isSo, Server server, Client client)
        {
            var clock = Stopwatch.StartNew();
            while (!isSo())
            {
                if (clock.Elapsed > TimeSpan.FromSeconds(10)) throw new TimeoutException("it never was so");
                server.Wait(TimeSpan.FromMilliseconds(1));
                foreach (Event happened in server.Poll())
                    if (happened.Kind == EventKind.Requested) server.Accept(happened.Peer);
                client.Poll();
            }
        }
    }
}
