import { Hono } from 'hono';
import { accepts } from 'hono/accepts';
import { bodyLimit } from 'hono/body-limit';
import type { ZodType } from 'zod';
import { BROWSER_RUNS_PATH, browserRunRequest } from '../src/contract/browser-runs.ts';
import { normalizeImage } from '../src/contract/images.ts';
import {
  HEALTH_PATH,
  HOST_ERROR_STATUS,
  LIFE_HEADER,
  LIFE_QUERY,
  LOAD_HEADER,
  MAX_REQUEST_BYTES,
  READY_PATH,
  RUN_EVENTS_TYPE,
  RUNS_PATH,
  type RunRequest,
  runRequest,
} from '../src/contract/runs.ts';
import type { AdmissionQueue } from './admission-queue.ts';
import type { SignedRequest } from './auth.ts';
import type { BodyBudget } from './body-budget.ts';
import type { BrowserRuns } from './browser/browser-runs.ts';
import type { HostConfig } from './config.ts';
import { describeError, HostError } from './host-error.ts';
import type { Logger } from './logger.ts';
import type { RunMetrics } from './metrics.ts';
import type { Readiness } from './readiness.ts';
import { runEventStream } from './run-events.ts';
import type { RunRegistry } from './run-registry.ts';
import type { SandboxRunner } from './sandbox-runner.ts';
import type { WarmSource } from './warm-source.ts';

export interface ServerParts {
  config: Pick<HostConfig, 'hostId' | 'images' | 'networkAllowed' | 'maxOutputChars' | 'maxFileBytes'>;
  /** CPUs of the machine. */
  cpus: number;
  /** Names this life of the host. */
  bootId: string;
  runner: Pick<SandboxRunner, 'kill' | 'killAll' | 'runningContainers'>;
  source: Pick<WarmSource, 'counts' | 'kinds'>;
  registry: RunRegistry;
  browsers: Pick<BrowserRuns, 'join' | 'kill' | 'killAll' | 'active' | 'containers'>;
  queue: AdmissionQueue;
  bodies: BodyBudget;
  metrics: RunMetrics;
  verify: (request: SignedRequest) => Promise<void>;
  readiness: () => Promise<Readiness>;
  log: Logger;
}

const JSON_TYPE = 'application/json';

function parseBody<T>(schema: ZodType<T>, body: Uint8Array): T {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new HostError('invalid_request', 'The body is not valid JSON');
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new HostError('invalid_request', [issue?.path.join('.'), issue?.message].filter(Boolean).join(': '));
}

/** Bytes that a request's body may take. */
function sizeOf(headers: Headers): number {
  const length = headers.get('content-length');
  if (length !== null) return Number(length);
  return headers.has('transfer-encoding') ? MAX_REQUEST_BYTES : 0;
}

/** The run as this host allows it: images and network as configured, limits never above the host's own. */
function admitRun(run: RunRequest, { config, cpus }: ServerParts): RunRequest {
  const image = normalizeImage(run.image, config.images);
  if (image === undefined) throw new HostError('image_not_allowed', `Sandbox image is not allowed: ${run.image}`);
  if (run.limits.networkEnabled && !config.networkAllowed) {
    throw new HostError('network_not_allowed', 'Network access is not allowed on this sandbox host');
  }
  const limits = {
    ...run.limits,
    cpuLimit: Math.min(run.limits.cpuLimit, cpus * 1_000),
    maxOutputChars: Math.min(run.limits.maxOutputChars, config.maxOutputChars),
    maxFileBytes: Math.min(run.limits.maxFileBytes, config.maxFileBytes),
  };
  return { ...run, image, limits };
}

/** Refuses a run that is meant for another life of this host, which may have begun it. */
function requireLife(life: string | undefined, bootId: string): void {
  if (life !== undefined && life !== bootId) throw new HostError('host_restarted', 'This sandbox host has been started anew');
}

