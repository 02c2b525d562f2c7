// Packets of examples/proto/game.proto with Google.Protobuf: it reads what Rust wrote, and writes the same bytes as
// Rust.
//
//   Packets examples/proto/packets.txt
using System;
using System.Collections.Generic;
using System.IO;
using Game;
using Google.Protobuf;

static class Packets
{
    // The expected content of each line of the file.
    private static readonly Dictionary<string, IMessage> All = new Dictionary<string, IMessage>
    {
        { "PlayerInput", new PlayerInput { Frame = 300, MoveX = 0.5f, MoveY = -1 } },
        { "Player", new Player { Id = 7, X = -0.25f, Y = 1000, Frame = 65536 } },
        { "Snapshot", new Snapshot { Tick = 70000, Players = { new Player { Id = 1, X = 1.5f, Y = -2.25f, Frame = 300 }, new Player { Id = uint.MaxValue } } } },
        { "Welcome", new Welcome { Id = 200 } },
        { "ChatLine", new ChatLine { Text = "grüß 世界" } },
        { "EmptyChatLine", new ChatLine() },
    };

    static int Main(string[] words)
    {
        int found = 0;
        foreach (string line in File.ReadAllLines(words[0]))
        {
            if (line.StartsWith("#", StringComparison.Ordinal)) continue;
            string[] parts = line.Split(' ');
            Exchange(All[parts[0]], Bytes(parts.Length > 1 ? parts[1] : ""));
            Console.WriteLine("ok " + parts[0] + " is the same in Rust");
            found++;
        }
        Check(found == All.Count, "a packet is not in the file");
        return 0;
    }

    static void Exchange(IMessage packet, byte[] golden)
    {
        Check(packet.ToByteArray().AsSpan().SequenceEqual(golden), packet + " is written in another way");
        IMessage read = packet.Descriptor.Parser.ParseFrom(golden);
        Check(read.Equals(packet), "read as " + read + ", and it is " + packet);
        if (golden.Length == 0) return;
        try
        {
            packet.Descriptor.Parser.ParseFrom(golden, 0, golden.Length - 1);
        }
        catch (InvalidProtocolBufferException)
        {
            return;
        }
        Check(false, "a packet without its last byte was read");
    }

    static byte[] Bytes(string digits)
    {
        var bytes = new byte[digits.Length / 2];
        for (int at = 0; at < bytes.Length; at++) bytes[at] = Convert.ToByte(digits.Substring(2 * at, 2), 16);
        return bytes;
    }

    static void Check(bool isGood, string otherwise)
    {
        if (!isGood) throw new Exception(otherwise);
    }
}
