import { AppError } from '../errors.ts';
import type { Handler } from '../handlers/define-handler.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { type SkillContext, SkillError } from '../skills/define.ts';
import { readAnswer } from './read-answer.ts';
import { signBody } from './sign-body.ts';
import type { Endpoint } from './webhook.ts';
import type { WebhookStore } from './webhook-store.ts';

export interface WebhookDependencies {
  webhooks: Pick<WebhookStore, 'findEndpoint'>;
  now(): Date;
  newId(): string;
}

async function findEndpoint(name: string, { webhooks }: WebhookDependencies): Promise<Endpoint> {
  const endpoint = await webhooks.findEndpoint(name).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'database_unavailable') throw error;
    throw new SkillError('The database cannot be reached', { beforeRun: true });
  });
  if (endpoint === undefined) throw new SkillError(`There is no handler named ${name} any more`);
  return endpoint;
}

/** The body of one delivery. Its id makes each one, and so its signature, unique: a receiver takes none twice, yet may be asked again. */
function deliveryOf(input: JsonValue, { skill, apiKeyId, sessionId, executionId }: SkillContext, deliveryId: string): string {
  return JSON.stringify({ skill: skill.name, version: skill.version, input, context: { apiKeyId, sessionId, executionId }, deliveryId });
}

/** The error without what an endpoint that quotes its own secret or address would let the model see. */
function withoutSecrets(error: unknown, { secret, url }: Endpoint): unknown {
  if (!(error instanceof SkillError)) return error;
  const { message, transient } = error;
  return new SkillError(message.replaceAll(secret, '[secret]').replaceAll(url, '[url]'), { transient });
}

/** The guard names a host that gives no answer, which is the operator's business alone. */
function withoutHost(error: unknown): unknown {
  return error instanceof SkillError && error.transient ? new SkillError('The webhook cannot be reached', { transient: true }) : error;
}

/** A handler whose work is done by the webhook of this name: one signed POST of `{skill, version, input, context, deliveryId}`. */
export function createWebhookHandler(name: string, dependencies: WebhookDependencies): Handler {
  async function deliver(endpoint: Endpoint, body: string, context: SkillContext, signal: AbortSignal): Promise<JsonObject> {
    const headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'omniroute-edge',
      'x-omniroute-signature': await signBody(body, endpoint.secret, dependencies.now()),
    };
    const response = await context.publicFetch(new URL(endpoint.url), { method: 'POST', headers, body, signal }).catch((error) => {
      throw withoutHost(error);
    });
    return readAnswer(response, { maxBytes: context.limits.maxHttpResponseBytes, signal });
  }

  return {
    name,
    async run(input, context) {
      const endpoint = await findEndpoint(name, dependencies);
      const timeout = AbortSignal.timeout(endpoint.timeoutMs);
      const signal = AbortSignal.any([context.signal, timeout]);
      try {
        return await deliver(endpoint, deliveryOf(input, context, dependencies.newId()), context, signal);
      } catch (error) {
        if (timeout.aborted && !context.signal.aborted) throw new SkillError(`The webhook timed out after ${endpoint.timeoutMs} ms`);
        throw withoutSecrets(error, endpoint);
      }
    },
  };
}
