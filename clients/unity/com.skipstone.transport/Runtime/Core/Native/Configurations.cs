using System;
using System.Collections.Generic;

namespace Skipstone.Native
{
    // From the classes that applications fill to the structures that the library reads. Texts and arrays live as long
    // as the arena.
    internal static unsafe class Configurations
    {
        internal static void Fill(NativeServerConfig* native, ServerConfig config, Arena arena)
        {
            Calls.Check(NativeMethods.skipstone_server_config_init(native, (uint)sizeof(NativeServerConfig)));
            Security security = config.Security ?? Security.SelfSigned;
            native->Listen = arena.Text(config.Listen, nameof(config.Listen));
            native->Threading = (uint)config.Threading;
            native->Security = security.Kind;
            native->Certificate = arena.Text(security.Certificate, "certificate");
            native->Key = arena.Text(security.Key, "key");
            Set(ref native->AllowsPlain, config.AllowsPlain);
            Set(ref native->WebSocket, config.WebSocket);
            Set(ref native->WebTransport, config.WebTransport);
            // catalogue: settings
            Set(ref native->IdleTimeoutMicroseconds, config.IdleTimeout, nameof(config.IdleTimeout));
            Set(ref native->KeepaliveMicroseconds, config.Keepalive, nameof(config.Keepalive));
            Set(ref native->AckDelayMicroseconds, config.AckDelay, nameof(config.AckDelay));
            Set(ref native->AckDelayMaxMicroseconds, config.AckDelayMax, nameof(config.AckDelayMax));
            native->MessageBytesMax = config.MessageBytesMax ?? native->MessageBytesMax;
            native->WindowBytes = config.WindowBytes ?? native->WindowBytes;
            native->DatagramBytesMax = config.DatagramBytesMax ?? native->DatagramBytesMax;
            native->MovesChannel = config.MovesChannel ?? native->MovesChannel;
            // catalogue: end
            native->RedundancyBudgetPercent = config.RedundancyBudgetPercent ?? native->RedundancyBudgetPercent;
            if (config.Congestion.HasValue) native->Congestion = (uint)config.Congestion.Value;
            if (config.Merging.HasValue) native->MergingMicroseconds = config.Merging.Value.Microseconds;
            if (config.ClientMerging.HasValue) native->ClientMergingMicroseconds = config.ClientMerging.Value.Microseconds;
            if (config.Redundancy.HasValue)
            {
                native->Redundancy = (uint)config.Redundancy.Value.Mode;
                native->RedundancyFirst = config.Redundancy.Value.First;
                native->RedundancySecond = config.Redundancy.Value.Second;
            }
            native->Channels = Channels(config.Channels, arena);
            native->ChannelCount = Count(config.Channels);
            native->Inbound = Inbound(config.Inbound, arena);
            native->InboundCount = Count(config.Inbound);
            // catalogue: server settings
            native->TrustedProxies = arena.Texts(config.TrustedProxies, nameof(config.TrustedProxies));
            native->TrustedProxyCount = Count(config.TrustedProxies);
            native->Denied = arena.Texts(config.Denied, nameof(config.Denied));
            native->DeniedCount = Count(config.Denied);
            Set(ref native->HandshakeTimeoutMicroseconds, config.HandshakeTimeout, nameof(config.HandshakeTimeout));
            native->ConnectionsMax = config.ConnectionsMax ?? native->ConnectionsMax;
            native->PlayersOfNetworkMax = config.PlayersOfNetworkMax ?? native->PlayersOfNetworkMax;
            native->Shards = config.Shards ?? native->Shards;
            native->QueueBytesMax = config.QueueBytesMax ?? native->QueueBytesMax;
            native->BandwidthMaxPerPeer = config.BandwidthMaxPerPeer ?? native->BandwidthMaxPerPeer;
            native->BandwidthMax = config.BandwidthMax ?? native->BandwidthMax;
            native->QueryAnswer = arena.Bytes(config.QueryAnswer);
            native->QueryAnswerLength = (uint)(config.QueryAnswer?.Length ?? 0);
            native->TransferBytesMin = config.TransferBytesMin ?? native->TransferBytesMin;
            native->MemoryPerConnection = config.MemoryPerConnection ?? native->MemoryPerConnection;
            native->MemoryPerNetwork = config.MemoryPerNetwork ?? native->MemoryPerNetwork;
            native->MemoryMax = config.MemoryMax ?? native->MemoryMax;
            native->Origins = arena.Texts(config.Origins, nameof(config.Origins));
            native->OriginCount = Count(config.Origins);
            native->Hosts = arena.Texts(config.Hosts, nameof(config.Hosts));
            native->HostCount = Count(config.Hosts);
            Set(ref native->RequiresTls, config.RequiresTls);
            // catalogue: end
            if (config.Impairment == null) return;
            native->Impaired = 1;
            native->ImpairmentSeed = config.Impairment.Seed;
            native->Up = Link(config.Impairment.Up);
            native->Down = Link(config.Impairment.Down);
        }

