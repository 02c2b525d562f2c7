// The smallest server, which sends every message back, and the smallest client, which sends one message.
//
//   Echo                        serves at [::]:7777
//   Echo skip://HOST:7777 TEXT  asks it once
//   Echo check                  both in one process
using System;
using System.Text;
using System.Threading;
using Skipstone;

static class Echo
{
    static void Main(string[] words)
    {
        if (words.Length == 2) Console.WriteLine(Ask(words[0], words[1]));
        else if (words.Length == 0) Serve(Server.Start(new ServerConfig { Listen = "[::]:7777" }), int.MaxValue);
        else Check();
    }

    static void Check()
    {
        // Port 0: the system chooses a free one. UDP and TCP share its number.
        Server server = Server.Start(new ServerConfig { Listen = "127.0.0.1:0" });
        // The server encrypts, with a certificate made for this run: the URL names the certificate's fingerprint.
        (string encrypted, string stream) = (server.Url, "ws://" + server.Address);
        var serving = new Thread(() => Serve(server, 2));
        serving.Start();
        Console.WriteLine(Ask(encrypted, "hello over UDP"));
        Console.WriteLine(Ask(stream, "hello over WebSocket"));
        serving.Join();
    }

    // Until this number of clients has connected and left.
    static void Serve(Server server, int visits)
    {
        Console.WriteLine(server.Url);
        while (visits > 0)
        {
            // An echo answers at the first event. A game calls WaitTick, which runs at a fixed rate.
            server.Wait(TimeSpan.FromMilliseconds(10));
            foreach (Event happened in server.Poll())
            {
                switch (happened.Kind)
                {
                    // The server accepts every client. A game looks at the token first: a name, a password, a ticket.
                    case EventKind.Requested: server.Accept(happened.Peer); break;
                    case EventKind.Message: server.Send(happened.Peer, happened.Channel, happened.Payload, happened.Age); break;
                    case EventKind.Closed: visits--; break;
                }
            }
            // Everything that was sent since the last flush leaves now, several messages in one datagram.
            server.Flush();
        }
        server.Shutdown(reason: "the example is over", linger: TimeSpan.FromMilliseconds(500));
    }

    static string Ask(string url, string text)
    {
        using (Client client = Client.Connect(url))
        {
            while (true)
            {
                client.Wait(TimeSpan.FromMilliseconds(100));
                foreach (Event happened in client.Poll())
                {
                    switch (happened.Kind)
                    {
                        // Channel 0 is reliable and ordered by default.
                        case EventKind.Connected: client.Send(0, Encoding.UTF8.GetBytes(text)); break;
                        case EventKind.Message:
                            string answer = happened.Payload.ToText();
                            client.Close(reason: "thank you", linger: TimeSpan.FromMilliseconds(500));
                            return answer;
                        // Refused, unreachable or lost: every connection ends in exactly one of these.
                        case EventKind.Closed: throw new Exception(happened.Reason);
                    }
                }
            }
        }
    }
}
