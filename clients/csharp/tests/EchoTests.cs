using System;
using System.Linq;
using System.Text;
using NUnit.Framework;

namespace Skipstone.Tests
{
    public class EchoTests
    {
        [Test]
        public void A_clients_message_is_echoed()
        {
            using (Pair pair = Pair.Connected())
            {
                pair.Client.Send(0, Encoding.UTF8.GetBytes("ping"));
                pair.Until(() => pair.AtServer.Count > 0, "a message");
                pair.Server.Send(pair.Peer, 0, pair.AtServer[0].Data);
                pair.Until(() => pair.AtClient.Count > 0, "an answer");
                Assert.AreEqual("Message 0 ping", pair.AtClient[0].ToString());
            }
        }

        [Test]
        public void A_request_contains_the_token_and_the_address()
        {
            using (var pair = new Pair(null, new byte[] { 1, 2, 255 }))
            {
                pair.Until(() => pair.AtServer.Count > 0, "a request");
                CollectionAssert.AreEqual(new byte[] { 1, 2, 255 }, pair.AtServer[0].Data);
                Assert.AreEqual("127.0.0.1:0", pair.AtServer[0].Address);
            }
        }

        [Test]
        public void Each_mode_carries_messages_in_both_directions([Values(0, 1, 2, 3, 4)] int channel)
        {
            using (Pair pair = Pair.Connected())
            {
                pair.Client.Send((ushort)channel, new byte[] { 7 });
                pair.Server.Send(pair.Peer, (ushort)channel, new byte[] { 8 });
                pair.Until(() => pair.AtServer.Count > 0 && pair.AtClient.Count > 0, "two messages");
                Assert.AreEqual((channel, 7), (pair.AtServer[0].Channel, pair.AtServer[0].Data[0]));
                Assert.AreEqual((channel, 8), (pair.AtClient[0].Channel, pair.AtClient[0].Data[0]));
            }
        }

        [Test]
        public void Messages_of_every_length_arrive_whole()
        {
            using (Pair pair = Pair.Connected())
                foreach (int length in new[] { 0, 1, 100, 1200, 70000, 1000000 })
                {
                    byte[] sent = Enumerable.Range(0, length).Select(at => (byte)(at * 31)).ToArray();
                    pair.AtServer.Clear();
                    pair.Client.Send(0, sent);
                    pair.Until(() => pair.AtServer.Count > 0, "a message of " + length);
                    CollectionAssert.AreEqual(sent, pair.AtServer[0].Data);
                }
        }

        [Test]
        public void A_segment_is_sent_without_its_surroundings()
        {
            using (Pair pair = Pair.Connected())
            {
                byte[] around = { 1, 2, 3, 4, 5 };
                pair.Client.Send(0, new ArraySegment<byte>(around, 1, 3));
                pair.Until(() => pair.AtServer.Count > 0, "a message");
                CollectionAssert.AreEqual(new byte[] { 2, 3, 4 }, pair.AtServer[0].Data);
            }
        }

        [Test]
        public void A_received_message_is_forwarded_in_place()
        {
            using (Pair pair = Pair.Connected())
            {
                pair.Client.Send(0, Encoding.UTF8.GetBytes("to all"));
                int reached = 0;
                pair.Until(() =>
                {
                    pair.Client.Drive();
                    pair.Server.Drive();
                    foreach (Event happened in pair.Server.Poll())
                        reached += pair.Server.Broadcast(Group.Everyone, happened.Channel, happened.Payload);
                    return reached > 0;
                }, "a broadcast");
                pair.Until(() => pair.AtClient.Count > 0, "what was broadcast");
                Assert.AreEqual((1, "to all"), (reached, pair.AtClient[0].Text));
            }
        }

        [Test]
        public void A_loop_keeps_its_tick_and_gets_every_event()
        {
            using (Pair pair = Pair.Connected())
            {
                const int ticks = 10, burst = 10;
                TimeSpan interval = TimeSpan.FromMilliseconds(10), began = pair.Server.Time;
                for (int tick = 0; tick < ticks; tick++)
                {
                    for (int one = 0; one < burst; one++) pair.Client.Send(0, Encoding.UTF8.GetBytes("event"));
                    pair.Client.Drive();
                    pair.Server.WaitTick(interval);
                    foreach (Event happened in pair.Server.Poll()) pair.AtServer.Add(new Seen(happened));
                }
                Assert.GreaterOrEqual(pair.Server.Time - began, TimeSpan.FromTicks(interval.Ticks * ticks));
                pair.Until(() => pair.AtServer.Count == ticks * burst, "every event");
            }
        }

