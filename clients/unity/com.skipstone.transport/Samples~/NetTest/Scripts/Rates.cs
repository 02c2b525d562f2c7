using Skipstone.Unity;

namespace Skipstone.Samples
{
    /// <summary>The server's rates of sending and receiving, as one line.</summary>
    internal struct Rates
    {
        private double due;
        private Stats before;
        private string text;

        internal string Text => text ?? "no server here";

        internal void Update(double now, TransportServer server)
        {
            if (now < due) return;
            double seconds = due == 0 ? 1 : now - due + 1;
            due = now + 1;
            if (server == null)
            {
                text = null;
                before = default;
                return;
            }
            Stats stats = server.Native.Stats;
            ulong bytes = stats.Sent.IpBytes - before.Sent.IpBytes;
            ulong payload = stats.Sent.PayloadBytes - before.Sent.PayloadBytes;
            double overhead = payload == 0 || bytes < payload ? 0 : 100.0 * (bytes - payload) / payload;
            text = server.Count + " players; out " + PerSecond(stats.Sent.Messages - before.Sent.Messages, seconds) + " messages, "
                + PerSecond(stats.Sent.Datagrams - before.Sent.Datagrams, seconds) + " datagrams, " + PerSecond(bytes / 1000, seconds)
                + " KB (overhead " + overhead.ToString("0") + "%); in " + PerSecond(stats.Received.Messages - before.Received.Messages, seconds)
                + " messages a second; " + stats.PacketsLost + " packets lost, " + stats.Drops + " dropped";
            before = stats;
        }

        private static string PerSecond(ulong count, double seconds) => (count / seconds).ToString("0");
    }
}
