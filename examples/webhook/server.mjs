// A webhook for the skill order-status. Environment: WEBHOOK_SECRET, PORT (9000). It speaks plain HTTP: put what serves HTTPS in front.
import { createServer } from 'node:http';
import { verifySignature } from './verify-signature.mjs';

const { WEBHOOK_SECRET, PORT = '9000' } = process.env;
const MAX_BODY_BYTES = 1_048_576;

const ORDERS = {
  'A-1001': { status: 'shipped', carrier: 'Nordpost' },
  'A-1002': { status: 'packing', carrier: null },
};

/** The body of a request, or undefined when it is larger than it may be. */
async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    // The rest is read and dropped, so that the caller gets to see the answer.
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined;
}

async function answer(request) {
  const body = await readBody(request);
  if (body === undefined) return [413, { error: 'Too large' }];
  if (!verifySignature(body, request.headers['x-omniroute-signature'], WEBHOOK_SECRET)) return [401, { error: 'Bad signature' }];
  const { input } = JSON.parse(body.toString());
  const order = Object.hasOwn(ORDERS, input.orderId) ? ORDERS[input.orderId] : undefined;
  // The model reads the `error` of 400, 404, 409 and 422, and may ask again with another order.
  return order === undefined ? [404, { error: `No order ${input.orderId}` }] : [200, { orderId: input.orderId, ...order }];
}

if (!WEBHOOK_SECRET) {
  console.error('Set WEBHOOK_SECRET, for example to what `openssl rand -hex 32` prints');
  process.exit(1);
}
const server = createServer(async (request, response) => {
  const [status, body] = await answer(request).catch(() => [500, { error: 'Internal error' }]);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