        [Test]
        public void A_group_contains_exactly_its_members()
        {
            using (Pair pair = Pair.Connected())
            {
                var team = new Group(3);
                Assert.AreEqual(0, pair.Server.Broadcast(team, 0, new byte[1]));
                pair.Server.Join(pair.Peer, team);
                Assert.AreEqual(1, pair.Server.Broadcast(team, 0, new byte[1]));
                pair.Server.Leave(pair.Peer, team);
                Assert.AreEqual(0, pair.Server.Broadcast(team, 0, new byte[1]));
            }
        }

        [Test]
        public void A_client_reads_the_servers_table()
        {
            using (Pair pair = Pair.Connected())
            {
                Assert.IsTrue(pair.Client.TryReadChannel(5, out ChannelRule rule));
                Assert.AreEqual((DeliveryMode.ReliableOrdered, true), (rule.Mode, rule.Receipts));
            }
        }

        [Test]
        public void Counters_and_overviews_are_read()
        {
            using (Pair pair = Pair.Connected())
            {
                pair.Client.Send(0, new byte[100]);
                Overview overview = default;
                pair.Until(() => pair.Server.TryReadOverview(pair.Peer, out overview) && overview.Stats.Received.Messages > 0, "figures");
                Assert.AreEqual(("local", 100UL), (overview.Carrier, overview.Stats.Received.PayloadBytes));
                Assert.AreEqual(pair.Peer, overview.Peer);
                Assert.AreEqual(1UL, pair.Server.DriverStats.Locals);
                Assert.IsTrue(pair.Client.TryReadOverview(out _));
                Assert.IsNull(pair.Server.Failure);
            }
        }

        [Test]
        public void Real_sockets_carry_an_encrypted_echo()
        {
            using (Server server = Server.Start(new ServerConfig { Listen = "127.0.0.1:0" }))
            using (Client client = Client.Connect(server.Url, new byte[] { 1 }))
            {
                Assert.AreEqual(32, server.Fingerprint.Length);
                byte[][] pages = server.WebFingerprints;
                Assert.AreEqual((2, 32, 32), (pages.Length, pages[0].Length, pages[1].Length));
                CollectionAssert.AreNotEqual(pages[0], pages[1]);
                CollectionAssert.AreNotEqual(new byte[32], pages[1]);
                StringAssert.StartsWith("skip://", server.Url);
                Assert.AreEqual("127.0.0.1:" + server.Port, server.Address);
                string answer = null;
                var clock = System.Diagnostics.Stopwatch.StartNew();
                while (answer == null)
                {
                    if (clock.Elapsed > TimeSpan.FromSeconds(10)) throw new TimeoutException("there was no echo");
                    server.Wait(TimeSpan.FromMilliseconds(1));
                    foreach (Event happened in server.Poll())
                    {
                        if (happened.Kind == EventKind.Requested) server.Accept(happened.Peer);
                        if (happened.Kind == EventKind.Message) server.Send(happened.Peer, happened.Channel, happened.Payload);
                    }
                    server.Flush();
                    foreach (Event happened in client.Poll())
                    {
                        if (happened.Kind == EventKind.Connected) client.Send(0, Encoding.UTF8.GetBytes("sealed"));
                        if (happened.Kind == EventKind.Message) answer = happened.Payload.ToText();
                    }
                }
                Assert.AreEqual("sealed", answer);
                Assert.AreEqual(server.Address, client.ServerAddress);
            }
        }

        [Test]
        public void Every_line_arrives_once_and_in_order_where_datagrams_are_lost()
        {
            var lossy = new Impairment { Seed = 7, Up = new SimulatedLink { Loss = 0.05 }, Down = new SimulatedLink { Loss = 0.05 } };
            var config = new ServerConfig { Listen = "127.0.0.1:0", WebSocket = false, Security = Security.Plain };
            using (Server server = Server.Start(config))
            using (Client client = Client.Connect(server.Url, null, new ClientConfig { Impairment = lossy }))
            {
                const int lines = 500;
                int sent = 0, received = 0;
                var clock = System.Diagnostics.Stopwatch.StartNew();
                while (received < lines)
                {
                    if (clock.Elapsed > TimeSpan.FromSeconds(20)) throw new TimeoutException(received + " of " + lines + " lines came");
                    server.Wait(TimeSpan.FromMilliseconds(1));
                    foreach (Event happened in server.Poll())
                    {
                        if (happened.Kind == EventKind.Requested) server.Accept(happened.Peer);
                        if (happened.Kind == EventKind.Message)
                            Assert.AreEqual(received++, BitConverter.ToInt32(happened.Payload.ToArray(), 0));
                    }
                    bool isConnected = client.TryReadChannel(0, out _);
                    client.Poll();
                    for (int one = 0; isConnected && one < 10 && sent < lines; one++) client.Send(0, BitConverter.GetBytes(sent++));
                }
            }
        }
    }
}
