import type { JsonObject } from '../json.ts';
import { VERSION } from '../version.ts';
import type { A2ASkill } from './a2a-skill.ts';

const ENDPOINT = '/a2a';
const DESCRIPTION =
  'An LLM gateway that gives models skills. As an agent it recommends a provider and model for a task from how similar requests went, and tells what it can do.';
const MODES = ['text/plain', 'application/json'];
const KEY_DESCRIPTION = 'An API key of the gateway, omr_…, with the scope read:skills';

const skillOf = ({ id, name, description, tags, examples }: A2ASkill): JsonObject => ({
  id,
  name,
  description,
  tags,
  examples,
  inputModes: MODES,
  outputModes: MODES,
});

const interfacesOf = (origin: string): JsonObject[] =>
  ['1.0', '0.3'].map((protocolVersion) => ({ url: `${origin}${ENDPOINT}`, protocolBinding: 'JSONRPC', protocolVersion }));

const commonOf = (origin: string, skills: readonly A2ASkill[]): JsonObject => ({
  name: 'OmniRoute Edge',
  description: DESCRIPTION,
  version: VERSION,
  documentationUrl: `${origin}/docs`,
  defaultInputModes: MODES,
  defaultOutputModes: MODES,
  skills: skills.map(skillOf),
  supportedInterfaces: interfacesOf(origin),
});

/** The card of revision 1.0. https://a2a-protocol.org/v1.0.0/specification/#441-agentcard */
export const agentCardV10 = (origin: string, skills: readonly A2ASkill[]): JsonObject => ({
  ...commonOf(origin, skills),
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
  securitySchemes: {
    bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', description: KEY_DESCRIPTION } },
    apiKey: { apiKeySecurityScheme: { location: 'header', name: 'x-api-key', description: KEY_DESCRIPTION } },
  },
  securityRequirements: [{ schemes: { bearer: { list: [] } } }, { schemes: { apiKey: { list: [] } } }],
});

/**
 * The card of revision 0.3, which those get who name none, as clients of that revision do not. It also names the interface of 1.0, as that
 * revision does. https://a2a-protocol.org/v0.3.0/specification/#55-agentcard-object-structure
 */
export const agentCardV03 = (origin: string, skills: readonly A2ASkill[]): JsonObject => ({
  ...commonOf(origin, skills),
  protocolVersion: '0.3.0',
  url: `${origin}${ENDPOINT}`,
  preferredTransport: 'JSONRPC',
  capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false },
  supportsAuthenticatedExtendedCard: false,
  securitySchemes: {
    bearer: { type: 'http', scheme: 'bearer', description: KEY_DESCRIPTION },
    apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: KEY_DESCRIPTION },
  },
  security: [{ bearer: [] }, { apiKey: [] }],
});
