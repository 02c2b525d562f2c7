using System;
using UnityEngine;

namespace Skipstone.Unity
{
    /// <summary>A server as a component, for games that use no networking library above it.</summary>
    [AddComponentMenu("Skipstone/Game Server")]
    [DisallowMultipleComponent]
    public sealed class GameServer : MonoBehaviour
    {
        /// <summary>Where to listen.</summary>
        public TransportSettings Settings = new TransportSettings();

        /// <summary>The server, while the component is enabled.</summary>
        public TransportServer Server { get; private set; }

        /// <summary>A client has connected.</summary>
        public event Action<int> Connected;
        /// <summary>A message arrived: its sender, its channel, and its bytes, which are valid until the handler
        /// returns.</summary>
        public event Action<int, ushort, ArraySegment<byte>> Received;
        /// <summary>A client has disconnected, for this reason.</summary>
        public event Action<int, string> Disconnected;

        private void OnEnable()
        {
            try
            {
                Server = new TransportServer(Settings.ServerConfig());
                Debug.Log("Skipstone serves at " + Server.Native.Url);
            }
            catch (SkipstoneException error)
            {
                Debug.LogError(error.Message, this);
                enabled = false;
            }
        }

        private void Update()
        {
            for (TransportServer polled = Server; polled != null && polled == Server && polled.TryTake(out TransportEvent happened);)
            {
                switch (happened.Kind)
                {
                    case TransportEventKind.Connected:
                        Connected?.Invoke(happened.Connection);
                        break;
                    case TransportEventKind.Message:
                        Received?.Invoke(happened.Connection, happened.Channel, happened.Payload);
                        break;
                    default:
                        Disconnected?.Invoke(happened.Connection, happened.Reason);
                        break;
                }
            }
        }

        // After all that scripts sent in this frame.
        private void LateUpdate() => Server?.Flush();

        private void OnDisable()
        {
            Server?.Dispose();
            Server = null;
        }
    }
}
