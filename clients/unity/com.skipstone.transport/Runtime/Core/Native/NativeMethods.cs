using System;
using System.Runtime.InteropServices;

namespace Skipstone.Native
{
    // The functions of skipstone.h. Everything is blittable, as IL2CPP requires: no marshalling, no delegates.
    internal static unsafe class NativeMethods
    {
#if UNITY_IOS && !UNITY_EDITOR
        // iOS links plugins statically.
        private const string Library = "__Internal";
#else
        private const string Library = "skipstone";
#endif
        private const CallingConvention C = CallingConvention.Cdecl;

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern byte* skipstone_version();

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern uint skipstone_abi_version();

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern uint skipstone_struct_size(uint which);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern UIntPtr skipstone_last_error(byte* buffer, UIntPtr capacity);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_next_log_line(byte* buffer, UIntPtr capacity, UIntPtr* length, uint* level);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_release(ulong handle);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_release_all();

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_poll(ulong handle, NativeEvent* events, uint capacity, uint* count);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_wait(ulong handle, ulong timeoutMicroseconds);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_wait_tick(ulong handle, ulong intervalMicroseconds, ulong* missed);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_drive(ulong handle, ulong waitMaxMicroseconds);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_flush(ulong handle);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_failure(ulong handle, byte* buffer, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_overview(ulong handle, ulong peer, NativeOverview* overview);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_driver_stats(ulong handle, NativeDriverStats* stats);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_config_init(NativeServerConfig* config, uint size);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_channel_init(NativeChannel* channel, uint size, ushort first, ushort last, uint delivery);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_inbound_rule_init(NativeInboundRule* rule, uint size, ushort first, ushort last);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_start(NativeServerConfig* config, ulong* server);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_stop(ulong server, ulong code, byte* reason, ulong lingerMicroseconds);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_accept(ulong server, ulong peer);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_refuse(ulong server, ulong peer, ulong code, byte* reason);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_close(ulong server, ulong peer, ulong code, byte* reason, ulong lingerMicroseconds);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_send(
            ulong server, ulong peer, ushort channel, byte* data, UIntPtr length, ulong ageMicroseconds, ulong* id);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_broadcast(
            ulong server, uint group, ushort channel, byte* data, UIntPtr length, uint* peers, ulong* id);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_broadcast_except(
            ulong server, uint group, ulong* except, uint exceptCount, ushort channel, byte* data, UIntPtr length, uint* peers, ulong* id);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_peers(ulong server, ulong* peers, uint capacity, uint* count);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_peer_address(ulong server, ulong peer, byte* buffer, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_set_denied(ulong server, IntPtr networks, uint count);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_join(ulong server, ulong peer, uint group);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_leave(ulong server, ulong peer, uint group);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_set_merging(ulong server, ulong peer, ulong mergingMicroseconds);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_set_query_answer(ulong server, byte* answer, UIntPtr length);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_url(ulong server, byte* buffer, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_webtransport_url(ulong server, byte* buffer, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_address(ulong server, byte* buffer, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_port(ulong server, ushort* port);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_fingerprint(ulong server, byte* fingerprint);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_web_fingerprints(ulong server, byte* fingerprints, uint capacity, uint* count);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_time(ulong server, ulong* microseconds);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_stats(ulong server, NativeStats* stats);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_server_overviews(ulong server, NativeOverview* overviews, uint capacity, uint* count);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_client_config_init(NativeClientConfig* config, uint size);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_client_connect(
            byte* url, byte* token, UIntPtr tokenLength, NativeClientConfig* config, ulong* client);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_client_connect_local(
            ulong server, byte* token, UIntPtr tokenLength, NativeClientConfig* config, ulong* client);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_client_reconnect(ulong client);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_client_returns_in(ulong client, ulong* pauseMicroseconds);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_client_set_token(ulong client, byte* token, UIntPtr tokenLength);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_client_close(ulong client, ulong code, byte* reason, ulong lingerMicroseconds);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_client_send(
            ulong client, ushort channel, byte* data, UIntPtr length, ulong ageMicroseconds, ulong* id);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_client_peer(ulong client, ulong* peer);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_client_server_address(ulong client, byte* buffer, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_client_channel(ulong client, ushort channel, NativeChannel* rule);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_client_rebind(ulong client, uint* hasMoved);

        [DllImport(Library, CallingConvention = C, ExactSpelling = true)]
        internal static extern int skipstone_client_server_time(ulong client, NativeServerTime* time);
    }
}
