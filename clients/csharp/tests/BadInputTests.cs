using System;
using System.Linq;
using System.Threading;
using NUnit.Framework;
using Skipstone.Native;

namespace Skipstone.Tests
{
    // Every error of an application is an exception that names the cause and the remedy.
    public unsafe class BadInputTests
    {
        private static SkipstoneException Refused(Status status, TestDelegate call)
        {
            SkipstoneException error = Assert.Throws<SkipstoneException>(call);
            Assert.AreEqual(status, error.Status, error.Message);
            Assert.That(error.Message.Length, Is.GreaterThan(10), "the text says what is wrong");
            return error;
        }

        [Test]
        public void Null_is_refused_before_the_library_sees_it()
        {
            Assert.Throws<ArgumentNullException>(() => Server.Start(null));
            Assert.Throws<ArgumentNullException>(() => Client.Connect(null));
            Assert.Throws<ArgumentNullException>(() => Trust.Authorities(null));
            Assert.Throws<ArgumentNullException>(() => Trust.Pinned(null));
            using (Pair pair = Pair.Connected())
            {
                Assert.Throws<ArgumentNullException>(() => pair.Client.Send(0, (byte[])null));
                Assert.Throws<ArgumentNullException>(() => pair.Server.Send(pair.Peer, 0, (byte[])null));
                Refused(Status.BadPointer, () => Calls.Check(NativeMethods.skipstone_server_start(null, null)));
            }
        }

        [Test]
        public void An_empty_segment_is_a_message_without_bytes()
        {
            using (Pair pair = Pair.Connected())
            {
                pair.Client.Send(0, default(ArraySegment<byte>));
                pair.Until(() => pair.AtServer.Count > 0, "a message");
                Assert.AreEqual(0, pair.AtServer[0].Data.Length);
            }
        }

        [Test]
        public void A_null_rule_or_a_nul_in_a_text_is_refused()
        {
            Assert.Throws<ArgumentException>(() => Server.Start(new ServerConfig { Channels = new ChannelRule[1] }));
            Assert.Throws<ArgumentException>(() => Server.Start(new ServerConfig { Inbound = new InboundRule[1] }));
            Assert.Throws<ArgumentException>(() => Server.Start(new ServerConfig { Origins = new string[1] }));
            Assert.Throws<ArgumentException>(() => Server.Start(new ServerConfig { Listen = "127.0.0.1:0\0" }));
            Assert.Throws<ArgumentException>(() => Client.Connect("skip://a\0b"));
        }

        [Test]
        public void Invalid_configuration_is_named()
        {
            StringAssert.Contains("listen", Refused(Status.BadValue, () => Server.Start(new ServerConfig { Listen = "nowhere" })).Message);
            SkipstoneException empty = Refused(Status.BadValue, () => Server.Start(new ServerConfig { Listen = null, Channels = new ChannelRule[0] }));
            StringAssert.Contains("channels is empty", empty.Message);
            Refused(Status.BadUrl, () => Client.Connect("http://127.0.0.1"));
            Refused(Status.TooLong, () => Client.Connect("skip+plain://127.0.0.1:9", new byte[1025]));
            Refused(Status.BadIdentity, () => Server.Start(new ServerConfig { Listen = "127.0.0.1:0", Security = Security.Pem("none", "none") }));
            Assert.Throws<ArgumentOutOfRangeException>(() => Server.Start(new ServerConfig { IdleTimeout = TimeSpan.FromSeconds(-1) }));
            Assert.Throws<ArgumentOutOfRangeException>(() => Server.Start(new ServerConfig { EventsPerPoll = 0 }));
            Assert.Throws<ArgumentException>(() => Trust.Pinned(new byte[31]));
        }

        [Test]
        public void Missing_peers_and_channels_are_named()
        {
            using (Pair pair = Pair.Connected())
            {
                Refused(Status.NoSuchChannel, () => pair.Client.Send(999, new byte[1]));
                Refused(Status.UnknownPeer, () => pair.Server.Send(new PeerId(77), 0, new byte[1]));
                Refused(Status.UnknownPeer, () => pair.Server.Close(new PeerId(ulong.MaxValue)));
                Refused(Status.NotWaiting, () => pair.Server.Accept(pair.Peer));
                Refused(Status.BadValue, () => pair.Server.Join(pair.Peer, Group.Everyone));
                Refused(Status.BadValue, () => pair.Server.Close(pair.Peer, ulong.MaxValue));
                Assert.AreEqual(Status.NoSuchChannel, pair.Client.TrySend(999, new ArraySegment<byte>(new byte[1]), out _));
                Assert.IsFalse(pair.Server.TryReadOverview(new PeerId(77), out _));
            }
        }

