using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Text;
using NUnit.Framework;

namespace Skipstone.Tests
{
    public class ReconnectTests
    {
        [Test]
        public void A_client_reconnects_with_its_latest_token()
        {
            var config = new ClientConfig { Reconnect = new Reconnect { PauseMin = TimeSpan.FromMilliseconds(20) } };
            using (Server server = Server.Start(new ServerConfig { Listen = "127.0.0.1:0" }))
            using (Client client = Client.Connect(server.Url, Encoding.UTF8.GetBytes("first"), config))
            {
                Assert.IsNull(client.ReturnsIn);
                Assert.AreEqual(Status.TooLong, Assert.Throws<SkipstoneException>(() => client.SetToken(new byte[1025])).Status);
                client.SetToken(Encoding.UTF8.GetBytes("again"));
                var tokens = new List<string>();
                int connected = 0, closed = 0;
                var clock = Stopwatch.StartNew();
                while (connected < 2)
                {
                    if (clock.Elapsed > TimeSpan.FromSeconds(10)) throw new TimeoutException("the client does not come back");
                    server.Wait(TimeSpan.FromMilliseconds(1));
                    foreach (Event happened in server.Poll())
                    {
                        if (happened.Kind == EventKind.Requested)
                        {
                            tokens.Add(happened.Payload.ToText());
                            server.Accept(happened.Peer);
                        }
                        if (happened.Kind == EventKind.Connected && tokens.Count == 1) server.Close(happened.Peer, CloseCode.Restart, "retry=60..60");
                    }
                    foreach (Event happened in client.Poll())
                    {
                        if (happened.Kind == EventKind.Connected) connected++;
                        if (happened.Kind != EventKind.Closed) continue;
                        closed++;
                        Assert.LessOrEqual(client.ReturnsIn.Value, TimeSpan.FromMilliseconds(100));
                        Assert.AreEqual(Status.StillOpen, Assert.Throws<SkipstoneException>(client.Reconnect).Status);
                    }
                }
                CollectionAssert.AreEqual(new[] { "first", "again" }, tokens);
                Assert.AreEqual(1, closed);
                Assert.IsNull(client.ReturnsIn);
            }
        }

        [Test]
        public void Invalid_pauses_are_refused()
        {
            var config = new ClientConfig { Reconnect = new Reconnect { PauseMin = TimeSpan.FromSeconds(2), PauseMax = TimeSpan.FromSeconds(1) } };
            SkipstoneException refused = Assert.Throws<SkipstoneException>(() => Client.Connect("skip+plain://127.0.0.1:9", null, config));
            Assert.AreEqual(Status.BadValue, refused.Status);
            StringAssert.Contains("reconnect", refused.Message);
        }
    }
}