        internal static void Fill(NativeClientConfig* native, ClientConfig config, Arena arena)
        {
            Calls.Check(NativeMethods.skipstone_client_config_init(native, (uint)sizeof(NativeClientConfig)));
            Trust trust = config.Trust ?? Trust.System;
            native->Threading = (uint)config.Threading;
            native->Trust = trust.Kind;
            native->Authorities = arena.Text(trust.Pem, "authorities");
            for (int index = 0; trust.Fingerprint != null && index < trust.Fingerprint.Length; index++)
                native->Fingerprint[index] = trust.Fingerprint[index];
            if (config.Congestion.HasValue) native->Congestion = (uint)config.Congestion.Value;
            native->DtlsVersion = config.DtlsVersion ?? native->DtlsVersion;
            if (config.FollowsServerTime.HasValue) native->FollowsServerTime = config.FollowsServerTime.Value ? 1u : 0u;
            if (config.Merging.HasValue) native->MergingMicroseconds = config.Merging.Value.Microseconds;
            Set(ref native->HandshakeTimeoutMicroseconds, config.HandshakeTimeout, nameof(config.HandshakeTimeout));
            native->QueueBytesMax = config.QueueBytesMax ?? native->QueueBytesMax;
            native->BandwidthMax = config.BandwidthMax ?? native->BandwidthMax;
            native->MessageBytesMax = config.MessageBytesMax ?? native->MessageBytesMax;
            native->WindowBytes = config.WindowBytes ?? native->WindowBytes;
            native->DatagramBytesMax = config.DatagramBytesMax ?? native->DatagramBytesMax;
            Fill(native, config.Reconnect);
            if (config.Impairment == null) return;
            native->Impaired = 1;
            native->ImpairmentSeed = config.Impairment.Seed;
            native->Up = Link(config.Impairment.Up);
            native->Down = Link(config.Impairment.Down);
        }

        private static void Fill(NativeClientConfig* native, Reconnect reconnect)
        {
            if (reconnect == null) return;
            native->Reconnects = 1;
            native->ReconnectAttemptsMax = reconnect.AttemptsMax ?? native->ReconnectAttemptsMax;
            Set(ref native->ReconnectPauseMinMicroseconds, reconnect.PauseMin, nameof(reconnect.PauseMin));
            Set(ref native->ReconnectPauseMaxMicroseconds, reconnect.PauseMax, nameof(reconnect.PauseMax));
        }

        // An empty table is not the same as no table: the library refuses it.
        private static IntPtr Channels(IReadOnlyList<ChannelRule> rules, Arena arena)
        {
            if (rules == null) return IntPtr.Zero;
            var native = (NativeChannel*)arena.Allocate(Math.Max(rules.Count, 1) * sizeof(NativeChannel));
            for (int index = 0; index < rules.Count; index++)
            {
                ChannelRule rule = rules[index] ?? throw new ArgumentException("Channels has a rule that is null", nameof(ServerConfig.Channels));
                NativeChannel* one = native + index;
                Calls.Check(NativeMethods.skipstone_channel_init(one, (uint)sizeof(NativeChannel), rule.First, rule.Last, (uint)rule.Mode));
                one->Priority = rule.Priority;
                one->Weight = rule.Weight;
                one->Receipts = rule.Receipts ? (byte)1 : (byte)0;
                if (rule.Overflow.HasValue) one->Overflow = (uint)rule.Overflow.Value;
                one->QueueMessagesMax = rule.QueueMessagesMax ?? one->QueueMessagesMax;
                one->QueueBytesMax = rule.QueueBytesMax ?? one->QueueBytesMax;
                one->Redundancy = (uint)rule.Redundancy.Mode;
                one->RedundancyFirst = rule.Redundancy.First;
                one->RedundancySecond = rule.Redundancy.Second;
            }
            return (IntPtr)native;
        }

        internal static ChannelRule Rule(in NativeChannel native) =>
            new ChannelRule(native.First, native.Last, (DeliveryMode)native.Delivery)
            {
                Priority = native.Priority,
                Weight = native.Weight,
                Receipts = native.Receipts != 0,
                Overflow = (Overflow)native.Overflow,
                QueueMessagesMax = native.QueueMessagesMax,
                QueueBytesMax = native.QueueBytesMax,
                Redundancy = new Redundancy((RedundancyMode)native.Redundancy, native.RedundancyFirst, native.RedundancySecond),
            };

        private static IntPtr Inbound(IReadOnlyList<InboundRule> rules, Arena arena)
        {
            if (Count(rules) == 0) return IntPtr.Zero;
            var native = (NativeInboundRule*)arena.Allocate(rules.Count * sizeof(NativeInboundRule));
            for (int index = 0; index < rules.Count; index++)
            {
                InboundRule rule = rules[index] ?? throw new ArgumentException("Inbound has a rule that is null", nameof(ServerConfig.Inbound));
                NativeInboundRule* one = native + index;
                Calls.Check(NativeMethods.skipstone_inbound_rule_init(one, (uint)sizeof(NativeInboundRule), rule.First, rule.Last));
                one->Direction = (uint)rule.Direction;
                one->Violation = (uint)rule.Violation;
                one->MessageBytesMax = rule.MessageBytesMax;
                one->MessagesPerSecond = rule.MessagesPerSecond;
                one->Burst = rule.Burst;
            }
            return (IntPtr)native;
        }

        private static NativeLink Link(SimulatedLink link) =>
            link == null
                ? default
                : new NativeLink
                {
                    DelayMicroseconds = Time.ToMicroseconds(link.Delay, nameof(link.Delay)),
                    JitterMicroseconds = Time.ToMicroseconds(link.Jitter, nameof(link.Jitter)),
                    RateBitsPerSecond = link.RateBitsPerSecond,
                    Loss = link.Loss,
                    LossBurst = link.LossBurst,
                    Reorder = link.Reorder,
                    Duplicate = link.Duplicate,
                };

        private static uint Count<T>(IReadOnlyList<T> list) => (uint)(list?.Count ?? 0);

        private static void Set(ref byte field, bool? value)
        {
            if (value.HasValue) field = value.Value ? (byte)1 : (byte)0;
        }

        private static void Set(ref ulong field, TimeSpan? value, string name)
        {
            if (value.HasValue) field = Time.ToMicroseconds(value.Value, name);
        }
    }
}
