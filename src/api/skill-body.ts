import * as z from 'zod';
import { RISKS, SKILL_KINDS, SKILL_MODES, SKILL_POLICIES, type Skill, SOURCE_PROVIDERS } from '../skills/skill.ts';
import { jsonObject } from './schemas.ts';

/** A skill as the API answers it. */
export const skillBody = z
  .strictObject({
    id: z.string(),
    apiKeyId: z.string().meta({ description: 'Its owner: the id of an API key, or `system`, whose skills every key sees' }),
    name: z.string(),
    version: z.string(),
    description: z.string(),
    schema: z.strictObject({ input: jsonObject, output: jsonObject }).meta({ description: 'JSON Schemas (2020-12)' }),
    handler: z.string().meta({ description: 'The name of what runs it; for `instructions` the text itself' }),
    kind: z.enum(SKILL_KINDS),
    enabled: z.boolean(),
    mode: z.enum(SKILL_MODES).meta({ description: 'Whether models are offered it: always, never, or when it scores for a request' }),
    policy: z
      .enum(SKILL_POLICIES)
      .meta({ description: 'Who may start it: the model, an explicit call, or the model with a person’s approval' }),
    sourceProvider: z.enum(SOURCE_PROVIDERS),
    sourceUrl: z.string().nullable(),
    contentSha256: z.string().nullable(),
    tags: z.array(z.string()),
    installCount: z.int(),
    timeoutMs: z.int().nullable().meta({ description: 'Null: the executor’s own' }),
    maxRetries: z.int().nullable().meta({ description: 'Null: the executor’s own' }),
    idempotent: z.boolean().meta({ description: 'Whether a call may be repeated when it failed half-way' }),
    riskFindings: z
      .array(z.strictObject({ risk: z.enum(RISKS), line: z.int(), text: z.string() }))
      .meta({ description: 'Passages that a person should read before a model follows them' }),
    createdAt: z.string(),
    updatedAt: z.string(),
  } satisfies Record<keyof Skill, z.ZodType>)
  .meta({ id: 'Skill' });
