using System;
using System.Linq;
using NUnit.Framework;

namespace Skipstone.Tests
{
    public class CloseTests
    {
        [Test]
        public void Both_sides_name_the_code_and_the_reason()
        {
            using (Pair pair = Pair.Connected())
            {
                pair.Server.Close(pair.Peer, 42, "out of ammunition: \u00e9");
                Seen at(System.Collections.Generic.List<Seen> side) => side.Single(seen => seen.Kind == EventKind.Closed);
                pair.Until(() => pair.AtServer.Any(seen => seen.Kind == EventKind.Closed)
                    && pair.AtClient.Any(seen => seen.Kind == EventKind.Closed), "two ends");
                Assert.AreEqual((42UL, ClosedBy.Local, "out of ammunition: \u00e9"), (at(pair.AtServer).Code, at(pair.AtServer).ClosedBy, at(pair.AtServer).Text));
                Assert.AreEqual((42UL, ClosedBy.Peer, "out of ammunition: \u00e9"), (at(pair.AtClient).Code, at(pair.AtClient).ClosedBy, at(pair.AtClient).Text));
            }
        }

        [Test]
        public void A_refused_client_gets_the_reason()
        {
            using (var pair = new Pair())
            {
                pair.Until(() => pair.AtServer.Count > 0, "a request");
                pair.Server.Refuse(pair.AtServer[0].Peer, 7, "no such ticket");
                pair.Until(() => pair.AtClient.Count > 0, "an answer");
                Assert.AreEqual((EventKind.Closed, 7UL, "no such ticket"), (pair.AtClient[0].Kind, pair.AtClient[0].Code, pair.AtClient[0].Text));
            }
        }

        [Test]
        public void A_server_that_shuts_down_sends_a_close()
        {
            using (Server server = Server.Start(new ServerConfig { Listen = "127.0.0.1:0", Security = Security.Plain }))
            using (Client client = Client.Connect(server.Url))
            {
                Wait(() =>
                {
                    bool isConnected = false;
                    foreach (Event happened in server.Poll())
                    {
                        if (happened.Kind == EventKind.Requested) server.Accept(happened.Peer);
                        isConnected |= happened.Kind == EventKind.Connected;
                    }
                    return isConnected;
                });
                server.Shutdown(reason: "maintenance");
                Assert.Throws<ObjectDisposedException>(() => server.Flush());
                ulong code = 0;
                string reason = null;
                Wait(() =>
                {
                    foreach (Event happened in client.Poll())
                        if (happened.Kind == EventKind.Closed) (code, reason) = (happened.Code, happened.Reason);
                    return reason != null;
                });
                Assert.AreEqual((CloseCode.Shutdown, "maintenance"), (code, reason));
            }
        }

        [Test]
        public void An_absent_server_ends_with_a_reason()
        {
            var config = new ClientConfig { HandshakeTimeout = TimeSpan.FromMilliseconds(100) };
            using (Client client = Client.Connect("skip+plain://127.0.0.1:9", null, config))
            {
                ulong code = 0;
                Wait(() =>
                {
                    foreach (Event happened in client.Poll())
                        if (happened.Kind == EventKind.Closed) (code, _) = (happened.Code, happened.Reason);
                    return code != 0;
                });
                Assert.That(code, Is.EqualTo(CloseCode.HandshakeTimeout).Or.EqualTo(CloseCode.Unreachable));
            }
        }

        private static void Wait(Func<bool> isSo)
        {
            var clock = System.Diagnostics.Stopwatch.StartNew();
            while (!isSo())
            {
                if (clock.Elapsed > TimeSpan.FromSeconds(10)) throw new TimeoutException("it never happened");
                System.Threading.Thread.Sleep(1);
            }
        }
    }
}
