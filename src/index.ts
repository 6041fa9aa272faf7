import type { ExecutionContext } from 'hono';
import { createApp } from './app.ts';
import { type Config, readConfig } from './env.ts';
import { AppError } from './errors.ts';
import { createLogger, type Logger } from './logger.ts';
import { createServices, type Services } from './services.ts';

type Bindings = Record<string, unknown>;

interface Gateway {
  fetch(request: Request, bindings: Bindings, context: ExecutionContext): Response | Promise<Response>;
  maintain: Services['maintain'];
}

const log = createLogger((line) => console.log(line));

function createGateway(config: Config): Gateway {
  const services = createServices(config, {
    fetch: (input: RequestInfo | URL, init?: RequestInit) => fetch(input, init),
    now: () => Date.now(),
    newId: () => crypto.randomUUID(),
    random: () => Math.random(),
    log,
    loadQuickJs: async () => (await import('./quickjs/generated/quickjs.wasm')).default,
  });
  const app = createApp(services);
  return { fetch: (request, bindings, context) => app.fetch(request, bindings, context), maintain: services.maintain };
}

/** Stands in for a gateway that cannot be configured, and says to everybody why. */
function createRefusal(error: Error, log: Logger): Gateway {
  const { status, code, message } = new AppError('bad_configuration', error.message);
  return {
    fetch() {
      log.error('configuration.bad', { error: message });
      return Response.json({ error: message, code }, { status });
    },
    maintain: () => Promise.reject(error),
  };
}

function openGateway(bindings: Bindings): Gateway {
  try {
    return createGateway(readConfig(bindings));
  } catch (error) {
    return createRefusal(error as Error, log);
  }
}

/** One per isolate: its caches, and what it knows of sandbox-hosts, outlive a request. */
let gateway: Gateway | undefined;

function gatewayFor(bindings: Bindings): Gateway {
  gateway ??= openGateway(bindings);
  return gateway;
}

export default {
  fetch: (request: Request, bindings: Bindings, context: ExecutionContext) => gatewayFor(bindings).fetch(request, bindings, context),

  async scheduled(_event: unknown, bindings: Bindings): Promise<void> {
    try {
      await gatewayFor(bindings).maintain();
    } catch (error) {
      log.error('skills.maintenance.failed', { error });
    }
  },
};
