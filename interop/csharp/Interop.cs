// The game that programs in all languages play together, in C#; ../README.md states its rules.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Text;
using Skipstone;

/// <summary>The lines received from each name.</summary>
sealed class Ledger
{
    readonly long lines;
    readonly Dictionary<string, long> nextLine, nextChat;
    public long Received, Chats, Duplicated, OutOfOrder, Changed;

    public Ledger(IEnumerable<string> names, long lines)
    {
        this.lines = lines;
        nextLine = names.ToDictionary(name => name, name => 1L);
        nextChat = nextLine.Keys.ToDictionary(name => name, name => 10L);
    }

    /// <summary>A stress line, whose content every program can compute.</summary>
    public static string Line(string name, long number)
    {
        var line = new StringBuilder(name + " " + number + " ");
        for (long i = 0; i < number * 37 % 1500; i++) line.Append((char)('a' + (number + i) % 26));
        return line.ToString();
    }

    public void OnLine(string text)
    {
        string[] words = text.Split(new[] { ' ' }, 3);
        long number;
        if (words.Length < 3 || !nextLine.ContainsKey(words[0]) || !long.TryParse(words[1], out number) || text != Line(words[0], number))
        {
            Changed++;
            return;
        }
        Received++;
        Count(nextLine, words[0], number, 1);
    }

    public void OnChat(string text)
    {
        string[] words = text.Split(' ');
        long number;
        if (words.Length != 3 || !nextChat.ContainsKey(words[1]) || !long.TryParse(words[2], out number))
        {
            Changed++;
            return;
        }
        Chats++;
        Count(nextChat, words[1], number, 10);
    }

    void Count(Dictionary<string, long> next, string name, long number, long step)
    {
        if (number < next[name]) Duplicated++;
        if (number > next[name]) OutOfOrder++;
        next[name] = Math.Max(next[name], number + step);
    }

    public bool IsComplete => nextLine.Count > 0 && nextLine.Values.Concat(nextChat.Values).All(next => next > lines);

    public bool IsClean => IsComplete && Received == lines * nextLine.Count && Chats == lines / 10 * nextLine.Count
        && Duplicated + OutOfOrder + Changed == 0;
}

/// <summary>The command line, and both roles.</summary>
static class Interop
{
    const ushort Control = 0, Stress = 1;
    static readonly TimeSpan Every = TimeSpan.FromMilliseconds(10), Linger = TimeSpan.FromMilliseconds(500);

    static int Main(string[] words)
    {
        var options = new Dictionary<string, string>();
        for (int i = 0; i + 1 < words.Length; i += 2) options[words[i]] = words[i + 1];
        string url, listen;
        bool isClient = options.TryGetValue("--server", out url), isServer = options.TryGetValue("--listen", out listen);
        if (words.Length % 2 != 0 || isClient == isServer)
        {
            Console.Error.WriteLine("--server URL [--name NAME] [--lines K] [--seconds S], or --listen HOST:PORT [--clients C] [--seconds S]");
            return 2;
        }
        Func<string, string, string> value = (name, other) => options.ContainsKey(name) ? options[name] : other;
        long seconds = long.Parse(value("--seconds", "30"));
        bool isOk = isClient
            ? Play(url, value("--name", "csharp"), long.Parse(value("--lines", "100")), TimeSpan.FromSeconds(seconds))
            : Serve(listen, int.Parse(value("--clients", "1")), TimeSpan.FromSeconds(seconds));
        return isOk ? 0 : 1;
    }

    static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    static string Json(string text) =>
        "\"" + text.Replace("\\", "\\\\").Replace("\"", "\\\"").Replace("\r", " ").Replace("\n", " ") + "\"";

