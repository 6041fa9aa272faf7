// Runs in the browser's container: fetches the steps from the sandbox-host, does them in Chromium and sends back what came of them.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import type { BrowserStep } from '../../../src/contract/browser-runs.ts';
import { fetchText, openHostSession, postText } from './host-session.ts';
import { NavigationWatcher } from './navigation-watcher.ts';
import { runSteps, type StepLimits } from './run-steps.ts';
import { createSocksServer } from './socks-server.ts';

const EXECUTABLE = '/usr/lib/chromium/chromium-headless-shell';
const VIEWPORT = { width: 1280, height: 720 };

/** What the sandbox-host says about a connection that it did not let through. */
const REFUSALS: Record<number, (host: string) => string> = {
  403: () => 'Blocked private or local URL',
  404: (host) => `No address for ${host}`,
};

const session = openHostSession();
/** By host and port, as the spelling of a URL has them. */
const refusals = new Map<string, number>();
const targetOf = ({ hostname, port, protocol }: URL) => `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
const onRefusal = (authority: string, status: number) => refusals.set(targetOf(new URL(`http://${authority}`)), status);
const proxy = createSocksServer(session, onRefusal).listen(0, '127.0.0.1');
await once(proxy, 'listening');

function explainRefusal(url: string): string | undefined {
  const { hostname, host } = new URL(url);
  const status = refusals.get(targetOf(new URL(url)));
  if (status === undefined) return undefined;
  return REFUSALS[status]?.(hostname) ?? `No answer from ${host}`;
}

const browser = await chromium.launch({
  executablePath: EXECUTABLE,
  // Its own sandbox needs namespaces that a container without capabilities may not make. This container is the sandbox, of one run alone.
  chromiumSandbox: false,
  proxy: { server: `socks5://127.0.0.1:${(proxy.address() as AddressInfo).port}` },
  args: [
    // There is no other network in here; this spares the attempts.
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--disable-quic',
    '--disable-gpu',
  ],
});
const context = await browser.newContext({ viewport: VIEWPORT, acceptDownloads: false, serviceWorkers: 'block' });
const watcher = new NavigationWatcher(context, await context.newPage());
const { steps, limits } = JSON.parse(await fetchText(session, '/run')) as { steps: BrowserStep[]; limits: StepLimits };
const outcome = await runSteps(steps, { watcher, limits, explainRefusal });
await postText(session, '/outcome', JSON.stringify(outcome));
process.exit(0);
