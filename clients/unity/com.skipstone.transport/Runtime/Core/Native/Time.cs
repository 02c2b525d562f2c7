using System;

namespace Skipstone.Native
{
    internal static class Time
    {
        private const long TicksPerMicrosecond = TimeSpan.TicksPerMillisecond / 1000;

        internal static TimeSpan FromMicroseconds(ulong microseconds)
        {
            const ulong most = (ulong)(long.MaxValue / TicksPerMicrosecond);
            return new TimeSpan((long)Math.Min(microseconds, most) * TicksPerMicrosecond);
        }

        // A negative value is an error of the caller, and not a wait of 580,000 years.
        internal static ulong ToMicroseconds(TimeSpan span, string name)
        {
            if (span < TimeSpan.Zero) throw new ArgumentOutOfRangeException(name, span, name + " is negative");
            return (ulong)(span.Ticks / TicksPerMicrosecond);
        }
    }
}
