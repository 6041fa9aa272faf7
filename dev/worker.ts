import { Miniflare, type MiniflareOptions } from 'miniflare';
import { bundleWorker, COMPATIBILITY_DATE, COMPATIBILITY_FLAGS } from './bundle-worker.ts';
import { HOST } from './stack/ports.ts';

export interface WorkerOptions {
  port: number;
  /** Variables of the worker. */
  variables: Record<string, string>;
  /** Requests that its rate limiter allows in a period; without it there is none. */
  rateLimit?: number | undefined;
  /** The worker's first module, instead of the gateway. */
  entry?: string;
  /** Called when workerd died; by then Miniflare has started another one. */
  onCrash(): void;
}

const planRateLimiter = (limit: number, period: string | undefined) => ({
  type: 'rate-limit' as const,
  namespace: 'omniroute-edge',
  simple: { limit, period: period === '60' ? (60 as const) : (10 as const) },
});

/** Refuses to connect to what is not public, whatever a name means by then. Miniflare lets the worker itself reach the machine's own servers. */
const PUBLIC_NETWORK = { type: 'network' as const, allow: ['public'], deny: [], tlsOptions: { trustBrowserCas: true } };

/** Runs a worker in workerd. Its scheduled handler is called by GET /cdn-cgi/local/scheduled. */
export async function startWorker({ port, variables, rateLimit, entry, onCrash }: WorkerOptions): Promise<Miniflare> {
  const texts = Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, { type: 'text' as const, value }]));
  const own = { ...texts, PUBLIC_NETWORK };
  const env = rateLimit === undefined ? own : { ...own, RATE_LIMITER: planRateLimiter(rateLimit, variables.RATE_LIMIT_PERIOD_SECONDS) };
  const { code, wasm } = await bundleWorker(entry);
  const wasmModules = Object.fromEntries(Object.entries(wasm).map(([name, contents]) => [name, { type: 'wasm' as const, contents }]));
  const options: MiniflareOptions = {
    host: HOST,
    port,
    cf: false,
    telemetry: { enabled: false },
    unsafeTriggerHandlers: true,
    unsafeHandleRuntimeRestart: onCrash,
    workers: [
      {
        config: {
          name: 'omniroute-edge',
          compatibilityDate: COMPATIBILITY_DATE,
          compatibilityFlags: COMPATIBILITY_FLAGS,
          manifest: { mainModule: 'index.js', modules: { 'index.js': { type: 'esm', contents: code }, ...wasmModules } },
          env,
        },
      },
    ],
  };
  const miniflare = new Miniflare(options);
  await miniflare.ready;
  return miniflare;
}

/** Started by the stack, with its variables as JSON in WORKER_VARIABLES, so that none of them is seen in a list of processes. */
async function main({ PORT, WORKER_VARIABLES = '{}', WORKER_ENTRY, RATE_LIMIT_REQUESTS }: NodeJS.ProcessEnv): Promise<void> {
  const miniflare = await startWorker({
    port: Number(PORT),
    variables: JSON.parse(WORKER_VARIABLES) as Record<string, string>,
    ...(RATE_LIMIT_REQUESTS ? { rateLimit: Number(RATE_LIMIT_REQUESTS) } : {}),
    ...(WORKER_ENTRY ? { entry: WORKER_ENTRY } : {}),
    onCrash() {
      console.error('workerd crashed');
      process.exit(1);
    },
  });
  const stop = async (): Promise<void> => {
    await miniflare.dispose();
    process.exit(0);
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
}

if (import.meta.main) {
  await main(process.env).catch((error: Error) => {
    console.error(error.message);
    process.exit(1);
  });
}
