// A server for `skipstone bench`, to compare with the tool's own: every line is sent to all clients, or back to its
// sender.
//
//   skipstone bench fanout --server 'mono=mono BenchServer.exe'
//   BenchServer broadcast|echo ADDRESS [TICKS A SECOND [TRANSPORT]]    ends with its standard input
//   BenchServer check                                                  a hundred ticks
//
// Its first line is the URL. It answers each line `mark` with its counters, as a line of JSON.
using System;
using System.Diagnostics;
using System.Globalization;
using System.Threading;
using Skipstone;

static class BenchServer
{
    const ushort Lines = 0, Control = 1;
    const int CheckTicks = 100;

    static int Main(string[] words)
    {
        bool isCheck = words.Length == 1 && words[0] == "check";
        if (words.Length < 2 && !isCheck)
        {
            Console.Error.WriteLine("BenchServer broadcast|echo ADDRESS [TICKS A SECOND [TRANSPORT]]");
            return 2;
        }
        int ticksPerSecond = words.Length > 2 ? int.Parse(words[2], CultureInfo.InvariantCulture) : 60;
        using (Server server = Start(isCheck ? "127.0.0.1:0" : words[1], words.Length > 3 ? words[3] : "mixed"))
        {
            // Not FromSeconds, which rounds to milliseconds on Mono.
            var serving = new Serving(server, words[0] == "echo", TimeSpan.FromTicks(TimeSpan.TicksPerSecond / ticksPerSecond));
            if (isCheck) serving.Run(() => serving.Ticks < CheckTicks);
            else serving.Run(new Orders(serving.Answer).HandleAll);
            server.Shutdown(reason: "the run is over", linger: TimeSpan.FromMilliseconds(500));
        }
        return 0;
    }

    // This thread drives the server, once a tick.
    static Server Start(string address, string transport)
    {
        ChannelRule Rule(ushort channel, byte priority) => new ChannelRule(channel, DeliveryMode.ReliableOrdered)
        {
            Priority = priority,
            QueueMessagesMax = 1 << 20,
            QueueBytesMax = 4 << 20,
        };
        Server server = Server.Start(new ServerConfig
        {
            Listen = address,
            Threading = Skipstone.Threading.Stepped,
            AllowsPlain = true,
            WebSocket = transport.Contains("-w") || transport.Contains("mixed"),
            Channels = new[] { Rule(Lines, 1), Rule(Control, 0) },
            EventsPerPoll = 4096,
        });
        Console.WriteLine(server.Url);
        return server;
    }

    // The server's loop, which makes no garbage.
    private sealed class Serving
    {
        private readonly Server server;
        private readonly bool isEcho;
        private readonly TimeSpan interval;
        private long lines, clients;
        private TimeSpan slowest;

        internal Serving(Server server, bool isEcho, TimeSpan interval) =>
            (this.server, this.isEcho, this.interval) = (server, isEcho, interval);

        internal long Ticks { get; private set; }

        internal void Run(Func<bool> goesOn)
        {
            Stopwatch clock = Stopwatch.StartNew();
            TimeSpan due = TimeSpan.Zero;
            while (goesOn())
            {
                Tick();
                TimeSpan now = clock.Elapsed;
                if (now - due > slowest) slowest = now - due;
                due += interval;
                // Ticks that were missed altogether are skipped.
                if (now > due + interval) due = now;
                if (now < due) Thread.Sleep(due - now);
            }
        }

        private void Tick()
        {
            server.Drive();
            EventBatch batch;
            do
            {
                batch = server.Poll();
                foreach (Event happened in batch)
                {
                    switch (happened.Kind)
                    {
                        case EventKind.Requested: server.Accept(happened.Peer); break;
                        case EventKind.Connected: clients++; break;
                        case EventKind.Closed: clients--; break;
                        case EventKind.Message when happened.Channel == Lines: PassOn(happened); break;
                    }
                }
            } while (batch.Count == 4096);
            server.Flush();
            server.Drive();
            Ticks++;
        }

        private unsafe void PassOn(Event line)
        {
            lines++;
            Payload payload = line.Payload;
            Status status;
            do
            {
                status = isEcho
                    ? server.TrySend(line.Peer, Lines, payload.Pointer, payload.Length, out _, line.Age)
                    : server.TryBroadcast(Group.Everyone, Lines, payload.Pointer, payload.Length, out _, out _);
                // The queues are full: send first. A client that has left gets nothing.
                if (status == Status.DriverBusy)
                {
                    server.Flush();
                    server.Drive();
                }
            } while (status == Status.DriverBusy);
        }

        internal void Answer()
        {
            Stats stats = server.Stats;
            Console.WriteLine(string.Format(CultureInfo.InvariantCulture,
                "{{\"ticks\": {0}, \"slowest_tick_us\": {1}, \"lines\": {2}, \"clients\": {3}, \"ip_bytes\": {4}, \"collections\": {5}}}",
                Ticks, slowest.Ticks / 10, lines, clients, stats.Sent.IpBytes + stats.Received.IpBytes, GC.CollectionCount(0)));
            slowest = TimeSpan.Zero;
        }
    }

    // A thread waits for commands, and the loop handles them.
    private sealed class Orders
    {
        private readonly Action answer;
        private int marks;
        private volatile bool ended;

        internal Orders(Action answer)
        {
            this.answer = answer;
            new Thread(Read) { IsBackground = true }.Start();
        }

        private void Read()
        {
            while (Console.ReadLine() == "mark") Interlocked.Increment(ref marks);
            ended = true;
        }

        // False when there will be no more.
        internal bool HandleAll()
        {
            for (; Volatile.Read(ref marks) > 0; Interlocked.Decrement(ref marks)) answer();
            return !ended;
        }
    }
}
