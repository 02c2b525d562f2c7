using System;
using Skipstone.Native;

namespace Skipstone
{
    /// <summary>The severity of a line of the library's log.</summary>
    public enum LogLevel : uint
    {
        /// <summary>Information.</summary>
        Info = 1,
        /// <summary>A problem that needs attention.</summary>
        Warning = 2,
        /// <summary>Something failed.</summary>
        Error = 3,
    }

    /// <summary>The native library as a whole.</summary>
    public static unsafe class Library
    {
        /// <summary>The library's version, for example <c>0.1.0</c>.</summary>
        /// <exception cref="SkipstoneException">The native library is missing, or of another version than this
        /// client.</exception>
        public static string Version
        {
            get
            {
                AbiCheck.Run();
                return Utf8.Read((IntPtr)NativeMethods.skipstone_version());
            }
        }

        /// <summary>Takes the oldest line of the library's log. The log reports what no call can return: renewed
        /// certificates, sockets with small buffers, internal errors. The library never calls back: a game calls this
        /// regularly.</summary>
        /// <returns>Whether there was one.</returns>
        public static bool TryTakeLogLine(out LogLevel level, out string line)
        {
            AbiCheck.Run();
            var buffer = new byte[8192];
            UIntPtr length;
            uint number;
            int status;
            fixed (byte* bytes = buffer) status = NativeMethods.skipstone_next_log_line(bytes, (UIntPtr)buffer.Length, &length, &number);
            level = default;
            line = null;
            if (status == (int)Status.NotAvailable) return false;
            Calls.Check(status);
            level = (LogLevel)number;
            line = System.Text.Encoding.UTF8.GetString(buffer, 0, checked((int)length));
            return true;
        }

        /// <summary>Ends every server and client of this process at once, without notifying their peers. For a host
        /// that unloads managed code and keeps native libraries: the editor of Unity, before it reloads
        /// scripts.</summary>
        public static void ReleaseAll()
        {
            AbiCheck.Run();
            Calls.Check(NativeMethods.skipstone_release_all());
        }
    }
}
