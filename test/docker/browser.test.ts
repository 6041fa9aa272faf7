import { execFile } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createBrowserBody } from '../../sandbox-host/browser/create-browser-body.ts';
import { runRequest } from '../../src/contract/runs.ts';
import { BROWSER_IMAGE, createBrowserHost, type Site, startSite } from '../support/browser-host.ts';
import { newRunId, socketPath, TEST_SECRET } from '../support/docker.ts';
import { startSandboxProcess } from '../support/sandbox-process.ts';
import { signedRequest } from '../support/sandbox-request.ts';

const FORM = `<title>Form</title>
<h1>A form</h1><p hidden>not to be read</p><p class=note>first note</p><p class=note>second note</p>
<form action=/sent method=post><input id=name name=name><textarea id=more name=more></textarea><button id=send>Send</button></form>
<a id=link href=/sent>elsewhere</a> <a id=tab href=/tab target=_blank>in a new tab</a>
<button id=under>under</button><div style="position:fixed;inset:0 0 auto auto;width:50%;height:50px">over</div>`;

/** Tries to reach what is not public by everything a page has. */
const PROBE = `<title>Probe</title><pre id=out></pre><script type=module>
      const targets = ['http://127.0.0.1:PORT/', 'http://localhost:PORT/', 'http://[::1]:PORT/', 'http://inside.example:PORT/', 'http://0.0.0.0:PORT/', 'http://169.254.169.254/'];
      const tell = (line) => { out.textContent += line + '\\n' };
      for (const target of targets) await fetch(target, { mode: 'no-cors' }).then(() => tell('REACHED ' + target), () => tell('no'));
      const socket = new WebSocket('ws://127.0.0.1:PORT/socket');
      await new Promise((done) => { socket.onopen = () => done(tell('REACHED socket')); socket.onerror = () => done(tell('no')) });
      const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:PORT' }] });
      peer.createDataChannel('x');
      const candidates = [];
      peer.onicecandidate = ({ candidate }) => candidate && candidates.push(candidate.candidate);
      await peer.setLocalDescription();
      await new Promise((done) => setTimeout(done, 500));
      tell(candidates.length === 0 ? 'no' : 'CANDIDATES ' + candidates);
      document.title = 'Probed';
    </script><img src=http://127.0.0.1:PORT/image><iframe src=http://127.0.0.1:PORT/frame></iframe><link rel=preconnect href=http://127.0.0.1:PORT>`;

const redirectTo = (location: string) => (_: unknown, response: ServerResponse) => response.writeHead(302, { location }).end();

let site: Site;
const host = createBrowserHost({ BROWSER_MAX_CONCURRENT: '2' });
const { browse } = host;

beforeAll(async () => {
  const probe = (_: unknown, response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(PROBE.replaceAll('PORT', String(site.port)));
  site = await startSite({
    '/': FORM,
    '/sent': '<title>Sent</title><p>thank you',
    '/tab': '<title>Tab</title><p>the new tab',
    '/script': `<title>waits</title><p id=out>nothing yet</p><script>setTimeout(() => { out.textContent = 'made by a script'; document.title = 'Done' }, 300)</script>`,
    '/alert': `<title>Alert</title><script>alert('hello'); confirm('sure?'); document.title = 'After'</script><p>after the alert`,
    '/popup': `<title>Popup</title><script>window.open('http://inside.example/'); window.open('/sent')</script><p>the page itself`,
    '/loop': '<title>Loop</title><button id=go onclick="for(;;);">go</button>',
    '/hog': `<title>Hog</title><script>onload = () => setTimeout(() => { window.all = []; for (;;) all.push(new Uint8Array(1e7).fill(1)) }, 50)</script>`,
    '/long': `<title>Long</title><p>${'x'.repeat(5_000)}`,
    '/file': (_, response) => response.writeHead(200, { 'content-disposition': 'attachment; filename=a.bin' }).end('bytes'),
    '/slow': (_, response) =>
      setTimeout(() => response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Slow</title>slow page'), 1_500),
    '/to-slow': `<title>Before</title><a id=slow href=/slow>slow</a>`,
    '/to-private': redirectTo('http://inside.example/secret'),
    '/to-file': redirectTo('file:///etc/passwd'),
    '/links': `<title>Links</title><a id=private href=http://inside.example/>a</a> <a id=file href=file:///etc/passwd>b</a>
      <a id=data href=data:text/html,hello>c</a> <a id=mail href=mailto:a@example.com>d</a> <a id=missing href=http://nobody.example/>e</a>`,
    '/probe': probe,
    '/cookie': (request, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'seen=yes' });
      response.end(`<title>Cookie</title><p>${request.headers.cookie ?? 'no cookie'}`);
    },
  });
});
afterAll(async () => {
  await host.host.drain(0);
  await site.close();
});

