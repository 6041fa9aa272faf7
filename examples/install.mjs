// Installs an example: node examples/install.mjs examples/<folder>
// Environment: MANAGEMENT_TOKEN, URL of the gateway (http://127.0.0.1:8787); for the webhook also WEBHOOK_URL and WEBHOOK_SECRET.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder = '.'] = process.argv.slice(2);
const { URL: gateway = 'http://127.0.0.1:8787', MANAGEMENT_TOKEN = '', WEBHOOK_URL, WEBHOOK_SECRET } = process.env;

const readText = (file) => readFileSync(join(folder, file), 'utf8');

/** The body of the answer. Throws with what the gateway says is wrong. */
async function send(path, body) {
  const headers = { authorization: `Bearer ${MANAGEMENT_TOKEN}`, 'content-type': 'application/json' };
  const response = await fetch(new URL(path, gateway), { method: 'POST', headers, body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${answer.code}: ${answer.error}`);
  return answer;
}

try {
  if (existsSync(join(folder, 'webhook.json'))) {
    const webhook = await send('/api/handlers', { ...JSON.parse(readText('webhook.json')), url: WEBHOOK_URL, secret: WEBHOOK_SECRET });
    console.log(`registered the webhook ${webhook.name} at ${webhook.url}`);
  }
  const instructions = existsSync(join(folder, 'SKILL.md')) ? { instructions: readText('SKILL.md') } : {};
  const skill = { ...JSON.parse(readText('skill.json')), ...instructions };
  const { id } = await send('/api/skills/install', skill);
  console.log(`installed ${skill.name}: ${id}`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
