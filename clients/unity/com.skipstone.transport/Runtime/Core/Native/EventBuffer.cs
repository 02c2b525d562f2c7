using System;

namespace Skipstone.Native
{
    // The events of the last poll of a handle. Each poll is a round: an event of an earlier round is stale.
    internal sealed unsafe class EventBuffer
    {
        private readonly NativeEvent[] events;
        // A reader of events keeps their owner alive, whose finalizer would free their bytes.
        private readonly NativeHandle owner;
        private int round;

        internal EventBuffer(NativeHandle owner, int capacity)
        {
            this.owner = owner;
            events = new NativeEvent[capacity];
        }

        internal static void CheckCapacity(int capacity)
        {
            if (capacity < 1 || capacity > 65536)
                throw new ArgumentOutOfRangeException("EventsPerPoll", capacity, "EventsPerPoll is 1 to 65,536");
        }

        internal EventBatch Poll()
        {
            uint count;
            int status;
            fixed (NativeEvent* first = events) status = NativeMethods.skipstone_poll(owner.Number, first, (uint)events.Length, &count);
            if (status != 0)
            {
                if (status != (int)Status.WrongThread) round++;
                throw Calls.Error((Status)status);
            }
            return new EventBatch(this, (int)count, ++round);
        }

        // Returns the events, so that another thread may poll.
        internal void End()
        {
            uint count;
            Calls.Check(NativeMethods.skipstone_poll(owner.Number, null, 0, &count));
            round++;
        }

        // Polled events are freed with their owner.
        internal void Dispose() => round++;

        internal ref NativeEvent At(int index, int wantedRound)
        {
            if (wantedRound != round)
                throw new InvalidOperationException("the event is over: read it, or copy its payload, before the next Poll or Dispose");
            return ref events[index];
        }
    }
}
