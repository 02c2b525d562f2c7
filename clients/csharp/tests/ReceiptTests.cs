using System.Linq;
using NUnit.Framework;

namespace Skipstone.Tests
{
    public class ReceiptTests
    {
        [Test]
        public void A_channel_with_receipts_acknowledges_each_message([Values(5, 6)] int channel)
        {
            using (Pair pair = Pair.Connected())
            {
                MessageId first = pair.Client.Send((ushort)channel, new byte[1]);
                MessageId second = pair.Client.Send((ushort)channel, new byte[1]);
                Assert.AreNotEqual(first, second);
                pair.Until(() => pair.AtClient.Count(seen => seen.Kind == EventKind.Acknowledged) == 2, "two receipts");
                CollectionAssert.AreEqual(new[] { first, second }, pair.AtClient.Select(seen => seen.Id));
            }
        }

        [Test]
        public void Queued_messages_are_given_up_when_the_connection_ends()
        {
            using (Pair pair = Pair.Connected())
            {
                MessageId id = pair.Server.Send(pair.Peer, 5, new byte[1]);
                pair.Server.Close(pair.Peer);
                pair.Until(() => pair.AtServer.Any(seen => seen.Kind == EventKind.Closed), "an end");
                Seen lost = pair.AtServer.Single(seen => seen.Kind == EventKind.GivenUp);
                Assert.AreEqual((id, GivenUp.Closed), (lost.Id, lost.GivenUp));
            }
        }
    }
}
