// LiteNetLib as a transport of `skipstone compare --external`: reliable and ordered, with one channel per entity up to
// the maximum of 64. Written from docs/guide/others-transports.md, and not run by this project's tests, because it
// needs the .NET SDK.
//
//   dotnet publish -c Release -o out
//   sudo skipstone compare plans/spatialos-25.toml --external litenetlib=./out/litenetlib-dotnet

using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Text;
using LiteNetLib;

var flags = new Dictionary<string, string>();
for (var at = 1; at + 1 < args.Length; at += 2) flags[args[at]] = args[at + 1];
var role = args.Length > 0 ? args[0] : "";

// On Linux the stopwatch is CLOCK_MONOTONIC, in nanoseconds, with the same origin in all processes.
static long NowUs() => (long)(Stopwatch.GetTimestamp() * (1e6 / Stopwatch.Frequency));
static void Say(string line) { Console.Out.WriteLine(line); Console.Out.Flush(); }
static int Fail(string reason) { Say($"{{\"failed\":{{\"reason\":\"{reason}\"}}}}"); return 1; }
int Number(string flag) => int.Parse(flags[flag], CultureInfo.InvariantCulture);

const byte Channels = 64;
var listener = new EventBasedNetListener();
var manager = new NetManager(listener) { ChannelsCount = Channels, UpdateTime = 1, AutoRecycle = true, UnsyncedEvents = false };

// Standard input ends when the run is over, or when the process that started this one has ended.
var isOver = false;
new Thread(() => { while (Console.In.ReadLine() != null) { } Volatile.Write(ref isOver, true); }) { IsBackground = true }.Start();

byte[] Update(int bytes, int entity, int tick)
{
    var update = new byte[bytes];
    for (var at = 0; at < bytes; at++) update[at] = (byte)(entity * 31 + tick * 7 + at);
    update[0] = (byte)(entity >> 8); update[1] = (byte)entity;
    update[2] = (byte)(tick >> 24); update[3] = (byte)(tick >> 16); update[4] = (byte)(tick >> 8); update[5] = (byte)tick;
    return update;
}

switch (role)
{
    case "server":
    {
        var listen = IPEndPoint.Parse(flags["--listen"]);
        listener.ConnectionRequestEvent += request => request.Accept();
        listener.NetworkReceiveEvent += (peer, reader, channel, _) =>
            peer.Send(reader.GetRemainingBytes(), channel, DeliveryMethod.ReliableOrdered);
        if (!manager.Start(listen.Address, IPAddress.IPv6Any, listen.Port)) return Fail("no socket to listen on");
        Say($"{{\"listening\":{{\"address\":\"{listen.Address}:{manager.LocalPort}\"}}}}");
        while (!Volatile.Read(ref isOver))
        {
            manager.PollEvents();
            manager.TriggerUpdate();
            Thread.Sleep(1);
        }
        return 0;
    }
    case "client":
    {
        var (entities, payload, hz, ticks) = (Number("--entities"), Number("--payload"), Number("--ticks-per-second"), Number("--ticks"));
        long begun = NowUs(), came = 0, corrupted = 0;
        var echoes = new List<(int Tick, int Entity, long At)>();
        listener.NetworkReceiveEvent += (_, reader, _, _) =>
        {
            var data = reader.GetRemainingBytes();
            var (entity, tick) = (data[0] << 8 | data[1], data[2] << 24 | data[3] << 16 | data[4] << 8 | data[5]);
            if (!data.AsSpan().SequenceEqual(Update(payload, entity, tick))) { corrupted++; return; }
            echoes.Add((tick, entity, NowUs()));
            came++;
        };
        manager.Start();
        var server = manager.Connect(IPEndPoint.Parse(flags["--connect"]), "");
        while (server.ConnectionState != ConnectionState.Connected)
        {
            if (NowUs() - begun > 10_000_000) return Fail("the server does not answer");
            manager.PollEvents();
            Thread.Sleep(1);
        }
        var first = NowUs() + 1_000;
        var connected = ((first - begun) / 1e3).ToString(CultureInfo.InvariantCulture);
        Say($"{{\"began\":{{\"connect_ms\":{connected},\"first_due_us\":{first}}}}}");
        long Due(int tick) => first + tick * 1_000_000L / hz;
        var end = Due(ticks) + Number("--patience-ms") * 1_000L;
        void Tell()
        {
            if (echoes.Count == 0) return;
            var line = new StringBuilder("{\"echoes\":[");
            line.AppendJoin(',', echoes.Select(echo => $"[{echo.Tick},{echo.Entity},{echo.At}]"));
            Say(line.Append("]}").ToString());
            echoes.Clear();
        }
        for (var tick = 0; NowUs() < end && came < (long)ticks * entities && !Volatile.Read(ref isOver);)
        {
            for (; tick < ticks && NowUs() >= Due(tick); tick++)
            {
                for (var entity = 0; entity < entities; entity++)
                    server.Send(Update(payload, entity, tick), (byte)(entity % Channels), DeliveryMethod.ReliableOrdered);
                manager.TriggerUpdate();
            }
            manager.PollEvents();
            if (echoes.Count > 500) Tell();
            Thread.Sleep(1);
        }
        Tell();
        Say($"{{\"done\":{{\"refused\":0,\"corrupted\":{corrupted}}}}}");
        return 0;
    }
    default:
        return Fail("the first argument is server or client");
}