const within = { timeout: 20_000, interval: 50 };
const pathOf = (path: string) => `${site.url}${path}`;

describe('a browser', () => {
  it('opens a page and reads it', async () => {
    expect(await browse([{ action: 'navigate', url: pathOf('/') }])).toMatchObject({
      error: null,
      results: [
        {
          action: 'navigate',
          url: pathOf('/'),
          title: 'Form',
          status: 200,
          text: expect.stringMatching(/^A form\n+first note\n+second note\n/),
          truncated: false,
          screenshot: null,
        },
      ],
      timedOut: false,
      oomKilled: false,
      killed: false,
    });
  });

  it('fills a form, presses Enter in it, and reads elements', async () => {
    const { results, error } = await browse([
      { action: 'extract', url: pathOf('/'), selector: '.note' },
      { action: 'type', selector: '#more', text: 'two\nlines' },
      { action: 'type', selector: '#name', text: 'Ada & co\n' },
    ]);
    expect(error).toBeNull();
    expect(results).toMatchObject([
      { action: 'extract', title: 'Form', text: 'first note\nsecond note' },
      { action: 'type', title: 'Form', text: null },
      { action: 'type', url: pathOf('/sent'), title: 'Sent', text: 'thank you' },
    ]);
    expect(site.requests).toContain('POST /sent name=Ada+%26+co&more=two%0D%0Alines');
  });

  it('follows clicks, into new tabs too', async () => {
    const { results } = await browse([
      { action: 'click', url: pathOf('/'), selector: '#send' },
      { action: 'click', url: pathOf('/'), selector: '#link' },
      { action: 'click', url: pathOf('/'), selector: '#tab' },
    ]);
    expect(results).toMatchObject([{ title: 'Sent' }, { title: 'Sent' }, { title: 'Tab', url: pathOf('/tab'), text: 'the new tab' }]);
  });

  it('waits for the page that a click opens, and for what scripts make', async () => {
    const { results } = await browse([
      { action: 'click', url: pathOf('/to-slow'), selector: '#slow' },
      { action: 'extract', url: pathOf('/script'), selector: '#out' },
    ]);
    expect(results).toMatchObject([{ title: 'Slow' }, { title: 'Done', text: 'made by a script' }]);
  });

  it('takes screenshots, of the page and of an element', async () => {
    const { results } = await browse([
      { action: 'screenshot', url: pathOf('/') },
      { action: 'screenshot', selector: '#name' },
    ]);
    const [page, element] = results.map(({ screenshot }) => Buffer.from(screenshot ?? '', 'base64'));
    expect(page?.subarray(1, 4).toString()).toBe('PNG');
    expect([page?.readUInt32BE(16), page?.readUInt32BE(20)]).toEqual([1280, 720]);
    expect(element?.readUInt32BE(16)).toBeLessThan(400);
    expect(results.map(({ text }) => text)).toEqual([null, null]);
  });

  it('is new for each run', async () => {
    const step = { action: 'extract', url: pathOf('/cookie') } as const;
    expect((await browse([step, step])).results.map(({ text }) => text)).toEqual(['no cookie', 'seen=yes']);
    expect((await browse([step])).results.map(({ text }) => text)).toEqual(['no cookie']);
  });

  it('answers dialogs and goes on', async () => {
    expect((await browse([{ action: 'extract', url: pathOf('/alert') }])).results).toMatchObject([
      { title: 'After', text: 'after the alert' },
    ]);
  });

  it('stays with the page when that opens others by itself', async () => {
    const { results } = await browse([{ action: 'navigate', url: pathOf('/popup') }, { action: 'extract' }]);
    expect(results).toMatchObject([{ title: 'Popup' }, { title: 'Popup', text: 'the page itself' }]);
  });

  it('tells the status of a page', async () => {
    expect((await browse([{ action: 'extract', url: pathOf('/nowhere') }])).results).toMatchObject([{ status: 404, text: 'nothing here' }]);
  });

  it('cuts texts, all of them together', async () => {
    const step = { action: 'extract', url: pathOf('/long') } as const;
    const { results } = await browse([step, step, step], { maxTextChars: 7_000 });
    expect(results.map(({ text, truncated }) => [text?.length, truncated])).toEqual([
      [5_000, false],
      [2_000, true],
      [0, true],
    ]);
  });

  it('stops at the first step that fails, and says which', async () => {
    const { results, error } = await browse([
      { action: 'navigate', url: pathOf('/') },
      { action: 'type', selector: '#link', text: 'x' },
      { action: 'navigate', url: pathOf('/sent') },
    ]);
    expect(error).toBe('Step 2: Element cannot be typed into: #link');
    expect(results).toMatchObject([{ action: 'navigate', title: 'Form' }]);
  });

  it.each([
    ['#nobody', 'Selector not found: #nobody'],
    ['p[', 'Invalid selector: p['],
    ['p[hidden]', 'Element cannot be clicked: p[hidden]'],
  ])('cannot click %s', async (selector, message) => {
    expect(await browse([{ action: 'click', url: pathOf('/'), selector }])).toMatchObject({ results: [], error: message });
  });

  it('downloads nothing', async () => {
    expect(await browse([{ action: 'navigate', url: pathOf('/file') }])).toMatchObject({
      results: [],
      error: `Downloads are not possible: ${pathOf('/file')}`,
    });
  });

  it('says when a page crashes for want of memory', async () => {
    const small = createBrowserHost({ BROWSER_MEMORY_LIMIT: '384' });
    const result = await small.browse([
      { action: 'navigate', url: pathOf('/hog') },
      { action: 'extract', selector: '#never' },
    ]);
    expect(result.oomKilled || /(^|: )The page crashed$/.test(result.error ?? '')).toBe(true);
    await small.host.drain(0);
    expect(await small.containers()).toEqual([]);
  });

  it('is ended at the timeout, whatever the page does', async () => {
    const result = await browse([{ action: 'click', url: pathOf('/loop'), selector: '#go' }], { timeoutMs: 3_000 });
    expect(result).toMatchObject({ results: [], error: null, timedOut: true, killed: true });
  });
});

