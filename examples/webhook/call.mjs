// Calls a webhook as the gateway does, to try it without one: WEBHOOK_SECRET=... node call.mjs http://127.0.0.1:9000 '{"orderId":"A-1001"}'
import { createHmac, randomUUID } from 'node:crypto';

const [url, input = '{}'] = process.argv.slice(2);
const { WEBHOOK_SECRET = '' } = process.env;

const body = JSON.stringify({
  skill: 'order-status',
  version: '1.0.0',
  input: JSON.parse(input),
  context: { apiKeyId: 'example', sessionId: null, executionId: randomUUID() },
  deliveryId: randomUUID(),
});
const time = Math.floor(Date.now() / 1000);
const signature = createHmac('sha256', WEBHOOK_SECRET).update(`${time}.${body}`).digest('hex');
const headers = { 'content-type': 'application/json', 'x-omniroute-signature': `t=${time},v1=${signature}` };
const response = await fetch(url, { method: 'POST', headers, body });
console.log(response.status, await response.text());
