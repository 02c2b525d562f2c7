// Each wrong call is an error of `npm test` without the line above it, and that line is an error if the call is
// accepted.

export {};

const bot = skipstone.bot({ api: 1, connect: "udp://127.0.0.1:9000", tick: 60 });
const chat = skipstone.bot({ api: 1, text: true });
const spawned = metrics.trend("spawn_ms");
const packet = buffer.create(4);

// @ts-expect-error API 2 is another tool's
skipstone.bot({ api: 2 });
// @ts-expect-error no such field
skipstone.bot({ api: 1, ticks: 60 });
// @ts-expect-error a rate is a number
skipstone.bot({ api: 1, tick: "60" });
// @ts-expect-error no such option
skipstone.options({ client: 5 });
// @ts-expect-error a stage that holds has no number
skipstone.options({ stages: [{ hold: "10s", clients: 5 }] });
// @ts-expect-error the channel comes first
bot.send(packet);
// @ts-expect-error a message is a buffer or a string
bot.send(0, { hello: true });
// @ts-expect-error no such delivery
bot.send(0, packet, { delivery: "fast" });
// @ts-expect-error no such function
bot.disconnect();
// @ts-expect-error `wait` takes a time, not a text
bot.wait(1, "5s");
// @ts-expect-error both ends are needed
bot.think(1);
// @ts-expect-error messages of this bot are strings
chat.message = (_channel, data: LuauBuffer) => buffer.len(data);
// @ts-expect-error a tick gets a number
bot.tick = (now: string) => print(now);
// @ts-expect-error a trend takes numbers
spawned.add(true);
// @ts-expect-error a trend is no gauge
spawned.set(5);
// @ts-expect-error a check has a name
check(true);
// @ts-expect-error places are numbers
buffer.writeu8(packet, "0", 1);
// @ts-expect-error a buffer is no string
data.text(packet);
// @ts-expect-error a request has no such method
http.request("http://127.0.0.1:8000", { method: "FETCH" });
// @ts-expect-error the message's name comes first
protobuf.load("game.proto").encode({ x: 1 });
