// The statistics of skipstone.h, field by field.
using System.Runtime.InteropServices;

namespace Skipstone.Native
{
    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeFlow
    {
        // catalogue: flow
        public ulong Datagrams;
        public ulong Messages;
        public ulong PayloadBytes;
        public ulong DatagramBytes;
        public ulong IpBytes;
        // catalogue: end
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeStats
    {
        public uint Size;
        public uint Reserved;
        // catalogue: counters
        public NativeFlow Sent;
        public NativeFlow Received;
        public ulong PacketsLost;
        public ulong PacketsSpurious;
        public ulong Resent;
        public ulong Probes;
        public ulong RepairsSent;
        public ulong CopiesSent;
        public ulong RedundancyBytesSent;
        public ulong PacketsRecovered;
        public ulong PacketsRecoveredByPeer;
        public ulong PathsChanged;
        public ulong QueueOverflows;
        public ulong Drops;
        public ulong AcksOverdue;
        public ulong PathsRefused;
        public ulong BlackHoles;
        // catalogue: end
    }

    // The counters in the middle of an overview, which never change.
    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeStatsOf1_0
    {
        public uint Size;
        public uint Reserved;
        // catalogue: counters of version 1.0
        public NativeFlow Sent;
        public NativeFlow Received;
        public ulong PacketsLost;
        public ulong PacketsSpurious;
        public ulong Resent;
        public ulong Probes;
        public ulong RepairsSent;
        public ulong CopiesSent;
        public ulong RedundancyBytesSent;
        public ulong PacketsRecovered;
        public ulong PacketsRecoveredByPeer;
        public ulong PathsChanged;
        public ulong QueueOverflows;
        public ulong Drops;
        // catalogue: end
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeOverview
    {
        public uint Size;
        public uint DatagramBytes;
        public ulong Peer;
        public ulong RttMicroseconds;
        public ulong RttVariationMicroseconds;
        public ulong RttMinMicroseconds;
        public ulong QueuedMessages;
        public ulong QueuedBytes;
        public ulong HeldBytes;
        public ulong BytesInFlight;
        public ulong CongestionWindow;
        public double SentMessagesPerSecond;
        public double SentBytesPerSecond;
        public double SentLoss;
        public double ReceivedMessagesPerSecond;
        public double ReceivedBytesPerSecond;
        public double ReceivedLoss;
        public fixed byte Carrier[8];
        public NativeStatsOf1_0 Stats;
        public ulong AvailableBytesPerSecond;
        public double SentPayloadBytesPerSecond;
        public double ReceivedPayloadBytesPerSecond;
        // catalogue: counters since version 1.4
        public ulong AcksOverdue;
        public ulong PathsRefused;
        public ulong BlackHoles;
        // catalogue: end
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeDriverStats
    {
        public uint Size;
        public uint AreBuffersShort;
        // catalogue: driver counters
        public ulong Rounds;
        public ulong SendCalls;
        public ulong SendErrors;
        public ulong ReceiveDrops;
        public ulong WebSockets;
        public ulong SecureWebSockets;
        public ulong RawStreams;
        public ulong Locals;
        public ulong DtlsSessions;
        public ulong WebTransportSessions;
        public ulong Denied;
        public ulong ReceiveBufferBytes;
        public ulong ImpairmentDrops;
        public ulong MisroutedHandedOn;
        public ulong MisroutedDropped;
        public ulong DtlsBegun;
        public ulong DtlsEstablished;
        public ulong DtlsDisplaced;
        public ulong DtlsDropped;
        public ulong WebTransportBegun;
        public ulong WebTransportEstablished;
        public ulong WebTransportGranted;
        public ulong WebTransportRetries;
        public ulong WebTransportDisplaced;
        public ulong WebTransportRefused;
        public ulong WebTransportBreaches;
        public ulong WebTransportDropped;
        public ulong StreamsAccepted;
        public ulong StreamsTimedOut;
        public ulong StreamsDisplaced;
        public ulong StreamsAnswered;
        public ulong StreamsNotUpgraded;
        public ulong StreamsLost;
        public ulong StreamsClosed;
        public ulong StreamsMalformedRequests;
        public ulong StreamsOversizedRequests;
        public ulong StreamsBrokenFrames;
        public ulong StreamsOversizedMessages;
        public ulong StreamsTlsFailures;
        public ulong StreamsOverBudget;
        public ulong StreamsBadProxyHeaders;
        public ulong StreamsNotTaken;
        public ulong StreamsForeign;
        public ulong RoundsCut;
        public ulong RoundCostMaxMicroseconds;
        public ulong StreamsTooDear;
        // catalogue: end
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeServerTime
    {
        public ulong AtMicroseconds;
        public ulong ErrorMicroseconds;
    }
}
