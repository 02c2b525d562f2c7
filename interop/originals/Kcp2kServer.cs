// An echo server by kcp2k, the original of Mirror, for the proof of its bots (README.md). Compiled against kcp2k.dll,
// with the settings of Mirror's KcpTransport.
//
//   Kcp2kServer.exe server --listen 127.0.0.1:0

using System;
using System.Globalization;
using System.Net;
using System.Threading;
using kcp2k;

public static class Kcp2kServer
{
    private const int TickMilliseconds = 2;
    private static KcpServer server;
    private static volatile bool isOver;

    public static int Main(string[] arguments)
    {
        if (arguments.Length != 3 || arguments[0] != "server" || arguments[1] != "--listen") return 2;
        var port = ushort.Parse(arguments[2].Substring(arguments[2].LastIndexOf(':') + 1), CultureInfo.InvariantCulture);
        Log.Info = _ => { };
        Log.Warning = Console.Error.WriteLine;
        Log.Error = Console.Error.WriteLine;
        var config = new KcpConfig(DualMode: false, FastResend: 2, SendWindowSize: 4096, ReceiveWindowSize: 4096,
            MaxRetransmits: 40);
        server = new KcpServer(_ => { }, Echo, _ => { }, Report, config);
        server.Start(port);
        Console.WriteLine("{\"listening\":{\"address\":\"127.0.0.1:" + ((IPEndPoint)server.LocalEndPoint).Port + "\"}}");
        Console.Out.Flush();
        new Thread(WaitForEnd) { IsBackground = true }.Start();
        while (!isOver)
        {
            server.Tick();
            Thread.Sleep(TickMilliseconds);
        }
        return 0;
    }

    private static void Echo(int connection, ArraySegment<byte> message, KcpChannel channel)
    {
        server.Send(connection, message, channel);
    }

    private static void Report(int connection, ErrorCode error, string reason)
    {
        Console.Error.WriteLine(connection + ": " + error + ": " + reason);
    }

    // Standard input ends when the run is over, or when the process that started this one has ended.
    private static void WaitForEnd()
    {
        while (Console.In.ReadLine() != null) { }
        isOver = true;
    }
}