        [Test]
        public void A_message_that_is_too_long_is_refused()
        {
            using (Pair pair = Pair.Connected(config => config.MessageBytesMax = 2000))
            {
                Refused(Status.TooLong, () => pair.Client.Send(0, new byte[2001]));
                Refused(Status.TooLong, () => pair.Server.Send(pair.Peer, 0, new byte[2001]));
                Assert.Throws<ArgumentOutOfRangeException>(() => pair.Client.TrySend(0, null, -1, out _));
                Assert.Throws<ArgumentOutOfRangeException>(() => pair.Server.Broadcast(Group.Everyone, 0, null, -1));
                Refused(Status.BadPointer, () => pair.Server.Broadcast(Group.Everyone, 0, null, 1));
            }
        }

        [Test]
        public void A_connection_before_or_after_its_lifetime_takes_no_message()
        {
            using (var pair = new Pair())
            {
                Refused(Status.NotConnected, () => pair.Client.Send(0, new byte[1]));
                Refused(Status.StillOpen, () => pair.Client.Reconnect());
                pair.Until(() => pair.AtServer.Count > 0, "a request");
                pair.Server.Refuse(pair.AtServer[0].Peer);
                pair.Until(() => pair.AtClient.Count > 0, "an answer");
                Refused(Status.NotConnected, () => pair.Client.Send(0, new byte[1]));
            }
        }

        [Test]
        public void A_disposed_object_and_a_stale_handle_are_errors()
        {
            Pair pair = Pair.Connected();
            pair.Client.Dispose();
            pair.Client.Dispose();
            Assert.Throws<ObjectDisposedException>(() => pair.Client.Send(0, new byte[1]));
            Assert.Throws<ObjectDisposedException>(() => pair.Client.Poll());
            Assert.Throws<ObjectDisposedException>(() => pair.Client.Close());
            pair.Server.Dispose();
            Assert.Throws<ObjectDisposedException>(() => pair.Server.Poll());
            Assert.Throws<ObjectDisposedException>(() => pair.Server.Url.ToString());
            foreach (ulong stale in new[] { 0UL, 1UL, ulong.MaxValue })
            {
                Refused(Status.BadHandle, () => new EventBuffer(new NativeHandle(stale, "test"), 1).Poll());
                Refused(Status.BadHandle, () => Calls.Check(NativeMethods.skipstone_release(stale)));
            }
        }

        [Test]
        public void Handles_that_were_all_released_are_stale()
        {
            // Unity's editor does this before it reloads scripts.
            using (Pair pair = Pair.Connected())
            {
                Library.ReleaseAll();
                Refused(Status.BadHandle, () => pair.Server.Poll());
                Refused(Status.BadHandle, () => pair.Client.Poll());
            }
        }

        [Test]
        public void An_event_is_invalid_after_the_next_poll()
        {
            using (var pair = new Pair())
            {
                Event kept = default;
                pair.Until(() =>
                {
                    pair.Server.Drive();
                    EventBatch batch = pair.Server.Poll();
                    if (batch.Count == 0) return false;
                    kept = batch[0];
                    Assert.AreEqual(EventKind.Requested, kept.Kind);
                    Assert.Throws<IndexOutOfRangeException>(() => _ = pair.Server.Poll()[0]);
                    return true;
                }, "a request");
                Assert.Throws<InvalidOperationException>(() => _ = kept.Peer);
                Assert.Throws<InvalidOperationException>(() => kept.Payload.ToArray());
                Assert.Throws<InvalidOperationException>(() => _ = kept.Payload.Pointer == null);
            }
        }

        [Test]
        public void An_event_is_invalid_after_its_owner_ends()
        {
            Event kept;
            using (var pair = new Pair())
            {
                EventBatch batch;
                do
                {
                    pair.Client.Drive();
                    pair.Server.Drive();
                    batch = pair.Server.Poll();
                } while (batch.Count == 0);
                kept = batch[0];
            }
            Assert.Throws<InvalidOperationException>(() => kept.Payload.ToArray());
        }