    static bool Play(string url, string name, long lines, TimeSpan limit)
    {
        var ledger = new Ledger(new string[0], lines);
        var clock = Stopwatch.StartNew();
        TimeSpan next = TimeSpan.MaxValue;
        long sent = 0;
        bool isDone = false, isOver = false;
        string reason = "";
        try
        {
            // With it the client follows when its server moves it to another one.
            var config = new ClientConfig { Reconnect = new Reconnect() };
            using (Client client = Client.Connect(url, Bytes(name), config))
            {
                while (!isOver && reason == "")
                {
                    client.Wait(TimeSpan.FromMilliseconds(5));
                    foreach (Event happened in client.Poll())
                    {
                        if (happened.Kind == EventKind.Connected) Tell("{\"event\":\"connected\"}");
                        else if (happened.Kind == EventKind.Closed) reason = "closed: " + happened.Reason;
                        else if (happened.Kind == EventKind.Message)
                        {
                            string text = happened.Payload.ToText();
                            if (happened.Channel == Stress) ledger.OnLine(text);
                            else if (text.StartsWith("chat ", StringComparison.Ordinal)) ledger.OnChat(text);
                            else if (text.StartsWith("start ", StringComparison.Ordinal))
                            {
                                ledger = new Ledger(text.Split(' ').Skip(1), lines);
                                client.Send(Control, Bytes("ready"));
                            }
                            else if (text == "go") next = clock.Elapsed;
                            else if (text == "over") isOver = true;
                        }
                    }
                    while (reason == "" && sent < lines && next <= clock.Elapsed)
                    {
                        next += Every;
                        sent++;
                        client.Send(Stress, Bytes(Ledger.Line(name, sent)));
                        if (sent % 10 == 0) client.Send(Control, Bytes("chat " + name + " " + sent));
                    }
                    if (reason == "" && !isDone && sent == lines && ledger.IsComplete)
                    {
                        isDone = true;
                        client.Send(Control, Bytes("done"));
                    }
                    if (clock.Elapsed > limit) reason = "it is not over within the time limit";
                }
                client.Close(reason: "thank you", linger: Linger);
            }
        }
        catch (SkipstoneException refused)
        {
            reason = refused.Message;
        }
        bool isOk = isOver && reason == "" && ledger.IsClean;
        Tell("{\"event\":\"result\",\"role\":\"client\",\"language\":\"csharp\",\"name\":" + Json(name) + ",\"sent\":" + sent
            + ",\"received\":" + ledger.Received + ",\"chats\":" + ledger.Chats + ",\"duplicated\":" + ledger.Duplicated
            + ",\"out_of_order\":" + ledger.OutOfOrder + ",\"changed\":" + ledger.Changed + Ending(isOk, reason));
        return isOk;
    }

    static bool Serve(string listen, int clients, TimeSpan limit)
    {
        var names = new Dictionary<PeerId, string>();
        var connected = new HashSet<PeerId>();
        var clock = Stopwatch.StartNew();
        long lines = 0, chats = 0;
        int ready = 0, done = 0;
        bool hasStarted = false, isGoing = false, isOver = false;
        string reason = "";
        try
        {
            using (Server server = Server.Start(new ServerConfig { Listen = listen }))
            {
                string port = server.Address.ToString().Split(':').Last();
                // Browsers accept only a certificate that is valid for a few days, so they get another one.
                string pages = server.WebFingerprints.Select(bytes => string.Concat(bytes.Select(one => one.ToString("x2")))).FirstOrDefault();
                if (pages != null) pages = ",\"pages\":" + Json("https://127.0.0.1:" + port + "#sha256=" + pages);
                Tell("{\"event\":\"listening\",\"url\":" + Json(server.Url) + ",\"port\":" + port + pages + "}");
                Action<string> say = text => server.Broadcast(Group.Everyone, Control, Bytes(text));
                while (reason == "" && !(isOver && connected.Count == 0))
                {
                    server.Wait(TimeSpan.FromMilliseconds(5));
                    foreach (Event happened in server.Poll())
                    {
                        switch (happened.Kind)
                        {
                            case EventKind.Requested:
                                names[happened.Peer] = happened.Payload.ToText();
                                server.Accept(happened.Peer);
                                break;
                            case EventKind.Connected:
                                connected.Add(happened.Peer);
                                break;
                            case EventKind.Message:
                                if (happened.Channel == Stress)
                                {
                                    lines++;
                                    server.Broadcast(Group.Everyone, Stress, happened.Payload);
                                    break;
                                }
                                string text = happened.Payload.ToText();
                                if (text == "ready") ready++;
                                else if (text == "done") done++;
                                else if (text.StartsWith("chat ", StringComparison.Ordinal))
                                {
                                    chats++;
                                    server.Broadcast(Group.Everyone, Control, happened.Payload);
                                }
                                break;
                            case EventKind.Closed:
                                connected.Remove(happened.Peer);
                                if (!isOver) reason = "a client left before the end: " + happened.Reason;
                                break;
                        }
                    }
                    if (!hasStarted && connected.Count == clients)
                    {
                        hasStarted = true;
                        say("start " + string.Join(" ", connected.Select(peer => names[peer])));
                    }
                    if (!isGoing && ready == clients)
                    {
                        isGoing = true;
                        say("go");
                    }
                    if (!isOver && done == clients)
                    {
                        isOver = true;
                        limit = clock.Elapsed + TimeSpan.FromSeconds(2);
                        say("over");
                    }
                    server.Flush();
                    if (clock.Elapsed <= limit) continue;
                    if (isOver) break;
                    reason = "it is not over within the time limit: " + connected.Count + " clients, " + done + " done";
                }
                server.Shutdown(reason: "the game is over", linger: Linger);
            }
        }
        catch (SkipstoneException refused)
        {
            reason = refused.Message;
        }
        bool isOk = isOver && reason == "";
        Tell("{\"event\":\"result\",\"role\":\"server\",\"language\":\"csharp\",\"clients\":" + clients + ",\"lines\":" + lines
            + ",\"chats\":" + chats + Ending(isOk, reason));
        return isOk;
    }

    static string Ending(bool isOk, string reason) => ",\"ok\":" + (isOk ? "true" : "false") + ",\"reason\":" + Json(reason) + "}";

    static void Tell(string line)
    {
        Console.Out.WriteLine(line);
        Console.Out.Flush();
    }
}