describe('the way out of a browser', () => {
  it.each([
    ['an address of this machine', 'http://127.0.0.1:8890/', 'Blocked private or local URL'],
    ['one of IPv6', 'http://[::1]:8890/', 'Blocked private or local URL'],
    ['a name with a private address', 'http://inside.example/', 'Blocked private or local URL'],
    ['a name that does not exist', 'http://nobody.example/', 'No address for nobody.example'],
    ['a port on which nobody listens', 'http://site.example:1024/', 'No answer from site.example:1024'],
    ['a redirect to a private name', '/to-private', 'Blocked private or local URL'],
  ])('is closed to %s', async (_, target, message) => {
    const url = target.startsWith('/') ? pathOf(target) : target;
    expect(await browse([{ action: 'navigate', url }])).toMatchObject({ results: [], error: message });
  });

  it('leads from a page no further than from an address line', async () => {
    const click = (selector: string) => browse([{ action: 'click', url: pathOf('/links'), selector }]);
    expect(await click('#private')).toMatchObject({ results: [], error: 'Blocked private or local URL' });
    expect(await click('#missing')).toMatchObject({ results: [], error: 'No address for nobody.example' });
    const { results, error } = await browse(
      ['#file', '#data', '#mail'].map((selector) => ({ action: 'click', url: pathOf('/links'), selector })),
    );
    expect(error).toBeNull();
    expect(results).toEqual(Array(3).fill(expect.objectContaining({ url: pathOf('/links'), title: 'Links' })));
    expect((await browse([{ action: 'navigate', url: pathOf('/to-file') }])).error).toMatch(/^Navigation failed: net::ERR_/);
  });

  it('is closed to whatever scripts, images and frames of a page ask for', async () => {
    const asked = site.requests.length;
    const { results } = await browse([
      { action: 'navigate', url: pathOf('/probe') },
      { action: 'extract', selector: '#out' },
    ]);
    expect(results.at(-1)).toMatchObject({ title: 'Probed', text: 'no\n'.repeat(8) });
    expect(site.requests.slice(asked)).toEqual(['GET /probe']);
  });
});

