namespace Skipstone.Native
{
    // Statistics that servers and clients both have.
    internal static unsafe class Figures
    {
        internal static DriverStats Driver(ulong handle)
        {
            NativeDriverStats native = default;
            native.Size = (uint)sizeof(NativeDriverStats);
            Calls.Check(NativeMethods.skipstone_driver_stats(handle, &native));
            return new DriverStats(native);
        }

        internal static bool TryOverview(ulong handle, ulong peer, out Overview overview)
        {
            NativeOverview native = default;
            native.Size = (uint)sizeof(NativeOverview);
            int status = NativeMethods.skipstone_overview(handle, peer, &native);
            overview = new Overview(native);
            if (status == (int)Status.NotAvailable) return false;
            Calls.Check(status);
            return true;
        }
    }
}
