using System;
using System.Reflection;
using NUnit.Framework;

namespace Skipstone.Tests
{
    public class GarbageTests
    {
        private const int Warm = 2000;

        // .NET counts every byte. Mono only reports collections: with more messages, less garbage per message triggers
        // one. With MONO_GC_PARAMS=nursery-size=256k, as these tests are run, the limit is less than two bytes.
        private static readonly bool IsMono = Type.GetType("Mono.Runtime") != null;
        private static int Messages => IsMono ? 200000 : 20000;

        [Test]
        public void Nothing_is_allocated_per_message()
        {
            using (Pair pair = Pair.Connected())
            {
                var loop = new Loop(pair);
                loop.Run(Warm);
                (long bytes, int collections) = Measure(() => loop.Run(Messages));
                Console.WriteLine(bytes + " bytes and " + collections + " collections for " + Messages + " messages there and back");
                Assert.AreEqual((0L, 0), (bytes, collections));
            }
        }

        [Test]
        public void The_measure_sees_two_bytes_of_garbage_per_message()
        {
            (long bytes, int collections) = Measure(() =>
            {
                // An object has 16 bytes, or 24.
                for (int one = 0; one < Messages / 8; one++) kept = new object();
            });
            if (IsMono && (Environment.GetEnvironmentVariable("MONO_GC_PARAMS") ?? "").IndexOf("nursery-size=256k", StringComparison.Ordinal) < 0)
                Assert.Ignore("MONO_GC_PARAMS=nursery-size=256k makes Mono see it");
            Assert.That(bytes + collections, Is.GreaterThan(0));
        }

        private static object kept;

        private static (long, int) Measure(Action run)
        {
            GC.Collect();
            long before = Allocated();
            int collections = GC.CollectionCount(0);
            run();
            collections = GC.CollectionCount(0) - collections;
            return (Allocated() - before, collections);
        }

        // A message there and back again, as a game's loop has it.
        private sealed class Loop
        {
            private readonly Pair pair;
            private readonly ArraySegment<byte> payload = new ArraySegment<byte>(new byte[64]);
            private byte[] scratch = new byte[64];

            internal Loop(Pair pair) => this.pair = pair;

            internal void Run(int messages)
            {
                int sent = 0, back = 0;
                while (back < messages)
                {
                    for (int one = 0; one < 16 && sent < messages; one++, sent++)
                        if (pair.Client.TrySend(0, payload, out _) != Status.Ok) throw new InvalidOperationException("not sent");
                    pair.Client.Drive();
                    pair.Server.Drive();
                    foreach (Event happened in pair.Server.Poll())
                    {
                        if (happened.Kind != EventKind.Message) continue;
                        ArraySegment<byte> copy = happened.Payload.CopyTo(ref scratch);
                        pair.Server.Send(happened.Peer, happened.Channel, copy, happened.Age);
                    }
                    pair.Server.Flush();
                    pair.Server.Drive();
                    pair.Client.Drive();
                    foreach (Event happened in pair.Client.Poll())
                        if (happened.Kind == EventKind.Message && happened.Payload[0] == 0) back++;
                }
            }
        }

        private delegate long Counter();

        // Bytes allocated by this thread; 0 on Mono.
        private static readonly Counter Allocated = Choose();

        private static Counter Choose()
        {
            MethodInfo exact = typeof(GC).GetMethod("GetAllocatedBytesForCurrentThread", BindingFlags.Static | BindingFlags.Public);
            if (exact != null && !IsMono) return (Counter)Delegate.CreateDelegate(typeof(Counter), exact);
            return () => 0;
        }
    }
}
