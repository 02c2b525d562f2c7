using System;
using UnityEngine;

namespace Skipstone.Unity
{
    /// <summary>A client as a component, for games that use no networking library above it. It connects when it is
    /// enabled.</summary>
    [AddComponentMenu("Skipstone/Game Client")]
    public sealed class GameClient : MonoBehaviour
    {
        /// <summary>Where to connect.</summary>
        public TransportSettings Settings = new TransportSettings();

        /// <summary>The client, while the component is enabled.</summary>
        public TransportClient Client { get; private set; }

        /// <summary>The connection is established.</summary>
        public event Action Connected;
        /// <summary>A message arrived: its channel, and its bytes, which are valid until the handler returns.</summary>
        public event Action<ushort, ArraySegment<byte>> Received;
        /// <summary>The connection ended, and why; the component is disabled. Enable it to try again.</summary>
        public event Action<string> Disconnected;

        private void OnEnable()
        {
            try
            {
                Client = TransportClient.Connect(Settings);
            }
            catch (SkipstoneException error)
            {
                Debug.LogError(error.Message, this);
                enabled = false;
            }
        }

        private void Update()
        {
            for (TransportClient polled = Client; polled != null && polled == Client && polled.TryTake(out TransportEvent happened);)
            {
                switch (happened.Kind)
                {
                    case TransportEventKind.Connected:
                        Connected?.Invoke();
                        break;
                    case TransportEventKind.Message:
                        Received?.Invoke(happened.Channel, happened.Payload);
                        break;
                    default:
                        enabled = false;
                        Disconnected?.Invoke(happened.Reason);
                        break;
                }
            }
        }

        private void OnDisable()
        {
            Client?.Dispose();
            Client = null;
        }
    }
}
