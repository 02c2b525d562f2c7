using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Threading;
using NUnit.Framework;
using Skipstone.Unity;
using UnityEngine;
using Netcode = Unity.Netcode;

// The transports, driven as the networking libraries drive them, over real sockets of this machine.
namespace Skipstone.Unity.Tests
{
    public abstract class NetworkTransportTests
    {
        protected static readonly ArraySegment<byte> Ping = new ArraySegment<byte>(new byte[] { 0, 1, 2, 3 }, 1, 3);

        // More than the maximum length of a message for any limit.
        protected static readonly ArraySegment<byte> TooLong = new ArraySegment<byte>(new byte[32 << 20]);

        // A port that was free just before.
        protected static TransportSettings Settings()
        {
            using (Server server = Server.Start(new ServerConfig { Listen = "127.0.0.1:0", Security = Security.Plain }))
                return new TransportSettings { Encrypt = false, Port = (ushort)server.Port, ListenAddress = "127.0.0.1" };
        }

        protected static T Component<T>() where T : MonoBehaviour, new() => new GameObject("network").AddComponent<T>();

        internal static void Until(Func<bool> isSo, Action frame)
        {
            var clock = Stopwatch.StartNew();
            while (!isSo())
            {
                if (clock.Elapsed > TimeSpan.FromSeconds(10)) throw new TimeoutException("it never happened");
                frame();
                Thread.Sleep(1);
            }
        }
    }

    public class NetcodeTests : NetworkTransportTests
    {
        [Test]
        public void A_message_of_each_delivery_goes_there_and_back()
        {
            TransportSettings settings = Settings();
            var server = Component<SkipstoneNetcodeTransport>();
            var client = Component<SkipstoneNetcodeTransport>();
            server.Settings = client.Settings = settings;
            server.Initialize();
            client.Initialize();
            Assert.IsTrue(server.StartServer());
            Assert.IsTrue(client.StartClient());
            var seen = new List<string>();
            void Frame()
            {
                Take(server, "server", seen, echo: true);
                Take(client, "client", seen, echo: false);
                server.PostLateUpdate();
            }
            Until(() => seen.Count(line => line.Contains("Connect")) == 2, Frame);
            foreach (Netcode.NetworkDelivery delivery in Enum.GetValues(typeof(Netcode.NetworkDelivery)))
            {
                seen.Clear();
                client.Send(client.ServerClientId, Ping, delivery);
                Until(() => seen.Contains("client 0 Data 1,2,3"), Frame);
                Assert.AreEqual("server 1 Data 1,2,3", seen[0]);
            }
            seen.Clear();
            server.DisconnectRemoteClient(1);
            Until(() => seen.Contains("client 0 Disconnect ") && seen.Contains("server 1 Disconnect "), Frame);
            client.Shutdown();
            server.Shutdown();
        }

        [Test]
        public void A_reliable_message_that_is_refused_disconnects()
        {
            var server = Component<SkipstoneNetcodeTransport>();
            server.Settings = Settings();
            Assert.IsTrue(server.StartServer());
            for (ulong id = 1; id <= 2; id++)
            {
                var client = Component<SkipstoneNetcodeTransport>();
                client.Settings = server.Settings;
                Assert.IsTrue(client.StartClient());
                var seen = new List<string>();
                void Frame()
                {
                    Take(server, "server", seen, echo: false);
                    Take(client, "client", seen, echo: false);
                    server.PostLateUpdate();
                }
                Until(() => seen.Count(line => line.Contains("Connect")) == 2, Frame);
                client.Send(0, TooLong, Netcode.NetworkDelivery.Unreliable);
                server.Send(id, TooLong, Netcode.NetworkDelivery.Unreliable);
                Frame();
                Assert.AreEqual(2, seen.Count, "an unreliable one does not");
                if (id == 1) client.Send(0, TooLong, Netcode.NetworkDelivery.ReliableFragmentedSequenced);
                else server.Send(id, TooLong, Netcode.NetworkDelivery.ReliableFragmentedSequenced);
                Until(() => seen.Contains("client 0 Disconnect ") && seen.Contains("server " + id + " Disconnect "), Frame);
                client.Send(0, Ping, Netcode.NetworkDelivery.Reliable);
                Assert.AreEqual(0, client.GetCurrentRtt(0));
                client.Shutdown();
            }
            server.Shutdown();
        }

