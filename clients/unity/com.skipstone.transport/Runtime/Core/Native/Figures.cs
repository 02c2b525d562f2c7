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

        internal static Overview[] Overviews(ulong handle)
        {
            var natives = new NativeOverview[16];
            while (true)
            {
                for (int index = 0; index < natives.Length; index++) natives[index].Size = (uint)sizeof(NativeOverview);
                uint count;
                fixed (NativeOverview* first = natives)
                    Calls.Check(NativeMethods.skipstone_server_overviews(handle, first, (uint)natives.Length, &count));
                if (count > natives.Length)
                {
                    natives = new NativeOverview[count];
                    continue;
                }
                var overviews = new Overview[count];
                for (int index = 0; index < overviews.Length; index++) overviews[index] = new Overview(natives[index]);
                return overviews;
            }
        }
    }
}
