using System;
using System.Text;

namespace Skipstone.Native
{
    // A wrapper and a library of different versions are the commonest reason for crashes without an explanation: both
    // sides' version and sizes are compared before anything else is called.
    internal static unsafe class AbiCheck
    {
        // catalogue: version
        internal const ushort Major = 1;
        internal const ushort Minor = 5;
        // catalogue: end

        private static bool isDone;

        internal static void Run()
        {
            if (isDone) return;
            if (LibrarySearch.IsCut())
                throw new SkipstoneException(Status.NotAvailable, LibrarySearch.Describe("it was not tried, for that may end the process"));
            try
            {
                Compare(NativeMethods.skipstone_abi_version(), NativeMethods.skipstone_struct_size);
            }
            catch (DllNotFoundException missing)
            {
                throw new SkipstoneException(Status.NotAvailable, LibrarySearch.Describe(missing.Message));
            }
            catch (BadImageFormatException wrong)
            {
                throw new SkipstoneException(Status.NotAvailable, LibrarySearch.Describe(wrong.Message));
            }
            catch (EntryPointNotFoundException missing)
            {
                throw new SkipstoneException(Status.WrongAbi,
                    "the native library `skipstone` is older than this client: ship the library of the same release. Missing: " + missing.Message);
            }
            isDone = true;
        }

        internal static void Compare(uint version, Func<uint, uint> sizeOf)
        {
            if (version >> 16 != Major || (version & 0xFFFF) < Minor)
                throw new SkipstoneException(Status.WrongAbi,
                    "the native library has ABI version " + (version >> 16) + "." + (version & 0xFFFF) + ", this client needs " + Major + "." + Minor
                    + " or a later " + Major + ".x: ship library and client of the same release");
            var wrong = new StringBuilder();
            foreach (Layout layout in Layouts)
            {
                uint size = sizeOf(layout.Number);
                // A structure that states its size grows at its end; the others are arrays' elements and never change.
                bool fits = layout.Grows ? size >= layout.Size : size == layout.Size;
                if (!fits) wrong.Append(wrong.Length == 0 ? "" : ", ").Append(layout.Name + ": " + layout.Size + " here, " + size + " there");
            }
            if (wrong.Length > 0)
                throw new SkipstoneException(Status.WrongAbi,
                    "the native library's structures have other sizes (" + wrong + "): ship library and client of the same release, for the same CPU");
        }

        private readonly struct Layout
        {
            internal readonly uint Number;
            internal readonly string Name;
            internal readonly uint Size;
            internal readonly bool Grows;

            internal Layout(uint number, string name, int size, bool grows)
            {
                Number = number;
                Name = name;
                Size = (uint)size;
                Grows = grows;
            }
        }

        private static readonly Layout[] Layouts =
        {
            new Layout(1, "Event", sizeof(NativeEvent), false),
            new Layout(2, "Channel", sizeof(NativeChannel), true),
            new Layout(3, "InboundRule", sizeof(NativeInboundRule), true),
            new Layout(4, "Link", sizeof(NativeLink), false),
            new Layout(5, "ServerConfig", sizeof(NativeServerConfig), true),
            new Layout(6, "ClientConfig", sizeof(NativeClientConfig), true),
            new Layout(7, "Stats", sizeof(NativeStats), true),
            new Layout(8, "Overview", sizeof(NativeOverview), true),
            new Layout(9, "DriverStats", sizeof(NativeDriverStats), true),
            new Layout(10, "ServerTime", sizeof(NativeServerTime), false),
            new Layout(11, "Flow", sizeof(NativeFlow), false),
        };
    }
}
