using System;
using Skipstone.Native;

namespace Skipstone
{
    /// <summary>The events that one <c>Poll</c> gave. They are read in place, until the next one.</summary>
    /// <example><code>
    /// for (EventBatch batch = server.Poll(); batch.Count > 0; batch = server.Poll())
    ///     foreach (Event happened in batch)
    ///         if (happened.Kind == EventKind.Requested) server.Accept(happened.Peer);
    /// </code></example>
    public readonly struct EventBatch
    {
        private readonly EventBuffer buffer;
        private readonly int round;

        internal EventBatch(EventBuffer buffer, int count, int round)
        {
            this.buffer = buffer;
            this.round = round;
            Count = count;
        }

        /// <summary>The number of events.</summary>
        public int Count { get; }

        /// <summary>One of them.</summary>
        /// <exception cref="IndexOutOfRangeException">There are fewer.</exception>
        public Event this[int index]
        {
            get
            {
                if ((uint)index >= (uint)Count) throw new IndexOutOfRangeException("the batch has " + Count + " events, asked for event " + index);
                return new Event(buffer, index, round);
            }
        }

        /// <summary>For <c>foreach</c>; no garbage.</summary>
        public Enumerator GetEnumerator() => new Enumerator(this);

        /// <summary>Goes through a batch.</summary>
        public struct Enumerator
        {
            private readonly EventBatch batch;
            private int index;

            internal Enumerator(EventBatch batch)
            {
                this.batch = batch;
                index = -1;
            }

            /// <summary>The event.</summary>
            public Event Current => batch[index];

            /// <summary>Advances to the next event; false after the last.</summary>
            public bool MoveNext() => ++index < batch.Count;
        }
    }
}
