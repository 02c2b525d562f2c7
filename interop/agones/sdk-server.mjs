// An SDK server of Agones for tests: the state of one GameServer by gRPC, with the definitions that Agones' own SDK
// ships, and by REST. Alpha and beta functions are not served.

import http from 'node:http';
import { createRequire } from 'node:module';
import { once } from 'node:events';
import grpc from '@grpc/grpc-js';
import { GameServer } from './game-server.mjs';

const require = createRequire(import.meta.url);
const messages = require('@google-cloud/agones-sdk/lib/sdk_pb.js');
const definitions = require('@google-cloud/agones-sdk/lib/sdk_grpc_pb.js');
const { service } = grpc.loadPackageDefinition(definitions).agones.dev.sdk.SDK;

/** Listens on free ports of the loopback address. */
export async function listen() {
  const game = new GameServer();
  const byGrpc = new grpc.Server();
  byGrpc.addService(service, calls(game));
  const address = '127.0.0.1:0';
  const grpcPort = await new Promise((resolve, reject) => {
    const bound = (error, port) => (error ? reject(error) : resolve(port));
    byGrpc.bindAsync(address, grpc.ServerCredentials.createInsecure(), bound);
  });
  const byHttp = http.createServer((request, response) => answer(game, request, response)).listen(0, '127.0.0.1');
  await once(byHttp, 'listening');
  const close = () => {
    game.close();
    byGrpc.forceShutdown();
    byHttp.closeAllConnections();
    byHttp.close();
  };
  return { game, grpcPort, httpPort: byHttp.address().port, close };
}

function calls(game) {
  const order = (act) => (call, done) => {
    act(call.request);
    done(null, new messages.Empty());
  };
  return {
    ready: order(() => game.ready()),
    allocate: order(() => game.allocate()),
    shutdown: order(() => game.shutdown()),
    reserve: order(() => game.reserve()),
    setLabel: order((pair) => game.label(pair.getKey(), pair.getValue())),
    setAnnotation: order((pair) => game.annotate(pair.getKey(), pair.getValue())),
    getGameServer: (_call, done) => done(null, message(game)),
    health: (call, done) => {
      call.on('data', () => game.health());
      call.on('end', () => done(null, new messages.Empty()));
    },
    watchGameServer: (call) => {
      const send = () => call.write(message(game));
      send();
      game.on('change', send);
      call.on('cancelled', () => game.off('change', send));
    },
  };
}

/** The GameServer as the SDK's message, without its maps, which the definitions of SDK 1.61.0 cannot serialize. */
function message(game) {
  const { object_meta: meta, spec, status } = game.toJSON();
  const own = new messages.GameServer();
  const health = new messages.GameServer.Spec.Health();
  health.setDisabled(spec.health.disabled);
  health.setPeriodSeconds(spec.health.period_seconds);
  health.setFailureThreshold(spec.health.failure_threshold);
  health.setInitialDelaySeconds(spec.health.initial_delay_seconds);
  own.setSpec(new messages.GameServer.Spec());
  own.getSpec().setHealth(health);
  own.setObjectMeta(new messages.GameServer.ObjectMeta());
  own.getObjectMeta().setName(meta.name);
  own.setStatus(new messages.GameServer.Status());
  own.getStatus().setState(status.state);
  own.getStatus().setAddress(status.address);
  return own;
}

async function answer(game, request, response) {
  const say = (status, body) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  let text = '';
  for await (const piece of request.setEncoding('utf8')) text += piece;
  const path = `${request.method} ${request.url}`;
  if (path === 'GET /gameserver') return say(200, game);
  if (path === 'GET /watch/gameserver') return watch(game, response);
  const act = ORDERS[path];
  if (!act) return say(404, { code: 5, message: 'Not Found', details: [] });
  let body;
  try {
    body = JSON.parse(text);
  } catch (error) {
    return say(400, { code: 3, message: error.message, details: [] });
  }
  act(game, body);
  say(200, {});
}

/** One JSON object a line, now and at each change. */
function watch(game, response) {
  const send = () => response.write(`${JSON.stringify({ result: game })}\n`);
  response.writeHead(200, { 'content-type': 'application/json' });
  send();
  game.on('change', send);
  response.on('close', () => game.off('change', send));
}

const ORDERS = {
  'POST /ready': (game) => game.ready(),
  'POST /allocate': (game) => game.allocate(),
  'POST /shutdown': (game) => game.shutdown(),
  'POST /health': (game) => game.health(),
  'POST /reserve': (game) => game.reserve(),
  'PUT /metadata/label': (game, { key, value }) => game.label(key, value),
  'PUT /metadata/annotation': (game, { key, value }) => game.annotate(key, value),
};