        [Test]
        public void A_failed_start_is_reported_and_ends_nothing()
        {
            var one = Component<SkipstoneNetcodeTransport>();
            one.Settings = new TransportSettings { ListenAddress = "nowhere", Address = "http://a" };
            Assert.IsFalse(one.StartServer());
            Assert.IsFalse(one.StartClient());
            Assert.AreEqual(Netcode.NetworkEvent.Nothing, one.PollEvent(out _, out _, out _));
            one.Send(1, Ping, Netcode.NetworkDelivery.Reliable);
            one.DisconnectRemoteClient(1);
            one.DisconnectLocalClient();
            Assert.AreEqual(0, one.GetCurrentRtt(1));
            one.Shutdown();
            one.Shutdown();
        }

        private static void Take(SkipstoneNetcodeTransport from, string name, List<string> seen, bool echo)
        {
            while (true)
            {
                Netcode.NetworkEvent kind = from.PollEvent(out ulong id, out ArraySegment<byte> payload, out _);
                if (kind == Netcode.NetworkEvent.Nothing) return;
                seen.Add(name + " " + id + " " + kind + " " + string.Join(",", payload));
                if (echo && kind == Netcode.NetworkEvent.Data) from.Send(id, payload, Netcode.NetworkDelivery.ReliableSequenced);
            }
        }
    }

    public class MirrorTests : NetworkTransportTests
    {
        [Test]
        public void A_message_of_each_channel_goes_there_and_back()
        {
            var server = Component<SkipstoneMirrorTransport>();
            var client = Component<SkipstoneMirrorTransport>();
            server.Settings = client.Settings = Settings();
            Assert.IsTrue(server.GetMaxPacketSize() > 1000, "known before it is started");
            var seen = new List<string>();
            server.OnServerConnectedWithAddress = (id, address) => seen.Add("server " + id + " " + (address.StartsWith("127.0.0.1:") ? "joined" : address));
            server.OnServerDisconnected = id => seen.Add("server " + id + " left");
            server.OnServerDataReceived = (id, bytes, channel) => server.ServerSend(id, bytes, channel);
            client.OnClientConnected = () => seen.Add("client joined");
            client.OnClientDisconnected = () => seen.Add("client left");
            client.OnClientDataReceived = (bytes, channel) => seen.Add("client " + channel + " " + string.Join(",", bytes));
            server.ServerStart();
            Assert.IsTrue(server.ServerActive());
            client.ClientConnect("127.0.0.1");
            void Frame()
            {
                client.ClientEarlyUpdate();
                server.ServerEarlyUpdate();
                client.ClientLateUpdate();
                server.ServerLateUpdate();
            }
            Until(() => seen.Contains("client joined") && seen.Contains("server 1 joined"), Frame);
            Assert.IsTrue(client.ClientConnected());
            client.ClientSend(Ping, Mirror.Channels.Reliable);
            client.ClientSend(Ping, Mirror.Channels.Unreliable);
            Until(() => seen.Contains("client 0 1,2,3") && seen.Contains("client 1 1,2,3"), Frame);
            server.ServerDisconnect(1);
            Until(() => seen.Contains("client left") && seen.Contains("server 1 left"), Frame);
            Assert.IsFalse(client.ClientConnected());
            client.Shutdown();
            server.Shutdown();
            Assert.IsFalse(server.ServerActive());
        }

        [Test]
        public void A_reliable_message_that_is_refused_disconnects()
        {
            var server = Component<SkipstoneMirrorTransport>();
            server.Settings = Settings();
            var seen = new List<string>();
            server.OnServerConnectedWithAddress = (id, _) => seen.Add("server " + id + " joined");
            server.OnServerDisconnected = id => seen.Add("server " + id + " left");
            server.OnServerError = (id, error, _) => seen.Add("server " + id + " " + error);
            server.ServerStart();
            for (int id = 1; id <= 2; id++)
            {
                seen.Clear();
                var client = Component<SkipstoneMirrorTransport>();
                client.Settings = server.Settings;
                client.OnClientConnected = () => seen.Add("client joined");
                client.OnClientDisconnected = () => seen.Add("client left");
                client.OnClientError = (error, _) => seen.Add("client " + error);
                client.ClientConnect("127.0.0.1");
                void Frame()
                {
                    client.ClientEarlyUpdate();
                    server.ServerEarlyUpdate();
                    server.ServerLateUpdate();
                }
                Until(() => seen.Contains("client joined") && seen.Contains("server " + id + " joined"), Frame);
                if (id == 1) client.ClientSend(TooLong);
                else server.ServerSend(id, TooLong);
                Assert.AreEqual((id == 1 ? "client" : "server 2") + " InvalidSend", seen.Last());
                Assert.IsFalse(seen.Contains("client left"), "not in the midst of sending");
                Until(() => seen.Contains("client left") && seen.Contains("server " + id + " left"), Frame);
                Assert.IsFalse(client.ClientConnected());
                client.Shutdown();
            }
            server.Shutdown();
        }

