using System;

namespace Skipstone
{
    /// <summary>One direction of a simulated network, for tests: it delays and loses datagrams around a real
    /// socket.</summary>
    public sealed class SimulatedLink
    {
        /// <summary>One-way delay.</summary>
        public TimeSpan Delay { get; set; }
        /// <summary>Maximum additional random delay.</summary>
        public TimeSpan Jitter { get; set; }
        /// <summary>Bits per second; 0 for no limit.</summary>
        public ulong RateBitsPerSecond { get; set; }
        /// <summary>Share of datagrams that is lost, 0 to 1.</summary>
        public double Loss { get; set; }
        /// <summary>Mean number of datagrams lost in a row; 0 for independent losses.</summary>
        public double LossBurst { get; set; }
        /// <summary>Share of datagrams that are held back, so that later ones overtake them.</summary>
        public double Reorder { get; set; }
        /// <summary>Share of datagrams that arrive twice.</summary>
        public double Duplicate { get; set; }
    }

    /// <summary>A simulated network around a server's or client's UDP socket.</summary>
    public sealed class Impairment
    {
        /// <summary>The seed of the simulation: the same seed gives the same losses.</summary>
        public ulong Seed { get; set; } = 1;
        /// <summary>Towards the server.</summary>
        public SimulatedLink Up { get; set; } = new SimulatedLink();
        /// <summary>Towards the client.</summary>
        public SimulatedLink Down { get; set; } = new SimulatedLink();
    }
}
