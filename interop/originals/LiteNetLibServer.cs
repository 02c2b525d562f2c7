// An echo server by LiteNetLib, for the proof of its bots (README.md). Compiled against LiteNetLib.dll. It looks for the
// largest datagram, so that its clients have to answer.
//
//   LiteNetLibServer.exe server --listen 127.0.0.1:0

using System;
using System.Globalization;
using System.Net;
using System.Threading;
using LiteNetLib;

public static class LiteNetLibServer
{
    private const byte Channels = 4;
    private static volatile bool isOver;

    public static int Main(string[] arguments)
    {
        if (arguments.Length != 3 || arguments[0] != "server" || arguments[1] != "--listen") return 2;
        var port = int.Parse(arguments[2].Substring(arguments[2].LastIndexOf(':') + 1), CultureInfo.InvariantCulture);
        var listener = new EventBasedNetListener();
        var manager = new NetManager(listener) { ChannelsCount = Channels, AutoRecycle = true, MtuDiscovery = true };
        listener.ConnectionRequestEvent += request => request.AcceptIfKey("bots");
        listener.NetworkReceiveEvent += (peer, reader, channel, method) =>
            peer.Send(reader.GetRemainingBytes(), channel, method);
        listener.NetworkErrorEvent += (address, error) => Console.Error.WriteLine(address + ": " + error);
        if (!manager.Start(IPAddress.Loopback, IPAddress.IPv6Loopback, port)) return 1;
        Console.WriteLine("{\"listening\":{\"address\":\"127.0.0.1:" + manager.LocalPort + "\"}}");
        Console.Out.Flush();
        new Thread(WaitForEnd) { IsBackground = true }.Start();
        while (!isOver)
        {
            manager.PollEvents();
            Thread.Sleep(1);
        }
        manager.Stop();
        return 0;
    }

    // Standard input ends when the run is over, or when the process that started this one has ended.
    private static void WaitForEnd()
    {
        while (Console.In.ReadLine() != null) { }
        isOver = true;
    }
}
