// WebGL builds have neither sockets nor threads: there the browser client is the transport. The page provides it to the
// game, as `window.Skipstone = await import("./skipstone.js")` or as `Skipstone` of Unity's Module, before a client
// connects.
mergeInto(LibraryManager.library, {
  $SkipstoneWeb: {
    clients: [],
    // Status of the C# client, by the browser client's refusals.
    refusals: { notConnected: -17, noSuchChannel: -18, tooLong: -20, queueFull: -21, workerBusy: -22 },
    library: function () {
      return Module["Skipstone"] || globalThis["Skipstone"];
    },
    // Writes as much of `bytes` at `buffer` as fits, and returns their full length.
    write: function (bytes, buffer, capacity) {
      HEAPU8.set(bytes.subarray(0, capacity), buffer);
      return bytes.length;
    },
  },

  SkipstoneWeb_Connect__deps: ["$SkipstoneWeb"],
  SkipstoneWeb_Connect: function (url, urlLength, token, tokenLength) {
    var library = SkipstoneWeb.library();
    if (!library) return -11;
    var text = new TextDecoder().decode(HEAPU8.slice(url, url + urlLength));
    try {
      // The game decides when to connect again.
      var client = library.connect(text, { token: HEAPU8.slice(token, token + tokenLength), reconnect: false });
      SkipstoneWeb.clients.push({ client: client, taken: undefined });
      return SkipstoneWeb.clients.length - 1;
    } catch (error) {
      console.error("Skipstone: " + error.message);
      return -13;
    }
  },

  SkipstoneWeb_Send__deps: ["$SkipstoneWeb"],
  SkipstoneWeb_Send: function (id, channel, data, length) {
    var entry = SkipstoneWeb.clients[id];
    if (!entry) return -5;
    try {
      entry.client.send(channel, HEAPU8.slice(data, data + length));
      return 0;
    } catch (error) {
      return SkipstoneWeb.refusals[error.reason] || -99;
    }
  },

  // Takes the next event: `head` gets kind, channel, length and code, `buffer` the bytes. Returns 0 if there is none, 1
  // if it was taken, and 2 if the buffer is too small: the event stays, and its length is returned.
  SkipstoneWeb_Take__deps: ["$SkipstoneWeb"],
  SkipstoneWeb_Take: function (id, head, buffer, capacity) {
    var entry = SkipstoneWeb.clients[id];
    if (!entry) return 0;
    var kinds = { connected: 2, message: 3, closed: 7 };
    var event = entry.taken || entry.client.pollEvent();
    while (event !== undefined && !(event.type in kinds)) event = entry.client.pollEvent();
    entry.taken = undefined;
    if (event === undefined) return 0;
    var bytes = event.type === "message" ? event.payload
      : event.type === "closed" ? new TextEncoder().encode(event.close.reason) : new Uint8Array(0);
    HEAP32[head >> 2] = kinds[event.type];
    HEAP32[(head >> 2) + 1] = event.channel || 0;
    HEAP32[(head >> 2) + 2] = bytes.length;
    HEAP32[(head >> 2) + 3] = event.type === "closed" ? event.close.code : 0;
    if (SkipstoneWeb.write(bytes, buffer, capacity) <= capacity) return 1;
    entry.taken = event;
    return 2;
  },

  SkipstoneWeb_Rtt__deps: ["$SkipstoneWeb"],
  SkipstoneWeb_Rtt: function (id) {
    var entry = SkipstoneWeb.clients[id];
    var statistics = entry && entry.client.statistics();
    return statistics ? statistics.rtt.smoothed : 0;
  },

  SkipstoneWeb_Close__deps: ["$SkipstoneWeb"],
  SkipstoneWeb_Close: function (id) {
    var entry = SkipstoneWeb.clients[id];
    if (!entry) return;
    // Numbers are not used again.
    SkipstoneWeb.clients[id] = undefined;
    entry.client.close();
  },
});
