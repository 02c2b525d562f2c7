// Agones' own SDK for Node.js accepts the SDK server of the tests, and watches what `skipstone serve --agones` does
// through the same SDK server's REST interface.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import AgonesSDK from '@google-cloud/agones-sdk';
import { listen } from './sdk-server.mjs';

const TOOL = process.env.SKIPSTONE;
const PATIENCE_MS = 30_000;

/** An SDK server, Agones' SDK connected to it, and each state that the SDK saw, once. */
async function pod(t) {
  const server = await listen();
  process.env.AGONES_SDK_GRPC_PORT = String(server.grpcPort);
  const sdk = new AgonesSDK();
  await sdk.connect();
  const states = [];
  const seen = ({ status }) => states.at(-1) === status.state || states.push(status.state);
  // The stream ends with the SDK.
  sdk.watchGameServer(seen, () => {});
  t.after(() => {
    sdk.close();
    server.close();
  });
  return { server, sdk, states };
}

async function until(what, holds) {
  const end = Date.now() + PATIENCE_MS;
  while (!holds()) {
    assert.ok(Date.now() < end, what());
    await sleep(20);
  }
}

async function rest(server, path) {
  const response = await fetch(`http://127.0.0.1:${server.httpPort}${path}`);
  return response.json();
}

test("Agones' SDK goes through the life of a game server", { timeout: 60_000 }, async (t) => {
  const { server, sdk, states } = await pod(t);
  await sdk.ready();
  sdk.health((error) => assert.fail(error));
  await until(() => 'no ping', () => server.game.pings === 1);
  await sdk.setLabel('map', 'harbour');
  await sdk.setAnnotation('mode', 'duel');
  await sdk.reserve(10);
  await sdk.allocate();
  const seen = await sdk.getGameServer();
  assert.equal(seen.status.state, 'Allocated');
  const { status, object_meta: meta } = await rest(server, '/gameserver');
  assert.equal(status.state, 'Allocated', 'REST and gRPC have one state');
  assert.deepEqual(meta.labels, { 'agones.dev/sdk-map': 'harbour' });
  assert.deepEqual(meta.annotations, { 'agones.dev/sdk-mode': 'duel' });
  await sdk.shutdown();
  await until(() => states.join(), () => states.at(-1) === 'Shutdown');
  assert.deepEqual(states, ['Scheduled', 'Ready', 'Reserved', 'Allocated', 'Shutdown']);
});

/** `serve --agones`, ended with its test. */
async function serve(t, server) {
  const words = ['serve', '--agones', '--listen', '127.0.0.1:0', '--console', 'off', '--identity', 'new'];
  const env = { ...process.env, AGONES_SDK_HTTP_PORT: String(server.httpPort) };
  const tool = spawn(TOOL, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => tool.kill('SIGKILL'));
  let text = '';
  tool.stdout.setEncoding('utf8').on('data', (piece) => (text += piece));
  await until(() => `no address in: ${text}`, () => text.includes('stop with'));
  return { tool, url: text.match(/skip:\/\/\S+/)[0] };
}

const skip = TOOL ? false : 'SKIPSTONE names no tool';

test('a server goes ready, healthy, allocated and shut down', { skip, timeout: 120_000 }, async (t) => {
  const { server, states } = await pod(t);
  const { tool, url } = await serve(t, server);
  await until(() => states.join(), () => states.at(-1) === 'Ready' && server.game.pings > 0);
  const players = spawn(TOOL, ['stress', url, '-c', '4', '-r', '4/s', '-d', '1s', '-q'], { stdio: 'ignore' });
  const [code] = await once(players, 'exit');
  assert.ok(code === 0 || code === 98, `stress ended with ${code}`);
  tool.kill('SIGTERM');
  await once(tool, 'exit');
  await until(() => states.join(), () => states.at(-1) === 'Shutdown');
  assert.deepEqual(states, ['Scheduled', 'Ready', 'Allocated', 'Shutdown']);
});

test('a server that is frozen becomes unhealthy', { skip, timeout: 120_000 }, async (t) => {
  const { server, states } = await pod(t);
  const { tool } = await serve(t, server);
  await until(() => states.join(), () => states.at(-1) === 'Ready' && server.game.pings > 1);
  tool.kill('SIGSTOP');
  await until(() => states.join(), () => states.at(-1) === 'Unhealthy');
});
