using System;
using System.Runtime.InteropServices;

namespace Skipstone.Native
{
    // The owner of a server or client of the library. The library checks every handle that it is given, so that calls
    // pass the bare number, which costs nothing; this object sees to it that the handle is released once, and has the
    // calls that servers and clients share.
    internal sealed class NativeHandle : SafeHandle
    {
        private readonly ulong number;
        private readonly string what;

        internal NativeHandle(ulong number, string what) : base(IntPtr.Zero, true)
        {
            this.number = number;
            this.what = what;
            SetHandle(new IntPtr(1));
        }

        public override bool IsInvalid => handle == IntPtr.Zero;

        // For a call. A disposed object is reported as such before the library is called.
        internal ulong Number => IsClosed ? throw new ObjectDisposedException(what) : number;

        internal void Wait(TimeSpan span) => Calls.Check(NativeMethods.skipstone_wait(Number, Time.ToMicroseconds(span, nameof(span))));

        internal unsafe ulong WaitTick(TimeSpan interval)
        {
            ulong missed;
            Calls.Check(NativeMethods.skipstone_wait_tick(Number, Time.ToMicroseconds(interval, nameof(interval)), &missed));
            return missed;
        }

        internal void Drive(TimeSpan waitMax) => Calls.Check(NativeMethods.skipstone_drive(Number, Time.ToMicroseconds(waitMax, nameof(waitMax))));

        internal void Flush() => Calls.Check(NativeMethods.skipstone_flush(Number));

        // The library has ended it by itself.
        internal void Ended() => SetHandleAsInvalid();

        protected override bool ReleaseHandle()
        {
            // The editor of Unity may have ended all of them already.
            NativeMethods.skipstone_release(number);
            return true;
        }
    }
}
