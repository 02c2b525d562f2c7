// The structures of skipstone.h, field by field. `AbiCheck` compares their sizes with the library's.
using System;
using System.Runtime.InteropServices;

namespace Skipstone.Native
{
    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeEvent
    {
        public uint Kind;
        public ushort Channel;
        public ushort Detail;
        public ulong Peer;
        public IntPtr Data;
        public uint Length;
        public uint AgeMicroseconds;
        public ulong Id;
        public ulong Code;
        public IntPtr Address;
        public ulong Reserved;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeChannel
    {
        public uint Size;
        public ushort First;
        public ushort Last;
        public uint Delivery;
        public uint Overflow;
        public uint Redundancy;
        public byte Priority;
        public byte Weight;
        public byte Receipts;
        public byte RedundancyFirst;
        public byte RedundancySecond;
        public byte Reserved0;
        public byte Reserved1;
        public byte Reserved2;
        public uint QueueMessagesMax;
        public uint QueueBytesMax;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeInboundRule
    {
        public uint Size;
        public ushort First;
        public ushort Last;
        public uint Direction;
        public uint Violation;
        public uint MessageBytesMax;
        public uint MessagesPerSecond;
        public uint Burst;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeLink
    {
        public ulong DelayMicroseconds;
        public ulong JitterMicroseconds;
        public ulong RateBitsPerSecond;
        public double Loss;
        public double LossBurst;
        public double Reorder;
        public double Duplicate;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeServerConfig
    {
        public uint Size;
        public uint Threading;
        public IntPtr Listen;
        public uint Security;
        public byte AllowsPlain;
        public byte WebSocket;
        public byte WebTransport;
        public byte RequiresTls;
        public IntPtr Certificate;
        public IntPtr Key;
        public IntPtr Channels;
        public IntPtr Inbound;
        public uint ChannelCount;
        public uint InboundCount;
        // catalogue: settings of version 1.0
        public ulong IdleTimeoutMicroseconds;
        public ulong KeepaliveMicroseconds;
        public ulong AckDelayMicroseconds;
        public ulong AckDelayMaxMicroseconds;
        public uint MessageBytesMax;
        public uint WindowBytes;
        public uint DatagramBytesMax;
        // catalogue: end
        public uint Redundancy;
        public byte RedundancyFirst;
        public byte RedundancySecond;
        public ushort RedundancyBudgetPercent;
        public uint Shards;
        public ulong MergingMicroseconds;
        public ulong ClientMergingMicroseconds;
        public ulong HandshakeTimeoutMicroseconds;
        public uint ConnectionsMax;
        public uint Congestion;
        public ulong QueueBytesMax;
        public ulong BandwidthMaxPerPeer;
        public ulong BandwidthMax;
        public ulong MemoryPerConnection;
        public ulong MemoryPerNetwork;
        public ulong MemoryMax;
        public IntPtr Origins;
        public IntPtr Hosts;
        public IntPtr TrustedProxies;
        public uint OriginCount;
        public uint HostCount;
        public uint TrustedProxyCount;
        public uint TransferBytesMin;
        public IntPtr QueryAnswer;
        public uint QueryAnswerLength;
        public uint Impaired;
        public ulong ImpairmentSeed;
        public NativeLink Up;
        public NativeLink Down;
        public IntPtr Denied;
        public uint DeniedCount;
        public uint PlayersOfNetworkMax;
        // catalogue: settings since version 1.4
        public uint MovesChannel;
        // catalogue: end
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeClientConfig
    {
        public uint Size;
        public uint Threading;
        public uint Trust;
        public uint Congestion;
        public IntPtr Authorities;
        public fixed byte Fingerprint[32];
        public uint DtlsVersion;
        public uint FollowsServerTime;
        public ulong MergingMicroseconds;
        public ulong HandshakeTimeoutMicroseconds;
        public ulong QueueBytesMax;
        public ulong BandwidthMax;
        public uint MessageBytesMax;
        public uint WindowBytes;
        public uint DatagramBytesMax;
        public uint TransferBytesMin;
        public uint Impaired;
        public uint Reserved;
        public ulong ImpairmentSeed;
        public NativeLink Up;
        public NativeLink Down;
        public uint Reconnects;
        public uint ReconnectAttemptsMax;
        public ulong ReconnectPauseMinMicroseconds;
        public ulong ReconnectPauseMaxMicroseconds;
    }
}
