// The bot of ../examples/shooter.luau in TypeScript: inputs 60 times a second, snapshots 20 times a second.
//
// Client to server: 1, sequence (u32), buttons (u8), yaw (f32).
// Server to client: 2, last sequence that it knows (u32), count (u16), then an entity each: id (u16), x and y (f32).

export {};

const INPUT = 1;
const SNAPSHOT = 2;

const bot = skipstone.bot({ api: 1, connect: "udp://127.0.0.1:9000", tick: 60 });

skipstone.options({
  clients: 20,
  duration: "10s",
  thresholds: ["input_ms.p99<200ms", "input_ms_answered.share>95%"],
});

// From an input to the first snapshot that knows it.
const inputs = metrics.requests("input_ms", 1);
const entities = metrics.trend("entities");

let sequence = 0;
let acknowledged = 0;
let yaw = math.random() * 6;
const packet = buffer.create(10);

bot.tick = function (now) {
  sequence += 1;
  yaw += (math.random() - 0.5) * 0.1;
  buffer.writeu8(packet, 0, INPUT);
  buffer.writeu32(packet, 1, sequence);
  buffer.writeu8(packet, 5, math.random(0, 15));
  buffer.writef32(packet, 6, yaw);
  this.send(0, packet, { due: now });
  // One of three: snapshots come at a third of the rate.
  if (sequence % 3 === 0) {
    inputs.sent(sequence, now);
  }
};

bot.message = function (_channel, data) {
  if (!check("is_snapshot", buffer.len(data) >= 7 && buffer.readu8(data, 0) === SNAPSHOT)) {
    return;
  }
  const known = buffer.readu32(data, 1);
  for (let number = acknowledged + 1; number <= known; number++) {
    inputs.got(number);
  }
  acknowledged = Math.max(acknowledged, known);
  entities.add(buffer.readu16(data, 5));
};
