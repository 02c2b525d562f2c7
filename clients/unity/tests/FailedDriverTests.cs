using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text;
using NUnit.Framework;
using UnityEngine;

// A server whose driver fails while it runs: the system invalidates the descriptor on which it waits.
namespace Skipstone.Unity.Tests
{
    public class FailedDriverTests
    {
        private readonly List<string> logged = new List<string>();
        private List<int> polled;
        private TransportServer server;
        private Client client;

        [DllImport("libc")]
        private static extern int dup2(int from, int to);

        [DllImport("libc")]
        private static extern IntPtr readlink(string path, byte[] buffer, UIntPtr capacity);

        [SetUp]
        public void Start()
        {
            if (!Directory.Exists("/proc/self/fd")) Assert.Ignore("only Linux shows what a process waits on");
            logged.Clear();
            Application.logMessageReceived += Log;
            List<int> before = Polled();
            server = new TransportServer(new ServerConfig
            {
                Listen = "127.0.0.1:0",
                Security = Security.Plain,
                Threading = Threading.Stepped,
                Channels = TransportChannels.Table,
            });
            polled = Polled().Except(before).ToList();
            Assert.AreEqual(1, polled.Count, "a stepped server waits on one thing");
            client = Client.Connect(server.Native.Url);
        }

        [TearDown]
        public void Stop()
        {
            Application.logMessageReceived -= Log;
            client?.Dispose();
            server?.Dispose();
        }

        [Test]
        public void Calls_of_every_frame_ignore_it_and_one_line_reports_it()
        {
            Take(TransportEventKind.Connected);
            Fail();
            for (int frame = 0; frame < 3; frame++)
            {
                server.Flush();
                Assert.IsFalse(server.Disconnect(1));
                Assert.AreEqual(Status.DriverGone, server.SendOrEnd(1, 0, default));
            }
            Assert.AreEqual(1, logged.Count, string.Join("; ", logged));
            StringAssert.Contains(server.Native.Failure, logged[0]);
            Assert.AreEqual(1, Take(TransportEventKind.Disconnected).Connection);
            server.Flush();
            Assert.IsFalse(server.TryTake(out _));
        }

        [Test]
        public void A_client_waiting_to_be_accepted_is_harmless()
        {
            foreach (bool isAdmitted in new[] { true, false })
            {
                bool wasAsked = false;
                server.Admits = _ =>
                {
                    Fail();
                    wasAsked = true;
                    return isAdmitted;
                };
                NetworkTransportTests.Until(() => wasAsked, () =>
                {
                    server.Native.Drive();
                    Assert.IsFalse(server.TryTake(out _));
                });
                Assert.AreEqual(1, logged.Count, string.Join("; ", logged));
                Stop();
                Start();
            }
        }

        private void Log(string text, string stack, LogType type) => logged.Add(text);

        private TransportEvent Take(TransportEventKind kind)
        {
            TransportEvent happened = TransportEvent.Empty;
            NetworkTransportTests.Until(() => server.TryTake(out happened) && happened.Kind == kind, () =>
            {
                if (server.Native.Failure == null) server.Native.Drive();
            });
            return happened;
        }

        // A descriptor that cannot be polled, under the number of the one on which the driver waits.
        private void Fail()
        {
            using (FileStream nothing = File.OpenRead("/dev/null"))
                Assert.AreEqual(polled[0], dup2(nothing.SafeFileHandle.DangerousGetHandle().ToInt32(), polled[0]));
            try
            {
                server.Native.Drive();
            }
            catch (SkipstoneException)
            {
            }
            Assert.IsNotNull(server.Native.Failure);
        }

        // The descriptors on which threads of this process wait.
        private static List<int> Polled()
        {
            var buffer = new byte[100];
            return Directory.GetFileSystemEntries("/proc/self/fd").Where(path =>
            {
                int length = readlink(path, buffer, (UIntPtr)buffer.Length).ToInt32();
                return length > 0 && Encoding.ASCII.GetString(buffer, 0, length).Contains("eventpoll");
            }).Select(path => int.Parse(Path.GetFileName(path))).ToList();
        }
    }
}