describe('the container of a browser', () => {
  const inspect = async (name: string) => {
    const { stdout } = await promisify(execFile)('/usr/bin/docker', ['-H', `unix://${socketPath}`, 'inspect', name]);
    return JSON.parse(stdout)[0];
  };
  /** The only one that there is. */
  const oneContainer = () =>
    vi.waitFor(async () => {
      const [id, ...others] = await host.containers();
      expect(id).toBeDefined();
      expect(others).toEqual([]);
      return id as string;
    }, within);

  it('is as its create body says, and gone with the run', async () => {
    const id = newRunId();
    const running = browse([{ action: 'extract', url: pathOf('/slow') }], { id });
    const container = await vi.waitFor(() => inspect(`omniroute-${id}`), within);
    expect(await running).toMatchObject({ error: null });
    const request = runRequest.parse({ id, image: BROWSER_IMAGE, command: ['browser'] });
    const identity = { hostId: host.hostId, bootId: container.Config.Labels['omniroute.boot'] };
    const { HostConfig, NetworkDisabled, Healthcheck, Env, Entrypoint, ...config } = createBrowserBody(request, identity, {
      cpuLimit: 1_000,
      memoryLimit: 1_024,
    });
    expect(container.HostConfig).toMatchObject(HostConfig);
    expect(container.Config).toMatchObject(config);
    expect(container.Config.Env).toEqual(expect.arrayContaining(Env));
    expect(container.HostConfig).toMatchObject({ NetworkMode: 'none', Privileged: false, Binds: null, ReadonlyRootfs: true });
    expect(container.Mounts).toEqual([]);
    expect(Object.keys(container.NetworkSettings.Networks)).toEqual([]);
    await vi.waitFor(async () => expect(await host.containers()).toEqual([]), within);
  });

  it('goes when its caller leaves, and when it is told to', async () => {
    const leaving = new AbortController();
    const steps = [{ action: 'click' as const, url: pathOf('/loop'), selector: '#go' }];
    const visits = (count: number) =>
      vi.waitFor(() => expect(site.requests.filter((line) => line === 'GET /loop').length - before).toBe(count), within);
    const before = site.requests.filter((line) => line === 'GET /loop').length;
    const left = host.send({ id: newRunId(), steps }, leaving.signal);
    await visits(1);
    leaving.abort();
    await vi.waitFor(async () => expect(await host.containers()).toEqual([]), within);
    expect(await (await left).json()).toMatchObject({ killed: true, results: [] });

    const id = newRunId();
    const killed = browse(steps, { id });
    await visits(2);
    const response = await host.host.app.request(`/v1/runs/${id}`, await signedRequest(TEST_SECRET, 'DELETE', `/v1/runs/${id}`));
    expect(await response.json()).toEqual({ id, killed: true });
    expect(await killed).toMatchObject({ killed: true, timedOut: false, results: [], error: null });
    await vi.waitFor(async () => expect(await host.containers()).toEqual([]), within);
  });

  it('goes when the host is killed', async () => {
    const own = await startSandboxProcess({
      SANDBOX_SECRET: TEST_SECRET,
      SANDBOX_HOST_ID: host.hostId,
      SANDBOX_WARM_MAX: '0',
      BROWSER_IMAGE,
      DOCKER_HOST: `unix://${socketPath}`,
    });
    const body = { id: newRunId(), steps: [{ action: 'navigate', url: 'http://127.0.0.1/' }] };
    const lost = fetch(`${own.url}/v1/browser-runs`, await signedRequest(TEST_SECRET, 'POST', '/v1/browser-runs', { body })).catch(
      () => 'lost',
    );
    await oneContainer();
    own.signal('SIGKILL');
    expect(await lost).toBe('lost');
    await vi.waitFor(async () => expect(await host.containers()).toEqual([]), within);
  });
});

