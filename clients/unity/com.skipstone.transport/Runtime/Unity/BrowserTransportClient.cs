#if UNITY_WEBGL && !UNITY_EDITOR
using System;
using System.Runtime.InteropServices;
using System.Text;

namespace Skipstone.Unity
{
    /// <summary>The client of WebGL builds: the browser client of the page, through <c>Skipstone.jslib</c>.</summary>
    public sealed unsafe class BrowserTransportClient : TransportClient
    {
        private readonly int id;
        private byte[] scratch = new byte[2048];
        private bool isDisposed;

        [DllImport("__Internal", CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        private static extern int SkipstoneWeb_Connect(byte* url, int urlLength, byte* token, int tokenLength);

        [DllImport("__Internal", CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        private static extern int SkipstoneWeb_Send(int id, int channel, byte* data, int length);

        [DllImport("__Internal", CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        private static extern int SkipstoneWeb_Take(int id, int* head, byte* buffer, int capacity);

        [DllImport("__Internal", CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        private static extern double SkipstoneWeb_Rtt(int id);

        [DllImport("__Internal", CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        private static extern void SkipstoneWeb_Close(int id);

        /// <summary>Begins to connect to an <c>https://</c>, <c>wss://</c> or <c>ws://</c> URL.</summary>
        /// <exception cref="SkipstoneException">The page has no browser client, or the client refuses the
        /// URL.</exception>
        public BrowserTransportClient(string url, byte[] token)
        {
            byte[] text = Encoding.UTF8.GetBytes(url);
            fixed (byte* urlBytes = text)
            fixed (byte* tokenBytes = token)
                id = BrowserRefusal.Check(SkipstoneWeb_Connect(urlBytes, text.Length, tokenBytes, token == null ? 0 : token.Length), url);
        }

        /// <inheritdoc/>
        protected override bool Take(out TransportEvent happened)
        {
            happened = TransportEvent.Empty;
            if (isDisposed) return false;
            int* head = stackalloc int[4];
            while (true)
            {
                int outcome;
                fixed (byte* buffer = scratch) outcome = SkipstoneWeb_Take(id, head, buffer, scratch.Length);
                if (outcome == 0) return false;
                if (outcome == 1) break;
                scratch = new byte[Math.Max(head[2], scratch.Length * 2)];
            }
            happened.Payload = new ArraySegment<byte>(scratch, 0, head[2]);
            happened.Channel = (ushort)head[1];
            switch ((EventKind)head[0])
            {
                case EventKind.Connected:
                    IsConnected = true;
                    happened.Kind = TransportEventKind.Connected;
                    return true;
                case EventKind.Message:
                    happened.Kind = TransportEventKind.Message;
                    return true;
                default:
                    IsConnected = false;
                    happened.Kind = TransportEventKind.Disconnected;
                    happened.Code = (ulong)head[3];
                    happened.Reason = Encoding.UTF8.GetString(scratch, 0, head[2]);
                    return true;
            }
        }

        /// <inheritdoc/>
        public override Status Send(ushort channel, ArraySegment<byte> payload)
        {
            if (isDisposed) return Status.BadHandle;
            fixed (byte* bytes = payload.Array) return (Status)SkipstoneWeb_Send(id, channel, bytes + payload.Offset, payload.Count);
        }

        /// <inheritdoc/>
        public override TimeSpan Rtt => TimeSpan.FromMilliseconds(isDisposed ? 0 : SkipstoneWeb_Rtt(id));

        /// <inheritdoc/>
        public override void Dispose()
        {
            if (isDisposed) return;
            isDisposed = true;
            IsConnected = false;
            SkipstoneWeb_Close(id);
        }
    }
}
#endif
