// Fifty bots walk in circles at thirty ticks a second: inputs go up, where only the newest matters, and snapshots go
// down to all.
//
//   Dots                   serves at [::]:7777, with fifty bots in this process
//   Dots skip://HOST:7777  fifty bots for a server elsewhere
//   Dots check             ends when every bot has seen every bot
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Threading;
using Skipstone;

static class Dots
{
    internal const ushort Inputs = 0;
    internal const ushort Snapshots = 1;
    internal const int Bots = 50;
    internal static readonly TimeSpan Tick = TimeSpan.FromSeconds(1 / 30.0);

    internal static readonly ChannelRule[] Table =
    {
        new ChannelRule(Inputs, DeliveryMode.UnreliableSequenced) { Redundancy = Redundancy.Repeat(2) },
        new ChannelRule(Snapshots, DeliveryMode.UnreliableSequenced),
    };

    static void Main(string[] words)
    {
        bool isCheck = words.Length == 1 && words[0] == "check";
        if (words.Length == 1 && !isCheck)
        {
            Walk(words[0], () => false);
            return;
        }
        using (Server server = Server.Start(new ServerConfig { Listen = isCheck ? "127.0.0.1:0" : "[::]:7777", Channels = Table }))
        {
            Console.WriteLine(server.Url);
            bool isOver = false;
            var game = new Thread(() => new Game(server).Run(() => Volatile.Read(ref isOver)));
            game.Start();
            int seen = Walk(server.Url, () => isCheck);
            Volatile.Write(ref isOver, true);
            game.Join();
            Console.WriteLine("each of " + Bots + " bots has seen " + seen);
        }
    }

    // Runs until every bot has received every bot's position, if that is requested. Returns how many each received.
    static int Walk(string url, Func<bool> endsThen)
    {
        // One thread for all bots: each is stepped here, without a thread of its own.
        var config = new ClientConfig { Threading = Threading.Stepped };
        List<Bot> bots = Enumerable.Range(0, Bots).Select(number => new Bot(Client.Connect(url, null, config), number)).ToList();
        var clock = Stopwatch.StartNew();
        for (int frame = 1; ; frame++)
        {
            while (clock.Elapsed.Ticks < frame * Tick.Ticks)
            {
                foreach (Bot bot in bots) bot.Receive();
                Thread.Sleep(1);
            }
            foreach (Bot bot in bots) bot.Move((uint)frame);
            int seen = bots.Min(bot => bot.Seen);
            if (!endsThen()) continue;
            if (clock.Elapsed > TimeSpan.FromSeconds(30)) throw new TimeoutException("one bot has seen " + seen);
            if (seen < Bots) continue;
            foreach (Bot bot in bots) bot.Dispose();
            return seen;
        }
    }
}

// A player: its position, and its last input.
sealed class Player
{
    internal uint Frame;
    internal float X, Y, MoveX, MoveY;
}

sealed class Game
{
    // How far a player moves in a tick; the world reaches from -1 to 1 in both directions.
    private const float Speed = 0.02f;

    private readonly Server server;
    private readonly Dictionary<PeerId, Player> players = new Dictionary<PeerId, Player>();
    private readonly Bytes snapshot = new Bytes(64 * 1024);
    private uint tick;

    internal Game(Server server) => this.server = server;

    internal void Run(Func<bool> isOver)
    {
        while (!isOver())
        {
            // Inputs do not shorten the tick.
            server.WaitTick(Dots.Tick);
            for (EventBatch batch = server.Poll(); batch.Count > 0; batch = server.Poll())
                foreach (Event happened in batch) Handle(happened);
            Step();
        }
    }

    private void Handle(Event happened)
    {
        switch (happened.Kind)
        {
            case EventKind.Requested: server.Accept(happened.Peer); break;
            case EventKind.Connected: players[happened.Peer] = new Player(); break;
            case EventKind.Closed: players.Remove(happened.Peer); break;
            case EventKind.Message when happened.Payload.Length == 12 && players.TryGetValue(happened.Peer, out Player player):
                Payload input = happened.Payload;
                player.Frame = Bytes.ReadUInt(input, 0);
                player.MoveX = Direction(Bytes.ReadFloat(input, 4));
                player.MoveY = Direction(Bytes.ReadFloat(input, 8));
                break;
        }
    }

    // A client may send any value; one that is not a number does not move the player.
    private static float Direction(float to) => float.IsNaN(to) ? 0 : Math.Max(-1, Math.Min(1, to));

    private void Step()
    {
        tick++;
        snapshot.Clear();
        snapshot.Add(tick);
        foreach (Player player in players.Values)
        {
            player.X = Direction(player.X + Speed * player.MoveX);
            player.Y = Direction(player.Y + Speed * player.MoveY);
            snapshot.Add(player.X);
            snapshot.Add(player.Y);
        }
        server.Broadcast(Group.Everyone, Dots.Snapshots, snapshot.Segment);
        server.Flush();
    }
}

sealed class Bot : IDisposable
{
    private readonly Client client;
    private readonly int number;
    private readonly Bytes input = new Bytes(12);
    private bool isConnected;

    internal Bot(Client client, int number)
    {
        this.client = client;
        this.number = number;
    }

    // The most players that one snapshot had.
    internal int Seen { get; private set; }

    internal void Receive()
    {
        client.Drive();
        for (EventBatch batch = client.Poll(); batch.Count > 0; batch = client.Poll())
            foreach (Event happened in batch) Handle(happened);
    }

    private void Handle(Event happened)
    {
        switch (happened.Kind)
        {
            case EventKind.Connected: isConnected = true; break;
            case EventKind.Message: Seen = Math.Max(Seen, (happened.Payload.Length - 4) / 8); break;
            case EventKind.Closed: throw new Exception("bot " + number + ": " + happened.Reason);
        }
    }

    internal void Move(uint frame)
    {
        if (!isConnected) return;
        double angle = frame / 20.0 + number * 2.0;
        input.Clear();
        input.Add(frame);
        input.Add((float)Math.Cos(angle));
        input.Add((float)Math.Sin(angle));
        client.Send(Dots.Inputs, input.Segment);
    }

    public void Dispose() => client.Dispose();
}

// Numbers in little-endian order, without garbage.
sealed unsafe class Bytes
{
    private readonly byte[] bytes;
    private int length;

    internal Bytes(int capacity) => bytes = new byte[capacity];

    internal ArraySegment<byte> Segment => new ArraySegment<byte>(bytes, 0, length);

    internal void Clear() => length = 0;

    internal void Add(uint number)
    {
        for (int one = 0; one < 4; one++) bytes[length++] = (byte)(number >> (8 * one));
    }

    internal void Add(float number) => Add(*(uint*)&number);

    internal static uint ReadUInt(Payload from, int at) =>
        (uint)(from[at] | from[at + 1] << 8 | from[at + 2] << 16 | from[at + 3] << 24);

    internal static float ReadFloat(Payload from, int at)
    {
        uint number = ReadUInt(from, at);
        return *(float*)&number;
    }
}
