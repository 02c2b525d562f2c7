using System;
using System.Collections.Generic;
using System.Text;
using Skipstone.Unity;
using UnityEngine;

namespace Skipstone.Samples
{
    /// <summary>A server, a chat client and stress clients in one scene. Each stress client sends a line a second, and
    /// the server sends every line to all: the load grows with the square of their number.</summary>
    public sealed class NetTest : MonoBehaviour
    {
        [SerializeField] private TransportSettings settings = new TransportSettings { Encrypt = false };
        [SerializeField] private int linesMax = 1000;

        private readonly List<string> lines = new List<string>();
        private readonly List<StressClient> stress = new List<StressClient>();
        private TransportServer server;
        private TransportClient chat;
        private Vector2 position;
        private string typed = "";
        private Rates rates;

        private void Start() => Application.runInBackground = true;

        private void Update()
        {
            double now = Time.realtimeSinceStartupAsDouble;
            if (server != null) Serve();
            while (chat != null && chat.TryTake(out TransportEvent happened)) Show(happened);
            foreach (StressClient one in stress) one.Update(now);
            rates.Update(now, server);
        }

        // After all that was queued in this frame.
        private void LateUpdate() => server?.Flush();

        private void Serve()
        {
            while (server.TryTake(out TransportEvent happened))
                if (happened.Kind == TransportEventKind.Message) Broadcast(happened);
        }

        private void Broadcast(TransportEvent line)
        {
            try
            {
                server.Native.Broadcast(Group.Everyone, line.Channel, line.Payload);
            }
            catch (SkipstoneException error)
            {
                Write("not sent to all: " + error.Message);
            }
        }

        private void Show(TransportEvent happened)
        {
            switch (happened.Kind)
            {
                case TransportEventKind.Connected:
                    Write("connected");
                    break;
                case TransportEventKind.Message:
                    Write(Encoding.UTF8.GetString(happened.Payload.Array, happened.Payload.Offset, happened.Payload.Count));
                    break;
                default:
                    Write("the connection ended: " + happened.Reason);
                    break;
            }
        }

        private void Write(string line)
        {
            if (lines.Count >= linesMax) lines.RemoveRange(0, linesMax / 10);
            lines.Add(line);
            position.y = float.MaxValue;
        }

        private void OnGUI()
        {
            GUILayout.BeginArea(new Rect(10, 10, Screen.width - 20, Screen.height - 20));
            GUILayout.BeginHorizontal();
            settings.Address = GUILayout.TextField(settings.Address, GUILayout.Width(200));
            if (GUILayout.Button(server == null ? "Serve" : "Stop serving")) Toggle(StartServer, StopServer, server == null);
            if (GUILayout.Button(chat == null ? "Chat" : "Leave")) Toggle(StartChat, StopChat, chat == null);
            if (GUILayout.Button("10 stress clients more")) Try(AddStress);
            if (GUILayout.Button("No stress client")) StopStress();
            GUILayout.EndHorizontal();
            GUILayout.Label(rates.Text + ", " + stress.Count + " stress clients");
            position = GUILayout.BeginScrollView(position);
            foreach (string line in lines) GUILayout.Label(line);
            GUILayout.EndScrollView();
            GUILayout.BeginHorizontal();
            typed = GUILayout.TextField(typed);
            if (GUILayout.Button("Send", GUILayout.Width(80))) Say();
            GUILayout.EndHorizontal();
            GUILayout.EndArea();
        }

        private void Say()
        {
            if (chat == null || typed.Length == 0) return;
            Status status = chat.Send(TransportChannels.ReliableOrdered, new ArraySegment<byte>(Encoding.UTF8.GetBytes(typed)));
            if (status != Status.Ok) Write("not sent: " + status);
            else typed = "";
        }

        private void Toggle(Action start, Action stop, bool starts)
        {
            if (starts) Try(start);
            else stop();
        }

        private void Try(Action start)
        {
            try
            {
                start();
            }
            catch (SkipstoneException error)
            {
                Write(error.Message);
            }
        }

        private void StartServer()
        {
            server = new TransportServer(settings.ServerConfig());
            Write("serves at " + server.Native.Url);
        }

        private void StopServer()
        {
            server.Dispose();
            server = null;
        }

        private void StartChat() => chat = TransportClient.Connect(settings);

        private void StopChat()
        {
            chat.Dispose();
            chat = null;
        }

        private void AddStress()
        {
            for (int one = 0; one < 10; one++) stress.Add(new StressClient(TransportClient.Connect(settings), stress.Count));
        }

        private void StopStress()
        {
            foreach (StressClient one in stress) one.Dispose();
            stress.Clear();
        }

        private void OnDestroy()
        {
            StopStress();
            if (chat != null) StopChat();
            if (server != null) StopServer();
        }
    }
}