describe('a host', () => {
  it('runs an id once, however often it is sent', async () => {
    const asked = () => site.requests.filter((line) => line === 'GET /tab?once').length;
    const body = { id: newRunId(), steps: [{ action: 'extract' as const, url: pathOf('/tab?once') }] };
    const [first, second] = await Promise.all([host.send(body), host.send(body)]);
    const result = await first?.json();
    expect(result).toMatchObject({ error: null });
    expect(await second?.json()).toEqual(result);
    expect(await (await host.send(body)).json()).toEqual(result);
    expect(asked()).toBe(1);
    const other = await host.send({ ...body, steps: [{ action: 'screenshot', url: pathOf('/') }] });
    expect([other.status, await other.json()]).toEqual([409, { code: 'id_in_use', error: `Another run has the id ${body.id}` }]);
  });

  it('lets in as many browsers as it has places, keeps some waiting, and refuses the rest', async () => {
    const busy = createBrowserHost({ BROWSER_MAX_CONCURRENT: '1', SANDBOX_MAX_QUEUE: '2' });
    let most = 0;
    const watch = setInterval(async () => {
      most = Math.max(most, (await busy.containers()).length);
    }, 50);
    const steps = [{ action: 'extract' as const, url: pathOf('/tab') }];
    const answers = await Promise.all(Array.from({ length: 5 }, () => busy.send({ id: newRunId(), steps })));
    clearInterval(watch);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 429, 429]);
    for (const answer of answers) {
      if (answer.status === 200) expect(await answer.json()).toMatchObject({ error: null, results: [{ text: 'the new tab' }] });
      else expect(await answer.json()).toMatchObject({ code: 'queue_full' });
    }
    expect(most).toBe(1);
    await busy.host.drain(0);
    expect(await busy.containers()).toEqual([]);
  });

  it.each([
    ['', 'Set BROWSER_IMAGE on a sandbox-host to enable it; until then read pages with http_request.'],
    [
      'omniroute.invalid/browser:1',
      'The image omniroute.invalid/browser:1, BROWSER_IMAGE of the sandbox-host, is not installed there; the README says how to build it.',
    ],
    ['alpine:3.20', 'The image alpine:3.20, BROWSER_IMAGE of the sandbox-host, has no browser for it.'],
  ])('says how to get a browser when its image is "%s"', async (image, why) => {
    const without = createBrowserHost({ BROWSER_IMAGE: image });
    const answer = await without.send({ id: newRunId(), steps: [{ action: 'navigate', url: 'https://example.com/' }] });
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({ code: 'browser_disabled', error: `Browser automation skill is disabled. ${why}` });
    expect(await without.containers()).toEqual([]);
  });
});