        [Test]
        public void A_payload_is_read_within_its_bounds()
        {
            using (var pair = new Pair(null, new byte[] { 5, 6 }))
            {
                EventBatch batch;
                do
                {
                    pair.Client.Drive();
                    pair.Server.Drive();
                    batch = pair.Server.Poll();
                } while (batch.Count == 0);
                Payload token = batch[0].Payload;
                Assert.AreEqual((2, (byte)6), (token.Length, token[1]));
                Assert.Throws<IndexOutOfRangeException>(() => _ = token[2]);
                Assert.Throws<IndexOutOfRangeException>(() => _ = token[-1]);
                Assert.Throws<ArgumentException>(() => token.CopyTo(new byte[1]));
                Assert.Throws<ArgumentException>(() => token.CopyTo(new byte[4], 3));
                Assert.Throws<ArgumentException>(() => token.CopyTo(new byte[4], -1));
                Assert.Throws<ArgumentException>(() => token.CopyTo(new byte[4], int.MaxValue));
                Assert.Throws<ArgumentNullException>(() => token.CopyTo(null, 0));
                byte[] scratch = null;
                CollectionAssert.AreEqual(new byte[] { 5, 6 }, token.CopyTo(ref scratch).ToArray());
            }
        }

        [Test]
        public void A_second_polling_thread_gets_an_error_and_leaves_the_events_unchanged()
        {
            using (var pair = new Pair())
            {
                EventBatch batch;
                do
                {
                    pair.Client.Drive();
                    pair.Server.Drive();
                    batch = pair.Server.Poll();
                } while (batch.Count == 0);
                SkipstoneException error = OnAnotherThread(() => pair.Server.Poll());
                Assert.AreEqual(Status.WrongThread, error.Status);
                Assert.AreEqual(EventKind.Requested, batch[0].Kind, "what the first thread has is still there");
                pair.Server.EndPoll();
                Assert.IsNull(OnAnotherThread(() =>
                {
                    pair.Server.Poll();
                    pair.Server.EndPoll();
                }));
                Assert.Throws<InvalidOperationException>(() => _ = batch[0].Kind);
                pair.Server.Poll();
            }
        }

        [Test]
        public void Threads_that_send_and_one_that_disposes_meet_no_crash()
        {
            for (int round = 0; round < 20; round++)
            {
                Pair pair = Pair.Connected();
                Exception wrong = null;
                var senders = new Thread[3];
                for (int one = 0; one < senders.Length; one++)
                {
                    senders[one] = new Thread(() =>
                    {
                        try
                        {
                            var bytes = new ArraySegment<byte>(new byte[10]);
                            while (pair.Server.TrySend(pair.Peer, 0, bytes, out _) != Status.BadHandle) { }
                        }
                        catch (ObjectDisposedException) { }
                        catch (Exception error)
                        {
                            wrong = error;
                        }
                    });
                    senders[one].Start();
                }
                pair.Step();
                pair.Dispose();
                foreach (Thread sender in senders) Assert.IsTrue(sender.Join(10000), "a sender goes on for ever");
                Assert.IsNull(wrong);
            }
        }

        [Test]
        public void Undisposed_handles_are_released_by_the_garbage_collector()
        {
            string url = Abandoned();
            int port = int.Parse(url.Substring(url.LastIndexOf(':') + 1));
            for (int attempt = 0; ; attempt++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
                try
                {
                    // The port must not be used by another socket.
                    using (Server.Start(new ServerConfig { Listen = "127.0.0.1:" + port, Security = Security.Plain })) break;
                }
                catch (SkipstoneException error) when (error.Status == Status.System && attempt < 100)
                {
                    Thread.Sleep(20);
                }
            }
        }

        // A separate frame and thread: a conservative collector finds no reference to the object.
        private static string Abandoned()
        {
            string url = null;
            var thread = new Thread(() => url = Server.Start(new ServerConfig { Listen = "127.0.0.1:0", Security = Security.Plain }).Url);
            thread.Start();
            thread.Join();
            return url;
        }

        private static SkipstoneException OnAnotherThread(Action call)
        {
            SkipstoneException thrown = null;
            var thread = new Thread(() =>
            {
                try
                {
                    call();
                }
                catch (SkipstoneException error)
                {
                    thrown = error;
                }
            });
            thread.Start();
            thread.Join();
            return thrown;
        }
    }
}