        [Test]
        public void An_impossible_address_is_an_error_and_a_close()
        {
            var client = Component<SkipstoneMirrorTransport>();
            var seen = new List<string>();
            client.OnClientError = (error, text) => seen.Add(error.ToString());
            client.OnClientDisconnected = () => seen.Add("left");
            client.ClientConnect("http://nowhere");
            client.ClientSend(Ping);
            CollectionAssert.AreEqual(new[] { "Refused", "left", "ConnectionClosed" }, seen);
        }
    }

    public class FishNetTests : NetworkTransportTests
    {
        [Test]
        public void A_message_of_each_channel_goes_there_and_back()
        {
            var server = Component<SkipstoneFishNetTransport>();
            var client = Component<SkipstoneFishNetTransport>();
            server.Settings = client.Settings = Settings();
            int came = 0, back = 0;
            server.OnServerReceivedData += _ => came++;
            client.OnClientReceivedData += _ => back++;
            Assert.IsTrue(server.StartConnection(true));
            Assert.IsFalse(server.StartConnection(true), "it runs");
            Assert.IsTrue(client.StartConnection(false));
            void Frame()
            {
                server.IterateIncoming(true);
                client.IterateIncoming(false);
                client.IterateOutgoing(false);
                server.IterateOutgoing(true);
            }
            Until(() => client.GetConnectionState(false) == FishNet.Transporting.LocalConnectionState.Started, Frame);
            Until(() => server.GetConnectionState(1) == FishNet.Transporting.RemoteConnectionState.Started, Frame);
            StringAssert.StartsWith("127.0.0.1:", server.GetConnectionAddress(1));
            for (byte channel = 0; channel < 2; channel++)
            {
                client.SendToServer(channel, Ping);
                server.SendToClient(channel, Ping, 1);
            }
            Until(() => came == 2 && back == 2, Frame);
            Assert.IsTrue(server.StopConnection(1, false));
            Until(() => client.GetConnectionState(false) == FishNet.Transporting.LocalConnectionState.Stopped, Frame);
            Until(() => server.GetConnectionState(1) == FishNet.Transporting.RemoteConnectionState.Stopped, Frame);
            server.Shutdown();
            Assert.AreEqual(FishNet.Transporting.LocalConnectionState.Stopped, server.GetConnectionState(true));
        }

        [Test]
        public void A_reliable_message_that_is_refused_disconnects()
        {
            var server = Component<SkipstoneFishNetTransport>();
            server.Settings = Settings();
            Assert.IsTrue(server.StartConnection(true));
            for (int id = 1; id <= 2; id++)
            {
                var client = Component<SkipstoneFishNetTransport>();
                client.Settings = server.Settings;
                Assert.IsTrue(client.StartConnection(false));
                void Frame()
                {
                    server.IterateIncoming(true);
                    client.IterateIncoming(false);
                    server.IterateOutgoing(true);
                }
                bool isClient() => client.GetConnectionState(false) == FishNet.Transporting.LocalConnectionState.Started;
                bool isServed() => server.GetConnectionState(id) == FishNet.Transporting.RemoteConnectionState.Started;
                Until(() => isClient() && isServed(), Frame);
                client.SendToServer(1, TooLong);
                server.SendToClient(1, TooLong, id);
                Frame();
                Assert.IsTrue(isClient() && isServed(), "an unreliable one does not");
                if (id == 1) client.SendToServer(0, TooLong);
                else server.SendToClient(0, TooLong, id);
                Until(() => !isClient() && !isServed(), Frame);
                client.Shutdown();
            }
            server.Shutdown();
        }
    }
}
