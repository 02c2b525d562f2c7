using System;
using System.Text;
using Skipstone.Unity;

namespace Skipstone.Samples
{
    /// <summary>A client that sends one sentence a second.</summary>
    internal sealed class StressClient : IDisposable
    {
        private static readonly byte[][] Sentences = Array.ConvertAll(new[]
        {
            "Watch out, there is somebody behind you!",
            "I have found the key, meet me at the gate.",
            "Does anybody need ammunition?",
            "Good game, everybody.",
            "My sword broke, and so did my shield; cover me while I go back to the village for another one.",
        }, Encoding.UTF8.GetBytes);

        private readonly TransportClient client;
        private readonly Random random;
        private double next;

        internal StressClient(TransportClient client, int number)
        {
            this.client = client;
            random = new Random(number);
        }

        internal void Update(double now)
        {
            while (client.TryTake(out _)) { }
            if (!client.IsConnected || now < next) return;
            // The first line at a random time of its second, so that the clients do not all send at once.
            next = next == 0 ? now + random.NextDouble() : now + 1;
            client.Send(TransportChannels.ReliableOrdered, new ArraySegment<byte>(Sentences[random.Next(Sentences.Length)]));
        }

        public void Dispose() => client.Dispose();
    }
}