/** The sandbox-host's HTTP interface. Everything under `/v1` has to be signed. */
export function createServer(parts: ServerParts): Hono<{ Variables: { body: Uint8Array<ArrayBuffer> } }> {
  const { config, runner, source, registry, browsers, queue, metrics, log } = parts;
  const app = new Hono<{ Variables: { body: Uint8Array<ArrayBuffer> } }>();

  app.use(async (c, next) => {
    await next();
    c.res.headers.set(LOAD_HEADER, `${queue.admitted + queue.waiting}/${queue.maxConcurrent}`);
    c.res.headers.set(LIFE_HEADER, parts.bootId);
  });
  const onTooLarge = () => {
    throw new HostError('payload_too_large', `The body is larger than ${MAX_REQUEST_BYTES} bytes`);
  };
  app.use('/v1/*', bodyLimit({ maxSize: MAX_REQUEST_BYTES, onError: onTooLarge }), async (c, next) => {
    const release = parts.bodies.take(sizeOf(c.req.raw.headers));
    try {
      const { pathname, search } = new URL(c.req.url);
      const body = new Uint8Array(await c.req.arrayBuffer());
      await parts.verify({ authorization: c.req.header('authorization'), method: c.req.method, path: pathname + search, body });
      c.set('body', body);
      await next();
    } finally {
      release();
    }
  });

  app.post(RUNS_PATH, async (c) => {
    requireLife(c.req.query(LIFE_QUERY), parts.bootId);
    const run = registry.join(admitRun(parseBody(runRequest, c.var.body), parts), c.req.raw.signal);
    if (accepts(c, { header: 'Accept', supports: [JSON_TYPE, RUN_EVENTS_TYPE], default: JSON_TYPE }) === JSON_TYPE)
      return c.json(await run.result);
    await run.started;
    // A run that could not start has its own status; one that did answers with what happens.
    if (!run.hasStarted) await run.result;
    return c.body(runEventStream(run, c.req.raw.signal), 200, { 'content-type': RUN_EVENTS_TYPE });
  });
  app.post(BROWSER_RUNS_PATH, async (c) => {
    requireLife(c.req.query(LIFE_QUERY), parts.bootId);
    const request = parseBody(browserRunRequest, c.var.body);
    const maxTextChars = Math.min(request.maxTextChars, config.maxOutputChars);
    return c.json(await browsers.join({ ...request, maxTextChars }, c.req.raw.signal));
  });
  const containers = () => [...runner.runningContainers, ...browsers.containers];
  app.get(RUNS_PATH, (c) => c.json({ runs: [...registry.active, ...browsers.active], containers: containers(), warm: source.kinds }));
  app.delete(RUNS_PATH, async (c) => {
    const [programs, browsing] = await Promise.all([runner.killAll(), browsers.killAll()]);
    return c.json({ killed: programs + browsing });
  });
  app.delete(`${RUNS_PATH}/:id`, (c) => {
    const id = c.req.param('id');
    if (!runner.kill(id) && !browsers.kill(id)) throw new HostError('not_found', `No active run has the id ${id}`);
    return c.json({ id, killed: true });
  });

  app.get(HEALTH_PATH, (c) =>
    c.json({
      status: queue.closed ? 'draining' : 'ok',
      hostId: config.hostId,
      running: queue.admitted,
      waiting: queue.waiting,
      capacity: queue.maxConcurrent,
      warm: source.counts,
    }),
  );
  app.get(READY_PATH, async (c) => {
    const readiness = await parts.readiness();
    const ready = readiness.ready && !queue.closed;
    return c.json({ ...readiness, ready, draining: queue.closed, warm: source.counts.ready }, ready ? 200 : 503);
  });
  app.get('/metrics', (c) =>
    c.body(
      metrics.render({
        warm: source.counts,
        active: queue.admitted,
        waiting: queue.waiting,
        capacity: queue.maxConcurrent,
        containers: containers().length,
      }),
      200,
      { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
    ),
  );

  app.notFound((c) => c.json(describeError(new HostError('not_found', 'No such path')), HOST_ERROR_STATUS.not_found));
  app.onError((error, c) => {
    if (!(error instanceof HostError)) {
      log('error', 'sandbox.request.failed', { reason: error.message });
      return c.json(describeError(error), HOST_ERROR_STATUS.internal_error);
    }
    if (error.cause instanceof Error) log('warn', 'sandbox.request.refused', { code: error.code, reason: error.cause.message });
    if (error.retryAfterSeconds !== undefined) c.header('retry-after', String(error.retryAfterSeconds));
    return c.json(describeError(error), HOST_ERROR_STATUS[error.code]);
  });
  return app;
}
