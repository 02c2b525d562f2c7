using System;
using System.Reflection;
using System.Runtime.CompilerServices;
using NUnit.Framework;

namespace Skipstone.Tests
{
    public class GarbageTests
    {
        private const int Warm = 2000;
        private const int Messages = 20000;

        [Test]
        public void Nothing_is_allocated_per_message()
        {
            using (Pair pair = Pair.Connected())
            {
                var loop = new Loop(pair);
                loop.Run(Warm);
                long before = Allocated();
                int collections = GC.CollectionCount(0);
                loop.Run(Messages);
                long bytes = Allocated() - before;
                collections = GC.CollectionCount(0) - collections;
                Console.WriteLine(bytes + " bytes and " + collections + " collections for " + Messages + " messages there and back");
                Assert.AreEqual((0L, 0), (bytes, collections));
            }
        }

        [Test]
        public void The_measure_sees_a_single_object()
        {
            long before = Allocated();
            object kept = Make();
            long bytes = Allocated() - before;
            GC.KeepAlive(kept);
            Assert.That(bytes, Is.GreaterThanOrEqualTo(Size));
        }

        // Mono counts whole blocks that it hands to a thread, so that a single object would not show.
        private static readonly bool IsMono = Type.GetType("Mono.Runtime") != null;
        private static int Size => IsMono ? 1 << 20 : 100;

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static object Make() => new byte[Size];

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

        // .NET counts every byte of a thread, and Mono the bytes of its heap, if nothing is collected meanwhile.
        private static readonly Counter Allocated = Choose();

        private static Counter Choose()
        {
            MethodInfo exact = typeof(GC).GetMethod("GetAllocatedBytesForCurrentThread", BindingFlags.Static | BindingFlags.Public);
            if (exact != null && !IsMono) return (Counter)Delegate.CreateDelegate(typeof(Counter), exact);
            return () => GC.GetTotalMemory(false);
        }
    }
}
