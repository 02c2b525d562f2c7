using System;

namespace Skipstone.Native
{
    // The common part of every call of the library: its error, and texts that it writes.
    internal static unsafe class Calls
    {
        internal static void Check(int status)
        {
            if (status != 0) throw Error((Status)status);
        }

        internal static Exception Error(Status status)
        {
            if (status == Status.OutOfMemory) return new OutOfMemoryException("the native library has not enough memory");
            return new SkipstoneException(status, LastError());
        }

        private static string LastError()
        {
            var buffer = new byte[1024];
            while (true)
            {
                int length;
                fixed (byte* bytes = buffer) length = checked((int)NativeMethods.skipstone_last_error(bytes, (UIntPtr)buffer.Length));
                if (length < buffer.Length) return System.Text.Encoding.UTF8.GetString(buffer, 0, length);
                buffer = new byte[length + 1];
            }
        }

        // Which text of a handle to read.
        internal enum Text { Failure, Url, WebTransportUrl, Address, ServerAddress }

        // null if there is none (yet).
        internal static string Read(Text which, ulong handle)
        {
            var buffer = new byte[256];
            while (true)
            {
                UIntPtr length;
                Status status;
                fixed (byte* bytes = buffer) status = (Status)Call(which, handle, bytes, (UIntPtr)buffer.Length, &length);
                if (status == Status.Ok) return System.Text.Encoding.UTF8.GetString(buffer, 0, checked((int)length));
                if (status == Status.NotAvailable) return null;
                if (status != Status.BufferTooSmall) throw Error(status);
                buffer = new byte[Math.Max(checked((int)length) + 1, buffer.Length * 2)];
            }
        }

        private static int Call(Text which, ulong handle, byte* buffer, UIntPtr capacity, UIntPtr* length)
        {
            switch (which)
            {
                case Text.Failure: return NativeMethods.skipstone_failure(handle, buffer, capacity, length);
                case Text.Url: return NativeMethods.skipstone_server_url(handle, buffer, capacity, length);
                case Text.WebTransportUrl: return NativeMethods.skipstone_server_webtransport_url(handle, buffer, capacity, length);
                case Text.Address: return NativeMethods.skipstone_server_address(handle, buffer, capacity, length);
                default: return NativeMethods.skipstone_client_server_address(handle, buffer, capacity, length);
            }
        }
    }
}
